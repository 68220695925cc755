"""Ways to get tokens. A token backend drives episodes to their end with a model that returns ids."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from judge_r1.core.records import Evidence
from judge_r1.episode.machine import Episode

SearchFunction = Callable[[Sequence[tuple[int, str]]], list[list[Evidence]]]
"""Searches of many episodes at once: (index of the episode, query) -> passages, in the same order."""


@dataclass(frozen=True)
class Sampling:
    """How ids are drawn: `temperature` 0 is greedy; the same seed draws the same ids, whatever is played beside."""

    temperature: float = 0.0
    seed: int = 0


class TokenBackend(Protocol):
    """Token in, token out: feeds each episode the ids its model samples by `episode.seed`, until all have finished."""

    def run_episodes(self, episodes: Sequence[Episode], search: SearchFunction, temperature: float) -> None: ...
