//! Conditions on several values together.

use super::rules::{CELLS_MAX, Check, count, finite, positive, require};
use super::{
    ArchiveKind, ArchiveLayout, Auto, Bounds, Config, ConfigError, Floor, FloorWord, MeasuresOf, Settings,
};

/// The values that may be left open, and those that may be written in more than one way.
pub(super) struct Known {
    pub sigma0: Vec<f64>,
    pub layout: ArchiveLayout,
    pub threshold_min: f64,
    pub floor: Option<f64>,
    pub qd_offset: f64,
    pub bandwidth: f64,
}

fn known<T: Clone>(key: &'static str, value: &Auto<T>) -> Check<T> {
    value.value().ok_or(ConfigError::Incomplete { key })
}

/// Where an archive of learned measures ends: their 5 % and 95 % quantiles are calibrated to -1 and 1.
pub(super) const LEARNED_BOUND: f64 = 1.2;

impl Config {
    /// Checks a configuration in which nothing that depends on the task is left open.
    pub(super) fn check(&self) -> Check<Known> {
        self.check_fields()?;
        self.check_dimension(MeasuresOf::Method)?;
        self.check_scales()?;
        self.check_racing()?;
        Ok(Known {
            sigma0: self.check_sigma0()?,
            threshold_min: self.check_threshold()?,
            floor: self.check_floor()?,
            qd_offset: self.check_offset()?,
            layout: self.check_layout()?,
            bandwidth: self.check_bandwidth()?,
        })
    }

    pub(super) fn check_dimension(&self, measures: MeasuresOf) -> Check {
        let remedy = match measures {
            MeasuresOf::Task => "this task has no hand-designed measures; use another method",
            MeasuresOf::Method => "the paper uses 4",
        };
        let dimension = self.measures_dimension;
        let ok = (1..=64).contains(&dimension);
        require(ok, "measures_dimension", dimension, "it must be from 1 to 64", remedy)
    }

    fn check_sigma0(&self) -> Check<Vec<f64>> {
        let written = known("sigma0", &self.sigma0)?;
        let sigma0 = written.expand(self.emitters).map_err(|got| ConfigError::Invalid {
            key: "sigma0",
            value: format!("a list of {got}"),
            allowed: format!("there are {} emitters", self.emitters),
            remedy: "give one number per emitter, a single number, or \"auto\"".to_owned(),
        })?;
        sigma0.iter().try_for_each(|s| positive("sigma0", s))?;
        Ok(sigma0)
    }

    fn check_threshold(&self) -> Check<f64> {
        let (alpha, threshold) = (self.learning_rate, known("threshold_min", &self.threshold_min)?);
        let ok = threshold.is_finite() || (threshold == f64::NEG_INFINITY && alpha == 1.0);
        let allowed = "it must be finite, or -inf together with learning_rate = 1";
        require(ok, "threshold_min", threshold, allowed, "choose the lowest objective that should count")?;
        Ok(threshold)
    }

    fn check_floor(&self) -> Check<Option<f64>> {
        let floor = match self.floor {
            Floor::Word(FloorWord::None) => return Ok(None),
            Floor::Word(FloorWord::ObjectiveMin) => return Err(ConfigError::Incomplete { key: "floor" }),
            Floor::Value(floor) => floor,
        };
        finite("floor", &floor)?;
        let allowed = "dominated novelty search has no floor";
        require(self.archive != ArchiveKind::Dns, "floor", floor, allowed, "use \"none\"")?;
        Ok(Some(floor))
    }

    fn check_offset(&self) -> Check<f64> {
        let offset = known("qd_offset", &self.qd_offset)?;
        finite("qd_offset", &offset)?;
        Ok(offset)
    }

    fn check_bandwidth(&self) -> Check<f64> {
        let bandwidth = known("embedding.bandwidth", &self.embedding.bandwidth)?;
        positive("embedding.bandwidth", &bandwidth)?;
        Ok(bandwidth)
    }

    fn check_scales(&self) -> Check {
        let (scales, features) = (&self.embedding.scales, self.embedding.features);
        let allowed = "there can be no more scales than features";
        require(scales.len() <= features, "embedding.scales", scales, allowed, "raise embedding.features")
    }

    fn check_racing(&self) -> Check {
        let (after, episodes) = (self.racing.after, self.episodes);
        if after == 0 {
            return Ok(());
        }
        let allowed = format!(
            "candidates may be stopped after 2 or more of the {episodes} episodes, and before the last"
        );
        require(
            (2..episodes).contains(&after),
            "racing.after",
            after,
            &allowed,
            "use 0 to run all, or raise episodes",
        )?;
        let allowed = "racing compares with the thresholds of a grid's cells";
        let ok = self.archive == ArchiveKind::Grid;
        require(ok, "racing.after", after, allowed, "use archive = \"grid\", or 0 to run all episodes")
    }

    fn check_layout(&self) -> Check<ArchiveLayout> {
        let bounds = self.check_bounds()?;
        match self.archive {
            ArchiveKind::Grid => Ok(ArchiveLayout::Grid { cells: self.check_cells()?, bounds }),
            ArchiveKind::Cvt => {
                self.cvt.check_fields()?;
                let (cells, samples) = (self.cvt.cells, self.cvt.samples);
                let allowed = "there must be at least as many samples as cells";
                require(samples >= cells, "cvt.samples", samples, allowed, "10 per cell is a good number")?;
                Ok(ArchiveLayout::Cvt { cells, samples, bounds })
            }
            ArchiveKind::Dns => {
                self.dns.check_fields()?;
                let (size, k, space) = (self.dns.size, self.dns.k, self.dns.space);
                count(size)("dns.k", &k)?;
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
        cells.iter().try_for_each(|c| count(CELLS_MAX)("cells", c))?;
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
                positive("bounds", &h)?;
                vec![[-h, h]; dimension]
            }
            Bounds::Each(list) => list,
            Bounds::Follow(_) => vec![[-LEARNED_BOUND, LEARNED_BOUND]; dimension],
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
}
