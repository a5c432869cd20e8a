//! The MuJoCo tasks of Gymnasium, as task files inside the program.

use crate::EnvError;

/// A task file and its model.
pub(super) struct Builtin {
    pub name: &'static str,
    pub toml: &'static str,
    pub xml: &'static str,
    pub xml_name: &'static str,
}

macro_rules! builtin {
    ($name:literal) => {
        Builtin {
            name: $name,
            toml: include_str!(concat!("../../tasks/", $name, ".toml")),
            xml: include_str!(concat!("../../tasks/", $name, ".xml")),
            xml_name: concat!($name, ".xml"),
        }
    };
}

const BUILTINS: [Builtin; 11] = [
    builtin!("ant"),
    builtin!("half-cheetah"),
    builtin!("hopper"),
    builtin!("humanoid"),
    builtin!("humanoid-standup"),
    builtin!("inverted-double-pendulum"),
    builtin!("inverted-pendulum"),
    builtin!("pusher"),
    builtin!("reacher"),
    builtin!("swimmer"),
    builtin!("walker2d"),
];

pub(super) fn find(name: &str) -> Result<&'static Builtin, EnvError> {
    let known = || BUILTINS.iter().map(|b| b.name).collect::<Vec<_>>().join(", ");
    BUILTINS.iter().find(|b| b.name == name).ok_or_else(|| EnvError::UnknownTask {
        name: name.to_string(),
        suggestion: String::new(),
        known: known(),
    })
}
