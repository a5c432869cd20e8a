//! Ranges of changes to a task's physics, as `friction=0.5:7.5:0.5`.

use std::fmt;
use std::str::FromStr;

use autoqd_env::Perturbation;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;

/// What is changed in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// Friction coefficient of the ground (BipedalWalker).
    Friction,
    /// Factor on all frictions.
    FrictionScale,
    /// Factor on all masses.
    MassScale,
    /// Factor on all forces of actuators (MuJoCo).
    MotorScale,
    /// Factor on all damping (MuJoCo).
    DampingScale,
    /// Factor on gravity (MuJoCo).
    GravityScale,
}

/// Every knob with its name.
const KNOBS: [(Knob, &str); 6] = [
    (Knob::Friction, "friction"),
    (Knob::FrictionScale, "friction-scale"),
    (Knob::MassScale, "mass-scale"),
    (Knob::MotorScale, "motor-scale"),
    (Knob::DampingScale, "damping-scale"),
    (Knob::GravityScale, "gravity-scale"),
];

impl Knob {
    /// The perturbation of a run with this knob at `value`.
    pub fn turn(self, base: &Perturbation, value: f64) -> Perturbation {
        let mut changed = *base;
        match self {
            Knob::Friction => changed.friction = Some(value),
            Knob::FrictionScale => changed.friction_scale = value,
            Knob::MassScale => changed.mass_scale = value,
            Knob::MotorScale => changed.motor_scale = value,
            Knob::DampingScale => changed.damping_scale = value,
            Knob::GravityScale => changed.gravity_scale = value,
        }
        changed
    }
}

impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KNOBS.iter().find(|(knob, _)| knob == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

/// A knob and the values it is set to, ascending.
///
/// ```
/// let vary: autoqd_measure::Vary = "mass-scale=0.5:2.0:0.5".parse()?;
/// assert_eq!(vary.values, [0.5, 1.0, 1.5, 2.0]);
/// # Ok::<(), autoqd_measure::MeasureError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vary {
    /// What is changed.
    pub knob: Knob,
    /// To what.
    pub values: Vec<f64>,
}

impl Vary {
    /// The name of one setting.
    pub fn name(&self, value: f64) -> String {
        format!("{}={value}", self.knob)
    }
}

/// Largest number of settings of one range.
const MOST_VALUES: usize = 1000;

impl FromStr for Vary {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let wrong = || {
            MeasureError::setting(
                "setting",
                text,
                "write KNOB=FIRST:LAST:STEP or KNOB=VALUE,VALUE,... with KNOB \
             one of friction, friction-scale, mass-scale, motor-scale, damping-scale, gravity-scale",
            )
        };
        let (knob, range) = text.split_once('=').ok_or_else(wrong)?;
        let found = KNOBS.iter().find(|(_, name)| *name == knob.trim());
        let knob = found.map(|(knob, _)| *knob).ok_or_else(wrong)?;
        let mut values = values(range).ok_or_else(wrong)?;
        values.sort_by(f64::total_cmp);
        values.dedup();
        Ok(Self { knob, values })
    }
}

fn values(range: &str) -> Option<Vec<f64>> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    let parts: Vec<&str> = range.split(':').collect();
    let [first, last, step] = match parts.as_slice() {
        [first, last, step] => [number(first)?, number(last)?, number(step)?],
        [list] => return list.split(',').map(number).collect(),
        _ => return None,
    };
    let count = ((last - first) / step + 1e-9).floor();
    if !(step > 0.0 && count >= 0.0 && count < MOST_VALUES as f64) {
        return None;
    }
    // Rounded, so that 0.5 + 3 * 0.1 is 0.8 and the same setting has the same name in every range.
    Some((0..=count as usize).map(|i| ((first + i as f64 * step) * 1e9).round() / 1e9).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_of_the_adaptation_study() {
        let friction: Vary = "friction=0.5:7.5:0.5".parse().unwrap();
        assert_eq!((friction.values.len(), friction.values[0], friction.values[14]), (15, 0.5, 7.5));
        let mass: Vary = "mass-scale=0.5:2.0:0.1".parse().unwrap();
        assert_eq!((mass.values.len(), mass.values[3], mass.values[15]), (16, 0.8, 2.0));
        let list: Vary = "friction-scale=2,1".parse().unwrap();
        assert_eq!(list.values, [1.0, 2.0]);
        assert_eq!(list.name(2.0), "friction-scale=2");
        for (knob, name) in super::KNOBS {
            let vary: Vary = format!("{name}=0.5").parse().unwrap();
            assert_eq!((vary.knob, vary.name(0.5)), (knob, format!("{name}=0.5")));
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_form_to_use() {
        for text in [
            "",
            "friction",
            "gravity=1:2:1",
            "friction=1:2",
            "friction=2:1:1",
            "friction=1:2:0",
            "friction=a",
            "mass-scale=-1",
            "friction=0:1:1e-9",
        ] {
            let message = text.parse::<Vary>().unwrap_err().to_string();
            assert!(message.contains("FIRST:LAST:STEP"), "{text}: {message}");
        }
    }
}
