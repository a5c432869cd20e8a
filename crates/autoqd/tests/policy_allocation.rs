//! Nothing in the step loop allocates memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use autoqd::embedding::{
    Embedding, FeatureMap, FeatureOptions, Normalizer, PsiAccumulator, PsiOptions, RunningStatistics,
};
use autoqd::policy::{Activation, FilterSpec, Policy, PolicySpec, Weights};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test alone in its program: others would allocate at the same time.
#[test]
fn an_episode_allocates_nothing() {
    let mut policies: Vec<(Policy, Vec<f64>)> = Vec::new();
    for kind in [Weights::Toeplitz, Weights::Dense] {
        let spec = PolicySpec::new(kind, vec![128, 128], 17, vec![-1.0; 6], vec![1.0; 6]).unwrap();
        let other =
            spec.clone().with_activation(Activation::Relu).with_filter(FilterSpec { clip: Some(5.0) });
        for spec in [spec, other] {
            policies.push((Policy::zeroed(&spec), vec![0.01; spec.parameter_count()]));
        }
    }
    let map = Arc::new(FeatureMap::sample(&FeatureOptions::default(), 23, 1).unwrap());
    let embedding = Embedding::new(map, Normalizer::identity(17), PsiOptions::default()).unwrap();
    let mut accumulator = PsiAccumulator::new(Arc::new(embedding));
    let mut statistics = RunningStatistics::new(17);
    let (observation, mut action, mut psi) = ([0.3; 17], [0.0; 6], [0.0; 100]);

    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for (policy, parameters) in &mut policies {
        policy.load(parameters).unwrap();
        accumulator.begin();
        for _ in 0..50 {
            policy.act(&observation, &mut action);
            statistics.push(&observation);
            accumulator.push(&observation, &action);
        }
        accumulator.finish_into(&mut psi);
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before);
    assert!(psi.iter().any(|x| *x != 0.0));
}
