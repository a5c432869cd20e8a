//! What can go wrong with a task.

/// An error of this crate: names the thing, the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// The action has the wrong number of components.
    #[error("task '{task}': an action of {got} numbers, expected {expected}")]
    ActionSize {
        /// Name of the task.
        task: String,
        /// Components given.
        got: usize,
        /// Components the task takes.
        expected: usize,
    },
    /// A seed is not a non-negative decimal integer.
    #[error("seed '{text}' is not a non-negative integer: write decimal digits only, as many as you like")]
    SeedText {
        /// What was given.
        text: String,
    },
    /// A component of the action is NaN or infinite.
    #[error("task '{task}': component {index} of the action is {value}; actions must be finite numbers")]
    ActionNotFinite {
        /// Name of the task.
        task: String,
        /// Which component.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// The observation buffer has the wrong length.
    #[error("task '{task}': a buffer for {got} numbers, but an observation has {expected}")]
    ObservationSize {
        /// Name of the task.
        task: String,
        /// Length given.
        got: usize,
        /// Length of an observation.
        expected: usize,
    },
    /// A step without an episode.
    #[error("task '{task}': step without an episode; call reset first, also after a step that diverged")]
    NotReset {
        /// Name of the task.
        task: String,
    },
    /// A perturbation is out of its range.
    #[error("task '{task}': {knob} = {value} is not possible; give a number from {low} to {high}")]
    PerturbationRange {
        /// Name of the task.
        task: String,
        /// Name of the perturbation.
        knob: &'static str,
        /// What was given.
        value: f64,
        /// Smallest possible value.
        low: f64,
        /// Largest possible value.
        high: f64,
    },
    /// The simulator failed to build a world.
    #[error("task '{task}': the simulator could not build the world: {message}")]
    World {
        /// Name of the task.
        task: String,
        /// What the simulator said.
        message: String,
    },
    /// No task has this name.
    #[error(
        "unknown task '{name}'{suggestion} (known: {known}; or give the path of a task file ending in .toml)"
    )]
    UnknownTask {
        /// What was given.
        name: String,
        /// The nearest name as the end of a sentence, or nothing.
        suggestion: String,
        /// All names.
        known: String,
    },
    /// The task runs on a simulator that was left out when the program was built.
    #[error(
        "task '{task}' runs on {simulator}, which this program was built without; build it with --features {feature}"
    )]
    SimulatorNotBuilt {
        /// Name of the task, or path of its file.
        task: String,
        /// The simulator.
        simulator: &'static str,
        /// The cargo feature that brings it.
        feature: &'static str,
    },
    /// A file cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    ReadFile {
        /// Path of the file.
        path: String,
        /// Why; not a `source`, since the message holds it already.
        reason: std::io::Error,
    },
    /// A task file is not TOML, lacks a field or has an unknown one.
    #[error("task file {path}: {message}")]
    TaskFile {
        /// Path of the file.
        path: String,
        /// The parser's message, with line and column.
        message: String,
    },
    /// A value in a task file is invalid.
    #[error("task '{task}': {message}")]
    TaskValue {
        /// Name of the task.
        task: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// MuJoCo rejects a model.
    #[error("model {path}: {message}")]
    Model {
        /// Path of the MJCF file.
        path: String,
        /// MuJoCo's message, with the line where it has one.
        message: String,
    },
    /// A task file names something that its model does not have.
    #[error("task '{task}': the model has no {kind} '{name}' (there are: {known})")]
    UnknownName {
        /// Name of the task.
        task: String,
        /// Body, geom, joint, site or keyframe.
        kind: &'static str,
        /// What was named.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A program that was built for the instruction set of another CPU.
    #[error(
        "task '{task}': this program was built for another CPU; build it on this one, or with AUTOQD_CPUS=all"
    )]
    OtherCpu {
        /// Name of the task.
        task: String,
    },
    /// A task cannot be perturbed this way.
    #[error("task '{task}': {knob} cannot be changed here; {remedy}")]
    PerturbationKnob {
        /// Name of the task.
        task: String,
        /// Name of the perturbation.
        knob: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A recording of an environment cannot be replayed.
    #[error("recording {path}: {message}")]
    Golden {
        /// Path of the file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
}
