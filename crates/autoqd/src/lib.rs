//! AutoQD: policies, embeddings, learned behaviour descriptors and the quality-diversity search over them.

pub mod config;
