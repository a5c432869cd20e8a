//! Policies: small networks from observations to actions, held as flat parameter vectors.
//!
//! ```
//! use autoqd::policy::{Policy, PolicyKind, PolicySpec};
//! let spec = PolicySpec::new(PolicyKind::Toeplitz, vec![128, 128], 17, vec![-1.0; 6], vec![1.0; 6])?;
//! assert_eq!(spec.parameter_count(), 788);
//! let mut policy = Policy::new(&spec, &vec![0.01; 788])?;
//! let mut action = [0.0_f32; 6];
//! policy.act(&[0.1; 17], &mut action);
//! assert!(action.iter().all(|a| a.abs() <= 1.0));
//! # Ok::<(), autoqd::Error>(())
//! ```

mod initial;
mod network;
pub mod reference;
mod spec;

pub use initial::uniform;
pub use network::Policy;
pub use spec::{Biases, LayerParameters, LayerShape, PolicyKind, PolicySpec};
