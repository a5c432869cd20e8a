//! How fast SAC and TD3 update their networks, beside the matrix products that an update consists of.
//!
//! `cargo bench -p autoqd-learn --bench updates` prints, for networks of 128-128 and 256-256 units, batches of 256 and the
//! sizes of Ant without contact forces, the least time of an update, the time that its products alone would take at the
//! rate of this machine's own product, and their ratio; on one thread and on two. A candidate of the policy-gradient
//! emitter is laid beside its very products too, which are slower where matrices are thin. Everything takes turns in one
//! process, so that what else the machine does hits all alike.

use autoqd_learn::bench::{Sizes, least_of};

fn main() {
    let pools = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads"));
    for width in [128, 256] {
        let sizes = Sizes { observation: 27, action: 8, hidden: vec![width; 2], batch: 256 };
        let on = |pool: usize, mut work: Box<dyn FnMut() + Send>| -> Box<dyn FnMut()> {
            let pool = &pools[pool];
            Box::new(move || pool.install(&mut work))
        };
        let td3 = || Box::new(sizes.td3().expect("its sizes"));
        let mut works = [
            on(0, Box::new(sizes.products())),
            on(0, Box::new(sizes.sac())),
            on(1, Box::new(sizes.sac())),
            on(0, td3()),
            on(1, td3()),
            on(0, Box::new(sizes.improvement().expect("its sizes"))),
            on(0, Box::new(sizes.improvement_products())),
        ];
        let [products, sac, sac_2, td3, td3_2, candidate, of_candidate] = least_of(400, &mut works);
        let rate = sizes.products_operations() / products;
        println!("{width}-{width}: product {:.0} GFLOP/s", rate * 1e-9);
        let show = |name: &str, seconds: f64, work: f64| {
            let bound = work / rate;
            println!(
                "  {name:22} {:8.0} us, products {:8.0} us ({:.0} MFLOP), {:.2} of the bound",
                seconds * 1e6,
                bound * 1e6,
                work * 1e-6,
                bound / seconds
            );
        };
        show("SAC update", sac, sizes.sac_operations());
        show("TD3 update", td3 / 2.0, sizes.td3_operations() / 2.0);
        show("PG candidate, 10 steps", candidate, sizes.improvement_operations());
        println!("  two threads: SAC {:.2} x, TD3 {:.2} x of one", sac / sac_2, td3 / td3_2);
        println!("  PG candidate {:.2} x its own products", candidate / of_candidate);
    }
}
