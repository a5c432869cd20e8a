"""The native part of autoqd; use the package `autoqd` instead."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

_Path = str | PathLike[str]
_Listen = Callable[[str, dict[str, Any]], bool]
_Episode = tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.float64], bool]

def main(arguments: Sequence[str]) -> int: ...
def command(arguments: Sequence[_Path]) -> str: ...
def run(
    preset: str | None,
    config: _Path | None,
    settings: dict[str, Any],
    out: _Path | None,
    max_seconds: float | None,
    max_env_steps: int | None,
    engine: tuple[str | None, str | None, bool, int | None, float | None],
    listen: _Listen,
) -> tuple[str, str]: ...
def resume(
    path: _Path,
    iterations: int | None,
    threads: int | None,
    checkpoint_every: int | None,
    max_seconds: float | None,
    max_env_steps: int | None,
    engine: tuple[str | None, str | None, bool, int | None, float | None],
    listen: _Listen,
) -> tuple[str, str]: ...
def gif(frames: NDArray[np.uint8], rate: float) -> bytes: ...

class Policy:
    spec: str
    parameters: NDArray[np.float64]
    observation_size: int
    action_size: int
    action_bounds: tuple[NDArray[np.float64], NDArray[np.float64]]
    def __init__(self, spec: str, parameters: Sequence[float]) -> None: ...
    def act(self, observations: NDArray[np.float64]) -> NDArray[np.float32]: ...

class Reader:
    task: str
    method: str
    seed: int | None
    folder: str | None
    config: dict[str, Any] | None
    def __init__(self, path: _Path) -> None: ...
    def columns(self) -> dict[str, NDArray[Any]]: ...
    def policy(self, id: int | None = None) -> tuple[int, Policy]: ...
    def frames(
        self,
        id: int | None,
        rate: float,
        seconds: float,
        width: int,
        height: int,
        dark: bool,
        friction_scale: float,
        mass_scale: float,
    ) -> tuple[NDArray[np.uint8], float]: ...

class Search:
    iteration: int
    config: dict[str, Any]
    def __init__(
        self, facts: Mapping[str, Any], preset: str | None, config: _Path | None, settings: dict[str, Any]
    ) -> None: ...
    @staticmethod
    def load(facts: Mapping[str, Any], state: bytes) -> Search: ...
    def save(self) -> bytes: ...
    def ask(self) -> NDArray[np.float64]: ...
    def seeds(self) -> NDArray[np.uint64]: ...
    def tell(
        self,
        objectives: Sequence[float] | None,
        measures: Sequence[Sequence[float]] | None,
        episodes: Sequence[Sequence[_Episode]],
    ) -> dict[str, Any]: ...
    def policy(self, parameters: Sequence[float]) -> Policy: ...
    def columns(self) -> dict[str, NDArray[Any]]: ...
    def stats(self) -> dict[str, Any]: ...

class Answerer:
    def __init__(self, task: str, facts: Mapping[str, Any], policy: str) -> None: ...
    def answer(self, request: bytes) -> bytes: ...

class JobAnswerer:
    def __init__(self, job: bytes, folder: _Path) -> None: ...
    def canary(self) -> str: ...
    def answer(self, request: bytes) -> bytes: ...

def canary_digests() -> list[tuple[str, str]]: ...

class VectorWorlds:
    def __init__(
        self,
        task: str,
        physics: str,
        num_envs: int,
        num_threads: int,
        autoreset: str,
        max_episode_steps: int | None,
    ) -> None: ...
    def facts(self) -> dict[str, Any]: ...
    def reset(
        self,
        seeds: Sequence[int | bool | None],
        observations: NDArray[Any],
        infos: NDArray[np.float64],
        fresh: NDArray[np.bool_],
    ) -> None: ...
    def step(
        self,
        actions: NDArray[Any],
        observations: NDArray[Any],
        rewards: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        infos: NDArray[np.float64],
        fresh: NDArray[np.bool_],
    ) -> int: ...
    def last(self, observations: NDArray[Any], infos: NDArray[np.float64], ended: NDArray[np.bool_]) -> None: ...
    def diverged(self, out: NDArray[np.bool_]) -> None: ...
    def close(self) -> None: ...

class SingleWorld:
    def __init__(self, task: str) -> None: ...
    def facts(self) -> dict[str, Any]: ...
    def reset(self, seed: int | None, observation: NDArray[np.float64]) -> list[float]: ...
    def step(
        self, action: NDArray[Any], observation: NDArray[np.float64]
    ) -> tuple[float, bool, bool, bool, list[float]]: ...
    def render(self, width: int, height: int) -> NDArray[np.uint8]: ...
    def close(self) -> None: ...

class Embedding:
    def __init__(
        self,
        weights: NDArray[np.float64],
        phases: NDArray[np.float64],
        mean: NDArray[np.float64],
        std: NDArray[np.float64],
        gamma: float,
        length_normalized: bool,
    ) -> None: ...
    def psi(self, episodes: Sequence[tuple[NDArray[np.float64], NDArray[np.float32]]]) -> NDArray[np.float64]: ...

class AffineMap:
    def __init__(self, *parts: Any) -> None: ...
    def parts(self) -> tuple[Any, ...]: ...
    def map(self, embeddings: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def aligned(self, previous: AffineMap) -> AffineMap: ...

def sample_features(
    inputs: int, dimension: int, bandwidth: float | None, orthogonal: bool, scales: Sequence[float], seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def statistics(
    episodes: Sequence[NDArray[np.float64]], size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def distances(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]: ...
def fit_cwpca(
    embeddings: NDArray[np.float64],
    objectives: NDArray[np.float64],
    measures: int,
    weighted: bool,
    quantiles: tuple[float, float],
    flat_range: float,
) -> AffineMap: ...
def vendi(embeddings: NDArray[np.float64], gamma: float) -> tuple[float, float, float]: ...
def vendi_cosine(embeddings: NDArray[np.float64]) -> float: ...
def vendi_kernel(kernel: NDArray[np.float64]) -> float: ...
def vendi_bandwidth(populations: Sequence[NDArray[np.float64]], seed: int) -> float | None: ...
def toeplitz_policy(
    observation_size: int,
    action_low: Sequence[float],
    action_high: Sequence[float],
    hidden: Sequence[int],
    parameters: Sequence[float] | None,
) -> tuple[int, Policy | None]: ...
