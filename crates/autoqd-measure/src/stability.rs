//! How much a descriptor varies between rollouts of the same policy (the paper's appendix on stability).

use autoqd_statistics::{mean, sample_variance};

/// Descriptors of one function: policies x rollouts x dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutDescriptors {
    /// Values, policy by policy, rollout by rollout.
    pub values: Vec<f64>,
    /// Rollouts per policy.
    pub rollouts: usize,
    /// Numbers per descriptor.
    pub dimension: usize,
}

/// Stability of one descriptor function.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stability {
    /// Per policy, the variance over its rollouts, mean over the dimensions, after scaling each dimension to [0, 1] over
    /// all policies and rollouts. `None` for a policy with a rollout that is not finite.
    pub variances: Vec<Option<f64>>,
    /// Share of the variance that is noise within policies (one minus the intraclass correlation), mean over the
    /// dimensions that vary. Free of scale, so one outlier cannot change it much. `None` if nothing varies.
    pub noise_share: Option<f64>,
}

/// Scales, then measures the spread of every policy's rollouts.
///
/// ```
/// use autoqd_measure::{RolloutDescriptors, stability};
/// // Two policies of two rollouts each, one dimension.
/// let seen = RolloutDescriptors { values: vec![0.0, 2.0, 10.0, 10.0], rollouts: 2, dimension: 1 };
/// let found = stability(&seen);
/// assert!((found.variances[0].unwrap() - 0.02).abs() < 1e-15);
/// assert_eq!(found.variances[1], Some(0.0));
/// ```
pub fn stability(seen: &RolloutDescriptors) -> Stability {
    let per_policy = seen.rollouts * seen.dimension;
    let policies: Vec<&[f64]> = seen.values.chunks(per_policy.max(1)).collect();
    let finite: Vec<bool> = policies.iter().map(|p| p.iter().all(|x| x.is_finite())).collect();
    let mut variances: Vec<Option<f64>> = finite.iter().map(|&ok| ok.then_some(0.0)).collect();
    let mut shares = Vec::new();
    for dimension in 0..seen.dimension {
        let columns = scaled_columns(&policies, &finite, seen.dimension, dimension);
        for (total, column) in variances.iter_mut().flatten().zip(&columns) {
            *total += sample_variance(column).unwrap_or(0.0) / seen.dimension as f64;
        }
        shares.extend(noise_share(&columns));
    }
    Stability { variances, noise_share: mean(&shares) }
}

/// One dimension of every finite policy, scaled to [0, 1] over all of them; a constant dimension becomes zero.
fn scaled_columns(policies: &[&[f64]], finite: &[bool], width: usize, dimension: usize) -> Vec<Vec<f64>> {
    let column =
        |policy: &&[f64]| policy.iter().skip(dimension).step_by(width).copied().collect::<Vec<f64>>();
    let mut columns: Vec<Vec<f64>> =
        policies.iter().zip(finite).filter(|(_, ok)| **ok).map(|(policy, _)| column(policy)).collect();
    let low = columns.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let high = columns.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = high - low;
    for x in columns.iter_mut().flatten() {
        *x = if span > 0.0 { (*x - low) / span } else { 0.0 };
    }
    columns
}

/// sigma_w^2 / (sigma_w^2 + sigma_b^2) by one-way analysis of variance; `None` if there is no variance at all.
fn noise_share(columns: &[Vec<f64>]) -> Option<f64> {
    let rollouts = columns.first()?.len() as f64;
    let means: Vec<f64> = columns.iter().filter_map(|c| mean(c)).collect();
    let within = mean(&columns.iter().map(|c| sample_variance(c)).collect::<Option<Vec<f64>>>()?)?;
    let between = (sample_variance(&means)? - within / rollouts).max(0.0);
    (within + between > 0.0).then(|| within / (within + between))
}
