//! Step 3 of Appendix C: each axis scaled so that most embeddings lie within -1 and 1.

use super::affine::{AffineMap, dot};
use super::{CwPcaOptions, decompose::Axes};

/// The quantile of sorted numbers by linear interpolation between neighbours, as numpy has it; NaN for none.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = q * last as f64;
    let below = (position.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

/// Puts the map together from its axes. Flat axes go last.
pub(super) fn calibrate<R: AsRef<[f64]>>(
    embeddings: &[R],
    mean: Vec<f64>,
    axes: Axes,
    options: &CwPcaOptions,
) -> AffineMap {
    let (k, dimension) = (axes.variance.len(), mean.len());
    let mut map = AffineMap {
        measures: k,
        dimension,
        a: vec![0.0; k * dimension],
        b: vec![0.0; k],
        mean,
        components: vec![0.0; k * dimension],
        scale: vec![0.0; k],
        offset: vec![0.0; k],
        variance: vec![0.0; k],
        total_variance: axes.total_variance,
    };
    let mut next = 0;
    for (component, variance) in axes.components.iter().zip(&axes.variance) {
        if let Some((low, high)) = bounds(embeddings, component, &map.mean, options) {
            set_axis(&mut map, next, component, low, high);
            map.variance[next] = *variance;
            next += 1;
        }
    }
    map
}

impl AffineMap {
    /// Scales every axis again, without turning it, so that most of each group of embeddings lie within -1 and 1.
    pub fn rescale<R: AsRef<[f64]>>(&mut self, groups: &[&[R]], options: &CwPcaOptions) {
        for axis in 0..self.measures {
            let component = self.component(axis).to_vec();
            let ranges = groups.iter().filter_map(|group| bounds(group, &component, &self.mean, options));
            let joined = ranges.reduce(|(a, b), (low, high)| (a.min(low), b.max(high)));
            if let Some((low, high)) = joined.filter(|_| !self.is_flat(axis)) {
                set_axis(self, axis, &component, low, high);
            }
        }
    }
}

/// The projections that become -1 and 1; none for a flat axis.
fn bounds<R: AsRef<[f64]>>(
    embeddings: &[R],
    component: &[f64],
    mean: &[f64],
    options: &CwPcaOptions,
) -> Option<(f64, f64)> {
    let project = |row: &R| {
        let terms = row.as_ref().iter().zip(mean).zip(component);
        terms.fold(0.0, |sum, ((x, mean), p)| sum + (x - mean) * p)
    };
    let mut projections: Vec<f64> = embeddings.iter().map(project).collect();
    projections.sort_by(f64::total_cmp);
    let quantiles = [options.low_quantile, options.high_quantile].map(|q| quantile(&projections, q));
    let extremes = [0.0, 1.0].map(|q| quantile(&projections, q));
    [quantiles, extremes].into_iter().find(|[l, h]| h - l > options.flat_range).map(|[l, h]| (l, h))
}

fn set_axis(map: &mut AffineMap, axis: usize, component: &[f64], low: f64, high: f64) {
    let scale = 2.0 / (high - low);
    let row = axis * map.dimension..(axis + 1) * map.dimension;
    map.components[row.clone()].copy_from_slice(component);
    map.scale[axis] = scale;
    map.offset[axis] = -1.0 - scale * low;
    map.a[row.clone()].iter_mut().zip(component).for_each(|(a, p)| *a = scale * p);
    map.b[axis] = map.offset[axis] - dot(&map.a[row], &map.mean);
}
