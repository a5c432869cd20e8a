//! A step allocates nothing.

use autoqd_env::{Action, Perturbation, Seed, load_task, task_names};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_step_of_any_task_allocates() {
    for name in task_names() {
        let task = load_task(name, &Perturbation::default()).unwrap();
        let mut world = task.make().unwrap();
        let mut observation = vec![0.0; task.spec().observation_size];
        let action = vec![0.3_f32; task.spec().action_size];
        world.reset(Some(&Seed::from(3_u64)), &mut observation).unwrap();
        let before = COUNT.with(Cell::get);
        for _ in 0..task.spec().max_episode_steps {
            if world.step(Action::F32(&action), &mut observation).unwrap().done() {
                break;
            }
        }
        assert_eq!(COUNT.with(Cell::get) - before, 0, "{name}");
    }
}
