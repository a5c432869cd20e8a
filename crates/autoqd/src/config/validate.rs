//! The allowed range of every value.

use super::{
    ArchiveConfig, ArchiveKind, ArchiveLayout, Auto, AutoencoderSection, Bounds, Config, ConfigError,
    DescriptorConfig, DnsSpace, EmbeddingConfig, EmitterConfig, EmitterKind, Floor, FloorWord, Method,
    Perturbation, Restart, RunConfig,
};
use std::fmt::Debug;
use std::num::NonZeroUsize;

/// TOML integers are signed 64-bit numbers.
const INTEGER_MAX: u64 = i64::MAX as u64;
/// More cells than this would not fit into memory with an elite in each.
const CELLS_MAX: usize = 100_000_000;

type Check<T = ()> = Result<T, ConfigError>;

fn require(ok: bool, key: &'static str, value: impl Debug, allowed: &str, remedy: &str) -> Check {
    if ok {
        return Ok(());
    }
    let (value, allowed, remedy) = (format!("{value:?}"), allowed.to_owned(), remedy.to_owned());
    Err(ConfigError::Invalid { key, value, allowed, remedy })
}

fn whole(key: &'static str, value: u64, low: u64, high: u64) -> Check {
    let allowed = format!("it must be a whole number from {low} to {high}");
    require((low..=high).contains(&value), key, value, &allowed, "choose a value in that range")
}

fn count(key: &'static str, value: usize, high: usize) -> Check {
    whole(key, value as u64, 1, high as u64)
}

fn positive(key: &'static str, value: f64) -> Check {
    let ok = value.is_finite() && value > 0.0;
    require(ok, key, value, "it must be a finite number above 0", "choose a positive value")
}

fn finite(key: &'static str, value: f64) -> Check {
    require(value.is_finite(), key, value, "it must be finite", "write an ordinary number")
}

fn known<T: Clone>(key: &'static str, value: &Auto<T>) -> Check<T> {
    value.value().ok_or(ConfigError::Incomplete { key })
}

impl Config {
    /// Checks a configuration in which nothing that depends on the task is left open.
    pub(super) fn check(&self) -> Check<RunConfig> {
        self.check_sizes()?;
        let remedy = "name a task, for instance `autoqd run swimmer`; `autoqd env list` shows them";
        require(!self.task.trim().is_empty(), "task", &self.task, "a task is needed", remedy)?;
        whole("seed", self.seed, 0, INTEGER_MAX)?;
        whole("iterations", self.iterations, 1, INTEGER_MAX)?;
        count("episodes", self.episodes, 1_000_000)?;
        whole("checkpoint_every", self.checkpoint_every, 1, INTEGER_MAX)?;
        Ok(RunConfig {
            task: self.task.clone(),
            method: self.method,
            seed: self.seed,
            iterations: self.iterations,
            episodes: self.episodes,
            episode_seeds: self.episode_seeds,
            physics: self.physics,
            perturbation: self.check_perturbation()?,
            policy: self.check_policy()?,
            emitters: self.check_emitters()?,
            add_mode: self.add_mode,
            archive: self.check_archive()?,
            descriptor: self.check_descriptor()?,
            embedding: self.check_embedding()?,
            autoencoder: self.check_autoencoder()?,
            threads: self.check_threads()?,
            checkpoint_every: self.checkpoint_every,
        })
    }

    /// Checks the sizes of lists, before any is made.
    pub(super) fn check_sizes(&self) -> Check {
        count("emitters", self.emitters, 100_000)?;
        let dimension = self.measures_dimension;
        let remedy = match self.method {
            Method::Regular => "this task has no hand-made measures; use another method",
            _ => "the paper uses 4",
        };
        require(
            (1..=64).contains(&dimension),
            "measures_dimension",
            dimension,
            "it must be from 1 to 64",
            remedy,
        )
    }

    fn check_threads(&self) -> Check<Option<NonZeroUsize>> {
        let Some(threads) = self.threads.value() else { return Ok(None) };
        count("threads", threads, 4096)?;
        Ok(NonZeroUsize::new(threads))
    }

    fn check_perturbation(&self) -> Check<Perturbation> {
        let p = &self.perturbation;
        positive("perturbation.friction_scale", p.friction_scale)?;
        positive("perturbation.mass_scale", p.mass_scale)?;
        let friction = p.friction.value();
        if let Some(friction) = friction {
            positive("perturbation.friction", friction)?;
        }
        let (friction_scale, mass_scale) = (p.friction_scale, p.mass_scale);
        Ok(Perturbation { friction_scale, mass_scale, friction, margin: p.margin })
    }

    fn check_policy(&self) -> Check<super::PolicySection> {
        for &units in &self.policy.hidden {
            count("policy.hidden", units, 65_536)?;
        }
        Ok(self.policy.clone())
    }

    fn check_emitters(&self) -> Check<EmitterConfig> {
        count("batch_size", self.batch_size, 10_000_000)?;
        self.check_batch_size()?;
        if let Restart::Every(every) = self.restart {
            whole("restart", every, 1, INTEGER_MAX)?;
        }
        for (key, value) in [
            ("iso_line.iso_sigma", self.iso_line.iso_sigma),
            ("iso_line.line_sigma", self.iso_line.line_sigma),
            ("openai.l2", self.openai.l2),
        ] {
            let ok = value.is_finite() && value >= 0.0;
            require(ok, key, value, "it must be a finite number, 0 or more", "choose such a value")?;
        }
        positive("openai.learning_rate", self.openai.learning_rate)?;
        Ok(EmitterConfig {
            kind: self.emitter,
            batch_size: self.batch_size,
            sigma0: self.check_sigma0()?,
            ranker: self.ranker,
            selection: self.selection,
            restart: self.restart,
            rank_one: self.rank_one,
            iso_line: self.iso_line.clone(),
            openai: self.openai.clone(),
        })
    }

    fn check_batch_size(&self) -> Check {
        let n = self.batch_size;
        match self.emitter {
            EmitterKind::IsoLine | EmitterKind::Gaussian => Ok(()),
            EmitterKind::Openai => {
                let allowed = "openai samples mirrored pairs, so it must be even";
                require(n.is_multiple_of(2), "batch_size", n, allowed, "take the next even number")
            }
            _ => {
                let allowed = "an evolution strategy needs at least 2 candidates to choose from";
                require(n >= 2, "batch_size", n, allowed, "raise it, or use emitter = \"gaussian\"")
            }
        }
    }

    fn check_sigma0(&self) -> Check<Vec<f64>> {
        let written = known("sigma0", &self.sigma0)?;
        let sigma0 = written.expand(self.emitters).map_err(|got| ConfigError::Invalid {
            key: "sigma0",
            value: format!("a list of {got}"),
            allowed: format!("there are {} emitters", self.emitters),
            remedy: "give one number per emitter, a single number, or \"auto\"".to_owned(),
        })?;
        sigma0.iter().try_for_each(|&s| positive("sigma0", s))?;
        Ok(sigma0)
    }

    fn check_archive(&self) -> Check<ArchiveConfig> {
        let (alpha, threshold) = (self.learning_rate, known("threshold_min", &self.threshold_min)?);
        let ok = alpha > 0.0 && alpha <= 1.0;
        let remedy = "0.01 is the paper's value, 1 is MAP-Elites";
        require(ok, "learning_rate", alpha, "it must be above 0 and at most 1", remedy)?;
        let ok = threshold.is_finite() || (threshold == f64::NEG_INFINITY && alpha == 1.0);
        let allowed = "it must be finite, or -inf together with learning_rate = 1";
        require(ok, "threshold_min", threshold, allowed, "choose the lowest objective that should count")?;
        let qd_offset = known("qd_offset", &self.qd_offset)?;
        finite("qd_offset", qd_offset)?;
        let (layout, floor) = (self.check_layout()?, self.check_floor()?);
        Ok(ArchiveConfig { layout, learning_rate: alpha, threshold_min: threshold, floor, qd_offset })
    }

    fn check_floor(&self) -> Check<Option<f64>> {
        let floor = match self.floor {
            Floor::Word(FloorWord::None) => return Ok(None),
            Floor::Word(FloorWord::ObjectiveMin) => return Err(ConfigError::Incomplete { key: "floor" }),
            Floor::Value(floor) => floor,
        };
        finite("floor", floor)?;
        let allowed = "dominated novelty search has no floor";
        require(self.archive != ArchiveKind::Dns, "floor", floor, allowed, "use \"none\"")?;
        Ok(Some(floor))
    }

    fn check_layout(&self) -> Check<ArchiveLayout> {
        let bounds = self.check_bounds()?;
        match self.archive {
            ArchiveKind::Grid => Ok(ArchiveLayout::Grid { cells: self.check_cells()?, bounds }),
            ArchiveKind::Cvt => {
                let (cells, samples) = (self.cvt.cells, self.cvt.samples);
                count("cvt.cells", cells, CELLS_MAX)?;
                let allowed = "there must be at least as many samples as cells";
                require(samples >= cells, "cvt.samples", samples, allowed, "10 per cell is a good number")?;
                count("cvt.samples", samples, CELLS_MAX)?;
                Ok(ArchiveLayout::Cvt { cells, samples, bounds })
            }
            ArchiveKind::Dns => {
                let (size, k, space) = (self.dns.size, self.dns.k, self.dns.space);
                count("dns.size", size, CELLS_MAX)?;
                count("dns.k", k, size)?;
                let ok = space == DnsSpace::Measures || self.method == Method::Autoqd;
                let allowed = "only method = \"autoqd\" has embeddings";
                require(ok, "dns.space", space.as_str(), allowed, "use \"measures\"")?;
                Ok(ArchiveLayout::Dns { size, k, space, bounds })
            }
        }
    }

    fn check_cells(&self) -> Check<Vec<usize>> {
        let dimension = self.measures_dimension;
        let cells = self.cells.expand(dimension).map_err(|got| ConfigError::Invalid {
            key: "cells",
            value: format!("a list of {got}"),
            allowed: format!("there are {dimension} measures"),
            remedy: "give one number per measure, or a single number".to_owned(),
        })?;
        cells.iter().try_for_each(|&c| count("cells", c, CELLS_MAX))?;
        let total = cells.iter().try_fold(1usize, |product, &c| product.checked_mul(c));
        let allowed = format!("the grid may have at most {CELLS_MAX} cells in all");
        let ok = total.is_some_and(|t| t <= CELLS_MAX);
        require(ok, "cells", &cells, &allowed, "take fewer per dimension, or archive = \"cvt\"")?;
        Ok(cells)
    }

    fn check_bounds(&self) -> Check<Vec<[f64; 2]>> {
        let dimension = self.measures_dimension;
        let bounds = match known("bounds", &self.bounds)? {
            Bounds::Symmetric(h) => {
                positive("bounds", h)?;
                vec![[-h, h]; dimension]
            }
            Bounds::Each(list) => list,
        };
        let allowed = format!("there are {dimension} measures");
        let remedy = "give one [low, high] per measure, or a single number";
        require(bounds.len() == dimension, "bounds", &bounds, &allowed, remedy)?;
        for pair in &bounds {
            let ok = pair[0].is_finite() && pair[1].is_finite() && pair[0] < pair[1];
            require(ok, "bounds", pair, "low and high must be finite, low below high", "swap or widen them")?;
        }
        Ok(bounds)
    }

    fn check_descriptor(&self) -> Check<DescriptorConfig> {
        let dimension = self.measures_dimension;
        let allowed =
            "a learned measure is a direction among the features, so there can be no more than those";
        let ok = self.method != Method::Autoqd || dimension <= self.embedding.features;
        require(ok, "measures_dimension", dimension, allowed, "lower it, or raise embedding.features")?;
        count("reserve", self.reserve.max(1), CELLS_MAX)?;
        Ok(DescriptorConfig {
            measures_dimension: dimension,
            update_schedule: self.check_schedule()?,
            weighting: self.weighting,
            first_map: self.first_map,
            normalizer: self.normalizer,
            reserve: self.reserve,
        })
    }

    fn check_schedule(&self) -> Check<Vec<u64>> {
        let schedule = &self.update_schedule;
        let ok =
            schedule.iter().all(|&t| (2..=INTEGER_MAX).contains(&t)) && schedule.is_sorted_by(|a, b| a < b);
        let allowed = "iterations must ascend, the first at least 2, because a refit needs elites";
        require(
            ok,
            "update_schedule",
            schedule,
            allowed,
            "write for instance [20, 50, 100], or [] for no refit",
        )?;
        Ok(schedule.clone())
    }

    fn check_autoencoder(&self) -> Check<AutoencoderSection> {
        let a = &self.autoencoder;
        let allowed = "there must be at least one hidden layer";
        require(!a.hidden.is_empty(), "autoencoder.hidden", &a.hidden, allowed, "the paper has [64, 32]")?;
        a.hidden.iter().try_for_each(|&units| count("autoencoder.hidden", units, 65_536))?;
        for (key, value, high) in [
            ("autoencoder.lstm_units", a.lstm_units, 65_536),
            ("autoencoder.period", a.period, 1_000_000),
            ("autoencoder.batch_size", a.batch_size, 1_000_000),
            ("autoencoder.epochs", a.epochs, 1_000_000),
            ("autoencoder.patience", a.patience, 1_000_000),
            ("autoencoder.states_per_episode", a.states_per_episode, 10_000),
            ("autoencoder.training_states", a.training_states, CELLS_MAX),
            ("autoencoder.training_trajectories", a.training_trajectories, CELLS_MAX),
        ] {
            count(key, value, high)?;
        }
        count("autoencoder.reservoir", a.reservoir.max(1), CELLS_MAX)?;
        count("autoencoder.reserve_megabytes", a.reserve_megabytes.max(1), CELLS_MAX)?;
        positive("autoencoder.learning_rate", a.learning_rate)?;
        let share = a.validation_share;
        let ok = share > 0.0 && share < 1.0;
        let allowed = "it must be above 0 and below 1";
        require(ok, "autoencoder.validation_share", share, allowed, "the paper has 0.2")?;
        let ok = (0.0..=1.0).contains(&a.teacher_forcing);
        let (key, allowed) = ("autoencoder.teacher_forcing", "it is a probability, from 0 to 1");
        require(ok, key, a.teacher_forcing, allowed, "the paper has 1")?;
        Ok(a.clone())
    }

    fn check_embedding(&self) -> Check<EmbeddingConfig> {
        let e = &self.embedding;
        count("embedding.features", e.features, 1_000_000)?;
        let ok = e.gamma > 0.0 && e.gamma < 1.0;
        let remedy = "0.999 is the paper's value";
        require(ok, "embedding.gamma", e.gamma, "it must be above 0 and below 1", remedy)?;
        let bandwidth = known("embedding.bandwidth", &e.bandwidth)?;
        positive("embedding.bandwidth", bandwidth)?;
        let ok = !e.scales.is_empty() && e.scales.len() <= e.features;
        let allowed = "there must be at least one scale and no more than features";
        require(ok, "embedding.scales", &e.scales, allowed, "write [1.0] for a single kernel")?;
        e.scales.iter().try_for_each(|&s| positive("embedding.scales", s))?;
        Ok(EmbeddingConfig {
            features: e.features,
            gamma: e.gamma,
            bandwidth,
            orthogonal: e.orthogonal,
            scales: e.scales.clone(),
            length_normalized: e.length_normalized,
        })
    }
}
