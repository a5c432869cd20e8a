//! What values are allowed: rules for [`settings!`](crate::settings). Each takes the key and the value.

use super::{Auto, ConfigError, Settings};
use std::fmt::Debug;

/// The answer of a rule.
pub type Check<T = ()> = Result<T, ConfigError>;

/// TOML integers are signed 64-bit numbers.
pub const INTEGER_MAX: u64 = i64::MAX as u64;
/// More cells than this would not fit into memory with an elite in each.
pub const CELLS_MAX: usize = 100_000_000;

/// Rejects a value unless `ok`; `allowed` is a statement, `remedy` says what to do.
pub fn require(ok: bool, key: &'static str, value: impl Debug, allowed: &str, remedy: &str) -> Check {
    if ok {
        return Ok(());
    }
    let (value, allowed, remedy) = (format!("{value:?}"), allowed.to_owned(), remedy.to_owned());
    Err(ConfigError::Invalid { key, value, allowed, remedy })
}

/// A whole number within a range.
pub fn whole(low: u64, high: u64) -> impl Fn(&'static str, &u64) -> Check {
    move |key, value| {
        let allowed = format!("it must be a whole number from {low} to {high}");
        require((low..=high).contains(value), key, value, &allowed, "choose a value in that range")
    }
}

/// A number of things, from 1 on.
pub fn count(high: usize) -> impl Fn(&'static str, &usize) -> Check {
    move |key, value| whole(1, high as u64)(key, &(*value as u64))
}

/// A number of things that may be 0.
pub fn at_most(high: usize) -> impl Fn(&'static str, &usize) -> Check {
    move |key, value| whole(0, high as u64)(key, &(*value as u64))
}

/// A finite number above 0.
pub fn positive(key: &'static str, value: &f64) -> Check {
    let ok = value.is_finite() && *value > 0.0;
    require(ok, key, value, "it must be a finite number above 0", "choose a positive value")
}

/// A finite number, 0 or more.
pub fn not_negative(key: &'static str, value: &f64) -> Check {
    let ok = value.is_finite() && *value >= 0.0;
    require(ok, key, value, "it must be a finite number, 0 or more", "choose such a value")
}

/// A finite number.
pub fn finite(key: &'static str, value: &f64) -> Check {
    require(value.is_finite(), key, value, "it must be finite", "write an ordinary number")
}

/// A number strictly between two others.
pub fn between(low: f64, high: f64, remedy: &'static str) -> impl Fn(&'static str, &f64) -> Check {
    move |key, value| {
        let allowed = format!("it must be above {low} and below {high}");
        require(*value > low && *value < high, key, value, &allowed, remedy)
    }
}

/// A number above `low` and at most `high`.
pub fn above_up_to(low: f64, high: f64, remedy: &'static str) -> impl Fn(&'static str, &f64) -> Check {
    move |key, value| {
        let allowed = format!("it must be above {low} and at most {high}");
        require(*value > low && *value <= high, key, value, &allowed, remedy)
    }
}

/// A probability.
pub fn probability(remedy: &'static str) -> impl Fn(&'static str, &f64) -> Check {
    move |key, value| {
        let ok = (0.0..=1.0).contains(value);
        require(ok, key, value, "it is a probability, from 0 to 1", remedy)
    }
}

/// A rule for every entry of a list.
pub fn each<T>(rule: impl Fn(&'static str, &T) -> Check) -> impl Fn(&'static str, &Vec<T>) -> Check {
    move |key, values| values.iter().try_for_each(|value| rule(key, value))
}

/// A list with at least one entry, and a rule for each.
pub fn some<T: Debug>(
    rule: impl Fn(&'static str, &T) -> Check,
    remedy: &'static str,
) -> impl Fn(&'static str, &Vec<T>) -> Check {
    move |key, values| {
        require(!values.is_empty(), key, values, "there must be at least one", remedy)?;
        values.iter().try_for_each(|value| rule(key, value))
    }
}

/// A rule for the value, if it is not left to `auto`.
pub fn unless_auto<T>(rule: impl Fn(&'static str, &T) -> Check) -> impl Fn(&'static str, &Auto<T>) -> Check {
    move |key, value| match value {
        Auto::Value(value) => rule(key, value),
        Auto::Word(_) => Ok(()),
    }
}

/// The rules of a section.
pub fn section<S: Settings>(_key: &'static str, section: &S) -> Check {
    section.check_fields()
}
