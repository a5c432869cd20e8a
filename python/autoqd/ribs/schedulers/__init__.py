"""Schedulers run emitters and archives together."""

from autoqd.ribs._not_offered import not_offered
from autoqd.ribs.schedulers._bandit_scheduler import BanditScheduler
from autoqd.ribs.schedulers._scheduler import Scheduler

BayesianOptimizationScheduler = not_offered("BayesianOptimizationScheduler", __name__)

__all__ = ["Scheduler", "BanditScheduler", "BayesianOptimizationScheduler"]
