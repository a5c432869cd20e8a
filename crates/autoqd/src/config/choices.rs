//! The words a configuration chooses from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares an enum whose variants are written as words, with the word available as [`std::fmt::Display`].
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// Every choice, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word as written in a configuration file.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|c| c.as_str() == word).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|c| c.as_str()).collect();
                    format!("expected one of {}", words.join(", "))
                })
            }
        }
    };
}

choice! {
    /// How the archive divides the measure space.
    ArchiveKind {
        /// A regular grid.
        #[default]
        Grid = "grid",
        /// A fixed number of Voronoi cells, whatever the number of measures.
        Cvt = "cvt",
        /// No cells: dominated novelty search keeps those far from anything fitter.
        Dns = "dns",
    }
}

choice! {
    /// Where dominated novelty search measures distances.
    DnsSpace {
        /// Between measures.
        #[default]
        Measures = "measures",
        /// Between embeddings, which makes refits unnecessary.
        Psi = "psi",
    }
}

choice! {
    /// Where the start states of an evaluation come from.
    EpisodeSeeds {
        /// Every episode has its own seed.
        #[default]
        Derived = "derived",
        /// All candidates of an iteration share the seeds.
        Common = "common",
        /// All candidates of the whole run share the seeds: no noise between evaluations, but elites may suit these
        /// start states alone.
        Fixed = "fixed",
    }
}

choice! {
    /// The parameters that the emitters start from.
    InitialPolicy {
        /// All zero: the policy that always gives the middle of the action bounds.
        Zeros = "zeros",
        /// Each emitter its own network, uniform within ±1/sqrt(inputs) of each layer.
        #[default]
        Uniform = "uniform",
        /// The same from 0 to 1/sqrt(inputs): what public Toeplitz policies start from. All units of a layer then push
        /// the same way.
        Positive = "positive",
    }
}

choice! {
    /// The map from embedding to measures before the first refit.
    FirstMap {
        /// Fitted on the first iteration's embeddings, before they are inserted.
        #[default]
        Cwpca = "cwpca",
        /// A random projection, centred and scaled to the first iteration's embeddings.
        Random = "random",
        /// A ~ N(0, 1) and b = 0, as if Algorithm 1's map were only initialised until the first refit. Its measures have
        /// no scale, so that policies may lie outside the archive's bounds or in few of its cells.
        Uncalibrated = "uncalibrated",
    }
}

choice! {
    /// What becomes of the emitters when a refit gives all elites other measures.
    RefitEmitters {
        /// They go on from where they are.
        #[default]
        Keep = "keep",
        /// Each starts again at a random elite.
        Restart = "restart",
        /// Each starts again at its initial policy.
        New = "new",
    }
}

choice! {
    /// How observations are scaled before they are embedded.
    Normalizer {
        /// Mean and variance of everything seen in earlier iterations (the paper).
        #[default]
        Running = "running",
        /// As running until the first refit, fixed from then on; elites are re-embedded at that refit.
        Frozen = "frozen",
        /// Not at all.
        None = "none",
    }
}
