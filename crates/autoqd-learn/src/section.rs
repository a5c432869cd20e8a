//! The settings of the autoencoders.

use autoqd::config::{Section, rules};

/// Most states, trajectories or megabytes that fit into any memory.
const MANY: usize = rules::CELLS_MAX;

autoqd::settings! {
    /// The autoencoders of `method = "aurora"` and `"lstm-aurora"`.
    pub struct AutoencoderSection as "autoencoder" {
        /// Units of the hidden layers of Aurora's encoder; the decoder has them in reverse.
        hidden: Vec<usize> = vec![64, 32] => rules::some(rules::count(65_536), "the paper has [64, 32]");
        /// Units of LSTM-Aurora's recurrent layers.
        lstm_units: usize = 32 => rules::count(65_536);
        /// LSTM-Aurora sees every so many steps of an episode, from the first state on.
        period: usize = 10 => rules::count(1_000_000);
        /// Probability that LSTM-Aurora's decoder sees the true previous state, and not the mean of all states. Below 1
        /// it has to rely on the code; the paper has 1.
        teacher_forcing: f64 = 1.0 => rules::probability("the paper has 1");
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3 => rules::positive;
        /// States, or trajectories, per training step.
        batch_size: usize = 64 => rules::count(1_000_000);
        /// Most passes over the training data at a refit.
        epochs: usize = 50 => rules::count(1_000_000);
        /// Passes without a lower validation loss after which training stops. The best weights are kept.
        patience: usize = 10 => rules::count(1_000_000);
        /// Share of the policies, drawn anew at each refit, that only the validation loss is computed on.
        validation_share: f64 = 0.2 => rules::between(0.0, 1.0, "the paper has 0.2");
        /// States that Aurora keeps of each episode for training, at random times, besides the last one.
        states_per_episode: usize = 4 => rules::count(10_000);
        /// States of all policies ever evaluated that Aurora also trains on, a uniform sample; the elites alone would
        /// make it blind to what has not been reached yet.
        reservoir: usize = 50_000 => rules::at_most(MANY);
        /// Most states that Aurora trains on at a refit; a uniform sample of the elites' and the reservoir's.
        training_states: usize = 200_000 => rules::count(MANY);
        /// Most trajectories per pass over the training data of LSTM-Aurora: one of each elite, another one at each pass.
        training_trajectories: usize = 10_000 => rules::count(MANY);
        /// Megabytes of states that elites in reserve may keep; beyond that the lowest objective leaves the reserve.
        reserve_megabytes: usize = 500 => rules::at_most(MANY);
    }
}

impl Section for AutoencoderSection {}

impl AutoencoderSection {
    /// Bytes of states that elites in reserve may keep.
    pub(crate) fn reserve_bytes(&self) -> usize {
        self.reserve_megabytes * 1_000_000
    }
}
