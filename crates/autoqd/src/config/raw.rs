//! The configuration as written: every field with its default, its rule and the reason for it.

use super::rules::{self, CELLS_MAX, INTEGER_MAX};
use super::{
    ArchiveKind, Auto, Bounds, DnsSpace, EpisodeSeeds, FirstMap, Floor, InitialPolicy, Normalizer, OneOrEach,
    RefitEmitters, Sections, restart,
};
use crate::policy::{Activation, Biases, Weights};
use autoqd_env::{Perturbation, Physics};
use autoqd_qd::{AddMode, Arithmetic, RankOne, Ranker, RestartRule, SelectionRule};

crate::settings! {
    /// Configuration of a run, as written in a TOML file or with `--set key=value`.
    ///
    /// The default is the paper's set-up. [`Config::resolve`] turns it into a [`RunConfig`](super::RunConfig).
    ///
    /// ```
    /// use autoqd::config::Config;
    /// let config: Config = toml::from_str("task = 'hopper'\nepisodes = 3").unwrap();
    /// assert_eq!((config.episodes, config.batch_size), (3, 64));
    /// ```
    pub struct Config {
        /// Task to search in: a registered name (`autoqd env list`) or the path of a task file.
        task: String = String::new() => task_given;
        /// What tells two behaviours apart.
        method: String = "autoqd".to_owned();
        /// Seed of everything random. The same configuration and seed give the same bytes on any number of threads.
        seed: u64 = 0 => rules::whole(0, INTEGER_MAX);
        /// Iterations of the search. May be raised when a run is resumed.
        iterations: u64 = 500 => rules::whole(1, INTEGER_MAX);
        /// Episodes per evaluation. Objective, measures and embedding are means over them.
        episodes: usize = 5 => rules::count(1_000_000);
        /// Where the start states of an evaluation come from.
        episode_seeds: EpisodeSeeds = EpisodeSeeds::default();
        /// Simulator of the search. Reports always use the reference (libmujoco, Box2D).
        physics: Physics = Physics::default();
        /// What rolls the policies out.
        evaluator: String = "local".to_owned();

        /// How new candidates are made.
        emitter: String = "cma".to_owned();
        /// Number of emitters that work side by side on the same archive.
        emitters: usize = 5 => rules::count(100_000);
        /// Candidates per emitter and iteration.
        batch_size: usize = 64 => rules::count(10_000_000);
        /// First step size of the emitters: one number, or a list with one per emitter. `auto` doubles from 0.02 to
        /// 0.32 and starts again: bold and careful emitters side by side.
        sigma0: Auto<OneOrEach<f64>> = Auto::default();
        /// By what an evolution strategy ranks its candidates.
        ranker: Ranker = Ranker::default();
        /// Which candidates become parents.
        selection: SelectionRule = SelectionRule::default();
        /// When an evolution strategy starts again from a random elite: every given number of iterations, `basic` (only
        /// when it has converged) or `no_improvement` (also when nothing was accepted).
        #[serde(with = "restart")]
        #[schemars(schema_with = "restart::schema")]
        restart: RestartRule = RestartRule::Every(100) => restart::at_least_one;
        /// Rank-one term of the covariance update of CMA-ES. With hundreds of parameters the two hardly differ.
        rank_one: RankOne = RankOne::default();
        /// How the matrices of CMA-ES and of the weighted PCA are computed with. Runs made before there was a choice go on as
        /// `native`.
        arithmetic: Arithmetic = Arithmetic::default();
        /// How the candidates of an iteration enter the archives.
        add_mode: AddMode = AddMode::default();

        /// How the archive divides the measure space.
        archive: ArchiveKind = ArchiveKind::default();
        /// Cells of a grid archive: one number for every dimension, or a list.
        cells: OneOrEach<usize> = OneOrEach::One(10);
        /// Range of the measures covered by a grid or CVT archive: one number `h` for [-h, h], or a list of
        /// `[low, high]`. What lies outside falls into the border cell. With `follow` learned measures are scaled again,
        /// without turning their axes, at every tenth iteration at which more than a fifth of the best fifth of the elites lie
        /// outside. `auto` is 1.2 for learned measures, whose 5 % and
        /// 95 % quantiles are calibrated to -1 and 1, and the task's own bounds for hand-designed ones.
        bounds: Auto<Bounds> = Auto::default();
        /// How far the acceptance threshold of a cell of the search archive moves towards an accepted objective:
        /// 1 keeps only improvements (MAP-Elites), small values keep exploring (CMA-MAE).
        learning_rate: f64 = 0.01 => rules::above_up_to(0.0, 1.0, "0.01 is the paper's value, 1 is MAP-Elites");
        /// First acceptance threshold of every cell of the search archive. `auto` is the lowest objective that counts
        /// in the task. `-inf` is allowed with a learning rate of 1.
        threshold_min: Auto<f64> = Auto::default();
        /// What a candidate's objective must exceed to enter the result archive, the one that is reported and that
        /// measures are fitted to: `objective_min` (the lowest objective that counts in the task, Algorithms 2 and 3 of
        /// the paper), `none`, or a number. Dominated novelty search has no floor.
        floor: Floor = Floor::default();
        /// Subtracted from every objective in the QD score, so that no elite counts negative. `auto` is the lowest
        /// objective that counts in the task.
        qd_offset: Auto<f64> = Auto::default() => rules::unless_auto(rules::finite);

        /// Number of learned measures. Hand-designed ones (`method = "regular"`) have the task's own number instead.
        measures_dimension: usize = 4;
        /// Iterations at whose start the measures are fitted again to the elites.
        update_schedule: Vec<u64> = vec![20, 50, 100, 200, 300] => ascending;
        /// Whether good policies count more when the measures are fitted.
        weighting: bool = true;
        /// The map from embedding to measures before the first refit.
        first_map: FirstMap = FirstMap::default();
        /// How observations are scaled before they are embedded.
        normalizer: Normalizer = Normalizer::default();
        /// Elites kept aside when a refit puts two into one cell, to return at a later refit; the lowest objective
        /// leaves first. 0 forgets them, as in the paper, which loses about half of the elites at a refit.
        reserve: usize = 0 => rules::at_most(CELLS_MAX);
        /// What becomes of the emitters when a refit gives all elites other measures.
        refit_emitters: RefitEmitters = RefitEmitters::default();

        /// Worker threads. `auto` is one per core. Affects only the running time.
        threads: Auto<usize> = Auto::default() => rules::unless_auto(rules::count(4096));
        /// Iterations between checkpoints.
        checkpoint_every: u64 = 10 => rules::whole(1, INTEGER_MAX);

        /// Changes to the physics of the task.
        perturbation: Perturbation = Perturbation::default() => perturbation;
        /// The policy network.
        policy: PolicySection = PolicySection::default() => rules::section;
        /// The embedding of a policy's occupancy measure.
        embedding: EmbeddingSection = EmbeddingSection::default() => rules::section;
        /// Episodes that are not run: those of candidates that can enter no cell, as far as their first episodes tell. The mean of
        /// these is then their objective, which the emitters learn from; no archive takes them. Off by default, as in the paper.
        racing: RacingSection = RacingSection::default() => rules::section;
        /// Settings of `archive = "cvt"`.
        cvt: CvtSection = CvtSection::default();
        /// Settings of `archive = "dns"`.
        dns: DnsSection = DnsSection::default();
        /// The sections of registered parts.
        #[serde(skip)]
        #[schemars(skip)]
        sections: Sections = Sections::default();
    }
}

crate::settings! {
    /// The policy network.
    pub struct PolicySection as "policy" {
        /// Structure of the weight matrices.
        kind: Weights = Weights::default();
        /// Units of each hidden layer.
        hidden: Vec<usize> = vec![128, 128] => rules::each(rules::count(65_536));
        /// Which layers have biases. Not said by the paper.
        bias: Biases = Biases::default();
        /// Activation of the hidden layers.
        activation: Activation = Activation::default();
        /// The parameters that the emitters start from.
        initial: InitialPolicy = InitialPolicy::default();
    }
}

crate::settings! {
    /// The embedding of a policy's occupancy measure.
    pub struct EmbeddingSection as "embedding" {
        /// Random Fourier features, the length of the embedding (D in the paper).
        features: usize = 100 => rules::count(1_000_000);
        /// Discount of the occupancy measure.
        gamma: f64 = 0.999 => rules::between(0.0, 1.0, "0.999 is the paper's value");
        /// Width of the kernel. `auto` is the square root of observation size plus action size.
        bandwidth: Auto<f64> = Auto::default() => rules::unless_auto(rules::positive);
        /// Draw the feature directions orthogonal to each other: the same cost, less variance.
        orthogonal: bool = false;
        /// Factors on the bandwidth; the features are shared out equally among them. Several give a mixture of kernels.
        scales: Vec<f64> = vec![1.0] => rules::some(rules::positive, "write [1.0] for a single kernel");
        /// Divide the embedding of an episode of T steps by 1 - gamma^T. Without it (the paper) the embedding of a
        /// short episode is small, so that survival time is part of the behaviour.
        length_normalized: bool = false;
    }
}

crate::settings! {
    /// Episodes that are not run.
    pub struct RacingSection as "racing" {
        /// Episodes after which candidates may be stopped, from 2 to `episodes` - 1; 0 runs all of them. Grid archives only.
        after: usize = 0 => rules::at_most(1_000_000);
        /// A candidate goes on if its mean return so far, plus this many standard errors of what the other episodes may change
        /// about it, exceeds the lowest threshold of the cells around.
        margin: f64 = 2.0 => rules::not_negative;
        /// How many cells away in each measure these cells may be: the other episodes change the measures too.
        reach: usize = 1 => rules::at_most(100);
    }
}

// The rules of these two hold only where the archive is of that kind: they are part of its layout.
crate::settings! {
    /// Settings of a CVT archive.
    pub struct CvtSection as "cvt" {
        /// Number of cells.
        cells: usize = 10_000 => rules::count(CELLS_MAX);
        /// Uniform samples from which the cells' centroids are computed.
        samples: usize = 100_000 => rules::count(CELLS_MAX);
    }
}

crate::settings! {
    /// Settings of dominated novelty search.
    pub struct DnsSection as "dns" {
        /// Number of elites kept.
        size: usize = 4096 => rules::count(CELLS_MAX);
        /// Fitter neighbours to whom the distance is measured.
        k: usize = 15 => rules::count(CELLS_MAX);
        /// Where distances are measured.
        space: DnsSpace = DnsSpace::default();
    }
}

fn task_given(key: &'static str, task: &String) -> rules::Check {
    let remedy = "name a task, for instance `autoqd run swimmer`; `autoqd env list` shows them";
    rules::require(!task.trim().is_empty(), key, task, "a task is needed", remedy)
}

fn ascending(key: &'static str, schedule: &Vec<u64>) -> rules::Check {
    let ok = schedule.iter().all(|&t| (2..=INTEGER_MAX).contains(&t)) && schedule.is_sorted_by(|a, b| a < b);
    let allowed = "iterations must ascend, the first at least 2, because a refit needs elites";
    rules::require(ok, key, schedule, allowed, "write for instance [20, 50, 100], or [] for no refit")
}

fn perturbation(_key: &'static str, changes: &Perturbation) -> rules::Check {
    rules::positive("perturbation.friction_scale", &changes.friction_scale)?;
    rules::positive("perturbation.mass_scale", &changes.mass_scale)?;
    rules::not_negative("perturbation.motor_scale", &changes.motor_scale)?;
    rules::not_negative("perturbation.damping_scale", &changes.damping_scale)?;
    rules::not_negative("perturbation.gravity_scale", &changes.gravity_scale)?;
    changes.friction.map_or(Ok(()), |friction| rules::positive("perturbation.friction", &friction))
}
