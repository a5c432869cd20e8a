//! Worlds leave out the callback with which libmujoco times its steps, and put it back. Alone in its process, because the
//! callback is one for all.
#![cfg(feature = "mujoco")]

use std::sync::atomic::{AtomicUsize, Ordering};

use autoqd_env::{Action, Environment, Perturbation, Seed, load_task};
use mujoco_rs::mujoco_c::mjcb_time;
use mujoco_rs::prelude::{MjData, MjModel};

static ASKED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn count() -> f64 {
    ASKED.fetch_add(1, Ordering::Relaxed);
    0.0
}

fn callback_is_set() -> bool {
    // SAFETY: no other thread runs when this is called.
    unsafe { std::ptr::addr_of!(mjcb_time).read() }.is_some()
}

fn steps(world: &mut dyn Environment, count: usize) {
    let mut observation = vec![0.0; world.spec().observation_size];
    world.reset(Some(&Seed::from(0_u64)), &mut observation).unwrap();
    let action = vec![0.0; world.spec().action_size];
    for _ in 0..count {
        world.step(Action::F64(&action), &mut observation).unwrap();
    }
}

#[test]
fn a_step_does_not_take_the_time_and_the_callback_stays() {
    let task = load_task("half-cheetah", &Perturbation::default()).unwrap();
    let mut worlds: Vec<_> = (0..4).map(|_| task.make().unwrap()).collect();
    steps(worlds[0].as_mut(), 3);
    assert!(!callback_is_set(), "nothing is put where nothing was");

    // SAFETY: no other thread runs.
    unsafe { mjcb_time = Some(count) };
    std::thread::scope(|scope| {
        for world in &mut worlds {
            scope.spawn(|| steps(world.as_mut(), 300));
        }
    });
    assert!(callback_is_set());
    // One that comes just while another goes may be timed, but not all of 1200 steps of five dozen questions or more.
    let overlapping = ASKED.swap(0, Ordering::Relaxed);
    assert!(overlapping < 12_000, "{overlapping}");
    steps(worlds[0].as_mut(), 300);
    assert_eq!(ASKED.load(Ordering::Relaxed), 0);
    assert!(callback_is_set());

    let ball = "<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>";
    let model = MjModel::from_xml_string(ball).unwrap();
    let mut data = MjData::new(&model);
    data.step();
    assert!(ASKED.load(Ordering::Relaxed) > 0, "steps of others are timed as before");
}
