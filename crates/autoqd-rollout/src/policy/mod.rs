//! Policies: small networks from observations to actions, held as flat parameter vectors.
//!
//! ```
//! use autoqd_rollout::policy::{Policy, PolicySpec, Weights};
//! let spec = PolicySpec::new(Weights::Toeplitz, vec![128, 128], 17, vec![-1.0; 6], vec![1.0; 6])?;
//! assert_eq!(spec.parameter_count(), 788);
//! let mut policy = Policy::new(&spec, &vec![0.01; 788])?;
//! let mut action = [0.0_f32; 6];
//! policy.act(&[0.1; 17], &mut action);
//! assert!(action.iter().all(|a| a.abs() <= 1.0));
//! # Ok::<(), autoqd_rollout::Error>(())
//! ```

mod initial;
mod network;
mod parameters;
pub mod reference;
mod spec;
mod stored;

pub use crate::kernels::{Activation, Weights};
pub use initial::{positive, uniform};
pub use network::Policy;
pub use parameters::{FilterParameters, LayerGradient, LayerParameters, LayerShape, Parameters, Place};
pub use spec::{Biases, FilterSpec, LayerSpec, PolicySpec, Squash};
