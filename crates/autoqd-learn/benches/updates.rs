//! How fast SAC and TD3 update their networks, beside the matrix products that an update consists of.
//!
//! `cargo bench -p autoqd-learn --bench updates` prints, for networks of 128-128 and 256-256 units, batches of 256 and the
//! sizes of Ant without contact forces, the least time of an update, the time that its products alone would take at the
//! rate of this machine's own product, and their ratio; on one thread and on two. All in one process, one after the other.

use autoqd_learn::bench::{Sizes, least};

fn main() {
    for width in [128, 256] {
        let sizes = Sizes { observation: 27, action: 8, hidden: vec![width; 2], batch: 256 };
        let rate = sizes.product_rate();
        println!("{width}-{width}: product {:.0} GFLOP/s", rate * 1e-9);
        let td3 = || sizes.td3().expect("its sizes");
        let improvement = || sizes.improvement().expect("its sizes");
        let (sac_work, td3_work, pg_work) =
            (sizes.sac_operations(), sizes.td3_operations() / 2.0, sizes.improvement_operations());
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let show = |name: &str, seconds: f64, work: f64| {
                let bound = work / rate;
                println!(
                    "  {name:22} {threads} thread(s): {:8.0} us, products {:8.0} us ({:.0} MFLOP), {:.2} of the bound",
                    seconds * 1e6,
                    bound * 1e6,
                    work * 1e-6,
                    bound / seconds
                );
            };
            pool.install(|| {
                let mut work = sizes.sac();
                show("SAC update", least(300, &mut work), sac_work);
                let mut work = td3();
                show("TD3 update", least(200, &mut work) / 2.0, td3_work);
                let mut work = improvement();
                show("PG candidate, 10 steps", least(50, &mut work), pg_work);
            });
        }
    }
}
