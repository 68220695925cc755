"""Judges, one way of judging to a file. A judge is asked games and answers each of them once."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import run_sync
from judge_r1.core.records import Trajectory, Verdict
from judge_r1.core.registry import Registry
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.base import Sampling


class BadJudge(JudgeError):
    """A judge that cannot be made, or not be asked what it is asked."""


class PromptOverflow(NamedTuple):
    """A prompt of `tokens` where `limit` are read."""

    tokens: int
    limit: int


class JudgeOutput(NamedTuple):
    """One game. `verdict` is that of the candidates as shown; the judge gives it where it wrote no text. `confidence`
    is how sure it was of its comparison (`judge_r1.episode.confidence`), `usage` what the game has cost at an
    endpoint, `over` by
    how much its prompt was too long to be played."""

    request: JudgeRequest
    trajectory: Trajectory
    verdict: Verdict
    confidence: float | None = None
    usage: Mapping[str, float] | None = None
    overflow: PromptOverflow | None = None


class Judge(Protocol):
    """`name` says which weights or rule, `settings` everything else that an answer depends on, as JSON."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    def check(self, asks: Sequence[JudgeRequest]) -> None:
        """Errors: BadJudge, before anything is played, where these asks cannot be answered at all."""
        ...

    def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Every ask once, as the games finish, in any order."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A judge that has a thread of its own until it is closed."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class JudgeBuild:
    """What a judge is made of: the `backend` of its SPEC ("" where it has none), its options, the texts that may be
    searched, how ids are drawn, how many episodes run at a time, and the recipe that says how."""

    backend: str
    options: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    batch_size: int = 32
    recipe: Path | None = None


@dataclass(frozen=True)
class JudgeKind:
    """How a judge is made, and whether its SPEC must name a model. `served` makes the one for a server, which is asked
    by many at once and must not compute in their event loop; without it the judge is served in a thread."""

    about: str
    make: Callable[[JudgeBuild], Judge]
    needs_backend: bool = True
    served: Callable[[JudgeBuild], Judge] | None = None


def pairs_only_message(name: str, ask: JudgeRequest) -> str:
    """Why a judge of pairs cannot answer a benchmark's own prompt, and what to do."""
    return (
        f"{name} compares two candidates, but item {ask.item.item_id} (of {ask.item.group}) is a prompt of the "
        "benchmark's own: choose a part that holds pairs by --subset (`judge-r1 benchmarks` lists them; of "
        "LongJudgeBench SET:search), or a direct@MODEL judge, which answers prompts"
    )


def run_all(judge: Judge, requests: Sequence[JudgeRequest]) -> list[JudgeOutput]:
    """Every game, in the order of the asks. Errors: BadJudge where the judge leaves one out."""

    async def gather() -> dict[tuple[str, tuple[int, ...], int], JudgeOutput]:
        return {played.request.key: played async for played in judge.judge(requests)}

    judge.check(requests)
    found = run_sync(gather())
    if missing := [ask for ask in requests if ask.key not in found]:
        raise BadJudge(f"judge {judge.name!r} left item {missing[0].item.item_id} without an answer")
    return [found[ask.key] for ask in requests]


JUDGES: Registry[JudgeKind] = Registry("judge", "judge_r1.judges")
