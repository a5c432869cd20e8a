//! AutoQD: policies, embeddings, learned behaviour descriptors and the quality-diversity search over them.

#![deny(missing_docs)]

pub mod config;
pub mod cwpca;
pub mod descriptor;
pub mod embedding;
pub mod emitter;
mod error;
pub mod evaluator;
pub mod export;
pub mod kernels;
pub mod observer;
pub mod parts;
pub mod policy;
mod random;
pub mod registry;
pub mod run_folder;
pub mod runner;
pub mod search;
pub mod seeds;

pub use error::Error;
