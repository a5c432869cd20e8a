//! Values that may be written in more than one way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, or the word `"auto"` for one that depends on the task or the machine.
///
/// ```
/// use autoqd::config::Auto;
/// assert_eq!(Auto::Value(3).or_else(|| 7), 3);
/// assert_eq!(Auto::<i32>::default().or_else(|| 7), 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Auto<T> {
    /// The word `"auto"`.
    Word(AutoWord),
    /// A value.
    Value(T),
}

/// The word `"auto"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum AutoWord {
    /// `"auto"`
    #[default]
    #[serde(rename = "auto")]
    Auto,
}

impl<T> Default for Auto<T> {
    fn default() -> Self {
        Self::Word(AutoWord::Auto)
    }
}

impl<T> From<T> for Auto<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T: Clone> Auto<T> {
    /// The value written, if there is one.
    pub fn value(&self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::Word(_) => None,
        }
    }

    /// The value written, or the one computed.
    pub fn or_else(&self, default: impl FnOnce() -> T) -> T {
        self.value().unwrap_or_else(default)
    }
}

/// One value for all, or a list with one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OneOrEach<T> {
    /// The same for all.
    One(T),
    /// One for each.
    Each(Vec<T>),
}

impl<T: Clone> OneOrEach<T> {
    /// The list of `count` values; an error with the given length when a list does not have that many.
    pub fn expand(&self, count: usize) -> Result<Vec<T>, usize> {
        match self {
            Self::One(value) => Ok(vec![value.clone(); count]),
            Self::Each(values) if values.len() == count => Ok(values.clone()),
            Self::Each(values) => Err(values.len()),
        }
    }
}

/// Bounds of the archive: one number `h` for [-h, h] in every dimension, a list of `[low, high]`, or `"follow"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Bounds {
    /// [-h, h] in every dimension.
    Symmetric(f64),
    /// `[low, high]` of each dimension.
    Each(Vec<[f64; 2]>),
    /// Those of learned measures, whose scales follow the best elites.
    Follow(FollowWord),
}

/// The word `"follow"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum FollowWord {
    /// `"follow"`
    #[default]
    #[serde(rename = "follow")]
    Follow,
}

/// What an objective must exceed to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Floor {
    /// A word.
    Word(FloorWord),
    /// A number.
    Value(f64),
}

/// A floor with a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum FloorWord {
    /// The lowest objective that counts in the task.
    #[default]
    ObjectiveMin,
    /// Everything is stored.
    None,
}

impl Default for Floor {
    fn default() -> Self {
        Self::Word(FloorWord::default())
    }
}

impl From<Option<f64>> for Floor {
    fn from(floor: Option<f64>) -> Self {
        floor.map_or(Self::Word(FloorWord::None), Self::Value)
    }
}

/// The written form of a [`RestartRule`](autoqd_qd::RestartRule): a number of iterations, or the name of a rule.
pub(super) mod restart {
    use crate::config::rules::{Check, INTEGER_MAX, whole};
    use autoqd_qd::RestartRule;
    use serde::de::IntoDeserializer;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Name(String),
    }

    pub fn serialize<S: Serializer>(rule: &RestartRule, serializer: S) -> Result<S::Ok, S::Error> {
        match rule {
            RestartRule::Every(iterations) => iterations.serialize(serializer),
            named => named.serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RestartRule, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(iterations) => Ok(RestartRule::Every(iterations)),
            Written::Name(name) => RestartRule::deserialize(name.into_deserializer()),
        }
    }

    pub fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"anyOf": [
            {"type": "integer", "minimum": 1},
            {"oneOf": [{"const": "basic"}, {"const": "no_improvement"}]}
        ]})
    }

    pub fn at_least_one(key: &'static str, rule: &RestartRule) -> Check {
        match rule {
            RestartRule::Every(iterations) => whole(1, INTEGER_MAX)(key, iterations),
            _ => Ok(()),
        }
    }
}
