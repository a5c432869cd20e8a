//! The parts that this program knows.

use autoqd::Error;
use autoqd::registry::Registry;
use autoqd_env::EnvError;

/// What `autoqd` has, and the learned descriptors of `autoqd-learn`.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    autoqd_learn::register(&mut registry);
    registry.register_tasks_of("gym:", |name, _| Err(needs_python(name)));
    registry.register_engine("ray", |_| {
        let message = "the engine 'ray' needs the program that comes with the Python package, and Ray: install the wheel \
                       and `pip install 'ray==2.60.*'` (see docs/cluster.md)";
        Err(Error::Descriptor(message.into()))
    });
    registry
}

fn needs_python(task: &str) -> Error {
    let message =
        "environments of Gymnasium need the program that comes with the Python package (see docs/python.md)";
    EnvError::TaskValue { task: task.to_owned(), message: message.to_owned() }.into()
}
