"""Rationales for the warm-up, one file a writer."""

from collections.abc import Callable, Generator, Sequence

from data_builders.sources import SOURCES, WORLDS
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.registry import Registry
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.config import EpisodeConfig

Rationale = Generator[str, Sequence[Evidence], None]
"""Yields the judge's text up to a search or a call and receives the passages shown, which may be none. The last yield
has no such action. A rationale that returns earlier has given up."""
Writer = Callable[[Case, ReasoningPair, EpisodeConfig], Rationale]
"""(case, pair, episode configuration) -> the judge's thoughts and searches, without the answer."""

WRITERS: Registry[Writer] = Registry("rationale writer", "data_builders.rationales", WORLDS)


def writer_for(case: Case) -> Writer:
    """The writer for the texts of a case's source; the one for prose if the source is unknown."""
    return WRITERS.get(SOURCES.get(case.source).operators if case.source in SOURCES else "text")
