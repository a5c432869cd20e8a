"""Emitters propose solutions and learn from what became of them."""

from autoqd.ribs._not_offered import not_offered
from autoqd.ribs.emitters._emitter_base import EmitterBase
from autoqd.ribs.emitters._evolution_strategy_emitter import EvolutionStrategyEmitter
from autoqd.ribs.emitters._gaussian_emitter import GaussianEmitter
from autoqd.ribs.emitters._genetic_algorithm_emitter import GeneticAlgorithmEmitter
from autoqd.ribs.emitters._gradient_arborescence_emitter import GradientArborescenceEmitter
from autoqd.ribs.emitters._gradient_operator_emitter import GradientOperatorEmitter
from autoqd.ribs.emitters._iso_line_emitter import IsoLineEmitter

BayesianOptimizationEmitter = not_offered("BayesianOptimizationEmitter", __name__)

__all__ = [
    "BayesianOptimizationEmitter",
    "EvolutionStrategyEmitter",
    "GaussianEmitter",
    "GeneticAlgorithmEmitter",
    "GradientArborescenceEmitter",
    "GradientOperatorEmitter",
    "IsoLineEmitter",
    "EmitterBase",
]
