//! How settings are declared: each field once, with its documentation, type, default and check.

use super::{ConfigError, TaskFacts};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// A group of settings declared with [`settings!`](crate::settings).
pub trait Settings {
    /// Name of the section in a configuration file; empty for the keys outside any section.
    const NAME: &'static str;

    /// Checks every field by its own rule.
    fn check_fields(&self) -> Result<(), ConfigError>;
}

/// A section of the configuration that belongs to one part: a method, an emitter, an evaluator.
///
/// Its keys are checked, documented and listed like all others once it is registered
/// ([`Registry::register_section`](crate::registry::Registry::register_section)).
pub trait Section: Settings + Serialize + DeserializeOwned + Default + JsonSchema + 'static {
    /// Fills in what depends on the task.
    fn fill(&mut self, _task: &TaskFacts) {}

    /// Checks the values, once those that depend on the task are filled in.
    fn check(&self) -> Result<(), ConfigError> {
        self.check_fields()
    }
}

/// Declares a struct of settings, one line per field: documentation, name, type, default and, after `=>`, the rule that
/// a value must obey (see [`rules`](crate::config::rules)).
///
/// The name after `as` is that of the section. The struct gets `Default`, the traits of serde and schemars (both must be
/// dependencies of the crate), and [`Settings`](crate::config::Settings).
///
/// ```
/// use autoqd::config::{Section, Settings, rules};
///
/// autoqd::settings! {
///     /// Settings of `emitter = "jump"`.
///     pub struct JumpSection as "jump" {
///         /// Longest jump.
///         reach: f64 = 0.5 => rules::positive;
///         /// Jumps per candidate.
///         count: usize = 3 => rules::count(100);
///     }
/// }
/// impl Section for JumpSection {}
///
/// let jump = JumpSection { reach: -1.0, ..JumpSection::default() };
/// let message = jump.check().unwrap_err().to_string();
/// assert_eq!(message, "jump.reach = -1.0 is not allowed: it must be a finite number above 0; choose a positive value");
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $name:ident as $section:literal { $($body:tt)* }) => {
        $crate::settings! {
            @declare (concat!($section, "."), $section) #[schemars(inline)] $(#[$meta])* $vis struct $name { $($body)* }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($body:tt)* }) => {
        $crate::settings! { @declare ("", "") $(#[$meta])* $vis struct $name { $($body)* } }
    };
    (@declare ($prefix:expr, $section:literal) $(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr $(=> $rule:expr)?;)*
    }) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        $(#[$meta])*
        $vis struct $name { $($(#[$doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $crate::config::Settings for $name {
            const NAME: &'static str = $section;

            fn check_fields(&self) -> Result<(), $crate::config::ConfigError> {
                $($(($rule)(concat!($prefix, stringify!($field)), &self.$field)?;)?)*
                Ok(())
            }
        }
    };
}
