//! The trade-off between quality and diversity, as the paper draws it.

use crate::evaluation::sets_scale;

/// A method in one task: mean objective and Vendi score, each scaled to [0, 1] over the methods of the task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradeOff {
    /// Scaled mean objective.
    pub quality: f64,
    /// Scaled Vendi score.
    pub diversity: f64,
}

impl TradeOff {
    /// Whether the point lies above the line along which quality lost equals diversity gained: from the best
    /// method without diversity to the most diverse one without quality.
    ///
    /// This line, and not quality = diversity, gives the paper's own counts from its own table.
    pub fn above_diagonal(self) -> bool {
        self.quality + self.diversity > 1.0
    }
}

/// The methods of one task, each given by name, mean objective and Vendi score where it was measured.
///
/// None for a method that was not measured, for PGA-ME, which the paper leaves out of this comparison, and for all
/// where the methods do not differ.
///
/// ```
/// let methods = [("autoqd", Some((10.0, 3.0))), ("regular", Some((12.0, 1.0))), ("aurora", None)];
/// let points = autoqd_measure::trade_off(&methods);
/// assert_eq!((points[0].unwrap().quality, points[0].unwrap().diversity), (0.0, 1.0));
/// assert!(points[2].is_none());
/// ```
pub fn trade_off(methods: &[(&str, Option<(f64, f64)>)]) -> Vec<Option<TradeOff>> {
    let pairs: Vec<Option<(f64, f64)>> =
        methods.iter().map(|(name, pair)| pair.filter(|_| sets_scale(name))).collect();
    let range = |number: fn(&(f64, f64)) -> f64| {
        let values = || pairs.iter().flatten().map(number);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        move |value: f64| (high > low).then(|| (value - low) / (high - low))
    };
    let (quality, diversity) = (range(|pair| pair.0), range(|pair| pair.1));
    let point = |pair: &Option<(f64, f64)>| {
        let (q, d) = (*pair)?;
        Some(TradeOff { quality: quality(q)?, diversity: diversity(d)? })
    };
    pairs.iter().map(point).collect()
}
