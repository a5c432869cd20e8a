//! AutoQD: policies, embeddings, learned behaviour descriptors and the quality-diversity search over them.

pub mod config;
pub mod cwpca;
pub mod embedding;
pub mod kernels;
pub mod observer;
pub mod policy;
pub mod run_folder;
