//! What the crate promises beyond agreement with pyribs: guards, properties, determinism.

mod archives;
mod determinism;
mod guards;
mod properties;
mod strategies;
mod support;
