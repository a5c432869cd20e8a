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
    listen: _Listen,
) -> tuple[str, str]: ...
def resume(
    path: _Path,
    iterations: int | None,
    threads: int | None,
    checkpoint_every: int | None,
    max_seconds: float | None,
    max_env_steps: int | None,
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
