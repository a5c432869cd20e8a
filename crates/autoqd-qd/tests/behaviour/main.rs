//! What the crate promises, apart from being pyribs: guards, properties, determinism.

mod archives;
mod determinism;
mod guards;
mod properties;
mod strategies;
mod support;
