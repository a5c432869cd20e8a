//! Curves over a parameter of the task: area, and how many policies succeed.

/// Area under a curve and the width of its range.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Area {
    /// Trapezoid rule over the points, negative values kept.
    pub auc: f64,
    /// Last minus first position.
    pub width: f64,
    /// Area per width: the mean height, comparable between ranges. `None` for a range of width zero.
    pub per_width: Option<f64>,
}

/// The area under the curve through `(x, y)` points in ascending order of x; `None` without points.
///
/// ```
/// let area = autoqd_measure::area_under(&[(0.5, 10.0), (1.0, 20.0), (2.0, 0.0)]).unwrap();
/// assert_eq!(area.auc, 7.5 + 10.0);
/// assert_eq!(area.width, 1.5);
/// ```
pub fn area_under(points: &[(f64, f64)]) -> Option<Area> {
    let width = points.last()?.0 - points.first()?.0;
    let auc = points.windows(2).map(|p| (p[1].0 - p[0].0) * (p[0].1 + p[1].1) / 2.0).sum();
    Some(Area { auc, width, per_width: (width > 0.0).then_some(auc / width) })
}

/// Number of policies whose mean return is at least p R, with R the best mean return of any policy in the unaltered
/// task. `None` unless R is positive: a share of a negative return means nothing.
pub fn success_count(mean_returns: &[f64], best_unaltered: f64, p: f64) -> Option<usize> {
    let threshold = success_threshold(best_unaltered, p)?;
    Some(mean_returns.iter().filter(|&&value| value >= threshold).count())
}

/// The return p R that counts as success; `None` unless R is positive.
pub fn success_threshold(best_unaltered: f64, p: f64) -> Option<f64> {
    (best_unaltered > 0.0).then_some(p * best_unaltered)
}
