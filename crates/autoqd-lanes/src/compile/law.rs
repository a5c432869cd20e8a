//! How a constraint responds: impedance, stiffness and damping from `solref` and `solimp`.

use crate::LanesError;
use crate::model::{Options, Softness};

/// Smallest and largest impedance.
const IMPEDANCE_RANGE: (f64, f64) = (0.0001, 0.9999);
/// What MuJoCo divides by at least.
pub(crate) const TINY: f64 = 1e-15;

/// Impedance as a function of the distance from the margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impedance {
    pub(crate) start: f64,
    pub(crate) rise: f64,
    /// One over the width; absent if the impedance is constant.
    pub(crate) inverse_width: Option<f64>,
    pub(crate) midpoint: f64,
    pub(crate) power: f64,
    /// Factors of the two branches of the sigmoid.
    pub(crate) below: f64,
    pub(crate) above: f64,
}

/// Reference acceleration and impedance of a constraint: aref = -damping J v - stiffness impedance distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    pub(crate) impedance: Impedance,
}

impl Law {
    pub(crate) fn new(softness: &Softness, options: &Options) -> Result<Self, LanesError> {
        let [time, ratio] = softness.reference;
        if (time > 0.0) != (ratio > 0.0) {
            return Err(LanesError::Unsupported { what: format!("solref ({time}, {ratio}) of mixed signs") });
        }
        let impedance = impedance(softness.impedance);
        let end = softness.impedance[1].clamp(IMPEDANCE_RANGE.0, IMPEDANCE_RANGE.1);
        let (stiffness, damping) = if time > 0.0 {
            // A time constant under two steps would be unstable.
            let time = time.max(2.0 * options.timestep);
            (1.0 / (end * end * time * time * ratio * ratio).max(TINY), 2.0 / (end * time).max(TINY))
        } else {
            (-time / (end * end).max(TINY), -ratio / end.max(TINY))
        };
        Ok(Self { stiffness, damping, impedance })
    }
}

fn impedance(solimp: [f64; 5]) -> Impedance {
    let bounded = |x: f64| x.clamp(IMPEDANCE_RANGE.0, IMPEDANCE_RANGE.1);
    let (start, end, midpoint) = (bounded(solimp[0]), bounded(solimp[1]), bounded(solimp[3]));
    let (width, power) = (solimp[2].max(0.0), solimp[4].max(1.0));
    let constant = start == end || width <= TINY;
    Impedance {
        start: if constant { 0.5 * (start + end) } else { start },
        rise: end - start,
        inverse_width: (!constant).then_some(1.0 / width),
        midpoint,
        power,
        below: 1.0 / midpoint.powf(power - 1.0),
        above: 1.0 / (1.0 - midpoint).powf(power - 1.0),
    }
}
