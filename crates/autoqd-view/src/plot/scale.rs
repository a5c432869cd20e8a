//! Axes: from data to pixels, and where the ticks go.

/// How an axis maps numbers to places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By decimal logarithm; for positive numbers.
    Log,
}

/// One axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Label along the axis.
    pub label: String,
    /// Smallest and largest number shown.
    pub range: (f64, f64),
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Fixed ticks (place, label); `None` chooses round numbers.
    pub ticks: Option<Vec<(f64, String)>>,
    /// Whether ticks draw a grid line.
    pub grid: bool,
    /// Whether ticks are whole numbers only, for what is counted.
    pub whole: bool,
}

impl Axis {
    /// A linear axis over exactly this range.
    pub fn linear(label: impl Into<String>, range: (f64, f64)) -> Self {
        let (label, range) = (label.into(), widen(range));
        Self { label, range, scale: Scale::Linear, ticks: None, grid: true, whole: false }
    }

    /// A linear axis that holds all the numbers with a little room.
    pub fn fit(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values);
        let room = 0.04 * (high - low);
        Self::linear(label, (low - room, high + room))
    }

    /// A logarithmic axis that holds all the positive numbers, from power to power.
    pub fn log(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values.into_iter().filter(|v| *v > 0.0));
        let low = libm::pow(10.0, libm::log10(low.max(1e-300)).floor());
        let high = libm::pow(10.0, libm::log10(high.max(1e-300)).ceil());
        let range = if low < high { (low, high) } else { (low, 10.0 * low) };
        Self { label: label.into(), range, scale: Scale::Log, ticks: None, grid: true, whole: false }
    }

    /// One place per name, at 0, 1, 2, ...
    pub fn named(label: impl Into<String>, names: &[String]) -> Self {
        let ticks = names.iter().enumerate().map(|(i, name)| (i as f64, name.clone())).collect();
        let range = (-0.5, names.len().max(1) as f64 - 0.5);
        let label = label.into();
        Self { label, range, scale: Scale::Linear, ticks: Some(ticks), grid: false, whole: false }
    }

    /// Place of a number: 0 at the low end, 1 at the high end.
    pub fn place(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => {
                let (low, high) = (libm::log10(low), libm::log10(high));
                (libm::log10(value.max(1e-300)) - low) / (high - low)
            }
        }
    }

    /// The ticks to draw.
    pub fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        match (&self.ticks, self.scale) {
            (Some(ticks), _) => ticks.clone(),
            (None, Scale::Linear) => linear_ticks(self.range, wanted, self.whole),
            (None, Scale::Log) => log_ticks(self.range, wanted),
        }
    }
}

/// Smallest and largest finite number; (0, 1) if there is none.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// The range itself, or one around it if it has no width.
fn widen((low, high): (f64, f64)) -> (f64, f64) {
    if !low.is_finite() || !high.is_finite() {
        (0.0, 1.0)
    } else if high - low > 1e-12 * low.abs().max(high.abs()) {
        (low, high)
    } else {
        let room = (0.5 * low.abs()).max(0.5);
        (low - room, low + room)
    }
}

fn linear_ticks((low, high): (f64, f64), wanted: usize, whole: bool) -> Vec<(f64, String)> {
    let least = if whole { 1.0 } else { 0.0 };
    let mut step = round_step((high - low) / wanted.max(1) as f64).max(least);
    // A round step can leave one or two ticks, of which nobody reads a scale: then a smaller one.
    let count = |step: f64| (high / step + 1e-9).floor() - (low / step - 1e-9).ceil() + 1.0;
    while count(step) < wanted.min(3) as f64 && step > least {
        step = round_step(0.4 * step).max(least);
    }
    let decimals = (-libm::log10(step).floor()).max(0.0) as usize;
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).take(100).map(|i| (i as f64 * step, tick_label(i as f64 * step, decimals))).collect()
}

/// The least of 1, 2, 2.5, 5, 10 times a power of ten that is not under `least`.
fn round_step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(least.max(1e-300)).floor());
    [1.0, 2.0, 5.0].into_iter().map(|m| m * power).find(|s| *s >= least * 0.999).unwrap_or(10.0 * power)
}

fn tick_label(value: f64, decimals: usize) -> String {
    let size = value.abs();
    let text = if size >= 1e9 || (size > 0.0 && size < 1e-4) {
        format!("{value:.1e}")
    } else if size >= 1e6 {
        format!("{}M", crate::plot::svg::number(value / 1e6))
    } else if size >= 1e4 && decimals == 0 {
        format!("{}k", crate::plot::svg::number(value / 1000.0))
    } else {
        format!("{value:.decimals$}")
    };
    text.replace('-', "\u{2212}")
}

fn log_ticks((low, high): (f64, f64), wanted: usize) -> Vec<(f64, String)> {
    let (first, last) = (libm::log10(low).round() as i32, libm::log10(high).round() as i32);
    let every = ((last - first) as usize).div_ceil(wanted.max(1)).max(1);
    (first..=last).step_by(every).map(|e| (libm::pow(10.0, f64::from(e)), power_label(e))).collect()
}

/// Plain decimals near 1, else powers of ten.
fn power_label(exponent: i32) -> String {
    match exponent {
        0..=4 => format!("1{}", "0".repeat(exponent as usize)),
        -3..=-1 => format!("0.{}1", "0".repeat(-exponent as usize - 1)),
        _ => format!("1e{exponent}").replace('-', "\u{2212}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, wanted: usize) -> Vec<String> {
        axis.ticks(wanted).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::linear("", (0.0, 1.0)), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::linear("", (-130.0, 310.0)), 4), ["\u{2212}100", "0", "100", "200", "300"]);
        assert_eq!(labels(&Axis::linear("", (0.0, 40000.0)), 4), ["0", "10k", "20k", "30k", "40k"]);
        assert_eq!(labels(&Axis::linear("", (0.0, 1.6e6)), 4), ["0", "500k", "1M", "1.5M"]);
        let counted = Axis { whole: true, ..Axis::linear("", (0.5, 2.5)) };
        assert_eq!(labels(&counted, 6), ["1", "2"]);
        assert_eq!(labels(&Axis::log("", [0.002, 30.0]), 9), ["0.001", "0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn odd_data_still_make_an_axis() {
        for axis in [
            Axis::fit("", []),
            Axis::fit("", [f64::NAN, f64::INFINITY]),
            Axis::fit("", [3.0]),
            Axis::log("", []),
            Axis::log("", [1.0]),
            Axis::linear("", (1e18, 1e18)),
        ] {
            assert!(axis.range.0 < axis.range.1, "{axis:?}");
            assert!(axis.place(axis.range.0).abs() < 1e-9 && (axis.place(axis.range.1) - 1.0).abs() < 1e-9);
            assert!(axis.ticks(5).len() < 30);
        }
    }
}
