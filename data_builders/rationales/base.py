"""Who writes the rationales of the warm-up: one file for each kind of text."""

from collections.abc import Callable, Generator, Sequence

from data_builders.sources import SOURCES
from judge_r1.core.records import Case, Evidence, ReasoningPair
from judge_r1.core.registry import Registry
from judge_r1.episode.config import EpisodeConfig

Rationale = Generator[str, Sequence[Evidence], None]
"""Yields what the judge writes up to a search and is sent the passages that it was shown, which may be none. The last
yield asks for no search; a rationale that returns before it has given up."""
Writer = Callable[[Case, ReasoningPair, EpisodeConfig], Rationale]
"""(case, pair, episode configuration) -> what the judge thinks and searches, without the answer."""

WRITERS: Registry[Writer] = Registry("rationale writer", "data_builders.rationales")


def writer_for(case: Case) -> Writer:
    """The writer that fits the texts of a case's source; prose where the source is not one of ours."""
    return WRITERS.get(SOURCES.get(case.source).operators if case.source in SOURCES.names() else "text")
