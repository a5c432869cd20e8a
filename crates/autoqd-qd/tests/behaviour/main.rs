//! What the crate promises beyond agreement with pyribs: guards, properties, determinism.

mod archives;
mod determinism;
mod guards;
mod linear;
mod properties;
mod strategies;
mod support;
