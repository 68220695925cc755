"""The interface of judges, one way of judging per file: requests in, one output for each.

A new one is a file of this package that ends in `JUDGES.register(name)(JudgeKind(about, make))`. A judge that changes
what another one reads or says is a `JudgeWrapper`.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import run_sync
from judge_r1.core.memory import DocumentMemory
from judge_r1.core.progress import show_progress
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.registry import Registry
from judge_r1.core.verdicts import InvalidVerdict, Verdict
from judge_r1.judges.request import JudgeRequest, RequestKey, TokenLimits
from judge_r1.models.base import Sampling

if TYPE_CHECKING:
    from judge_r1.episode.case_retriever import CaseSearcher


SLOW_ENDPOINT = "raise timeout= of the judge, or lower --batch-size"
"""What to do about an endpoint that takes too long."""


class BadJudge(JudgeError):
    """The judge cannot be built, or cannot answer the requests."""


class NothingFits(BadJudge):
    """None of the prompts fits. A run over many nodes checks the requests in parts, so one part may have only such."""


class PromptOverflow(NamedTuple):
    """The length of a prompt and the limit that it exceeds, in tokens."""

    tokens: int
    limit: int


class PromptFit(NamedTuple):
    """What a check found: the number of prompts, how many of them do not fit, and the longest of these."""

    prompts: int
    too_long: int
    longest: PromptOverflow | None


class JudgeOutput(NamedTuple):
    """The answer to one request. `verdict` is on the candidates as shown. `confidence` is the probability of the
    preference (`judge_r1.episode.confidence`), `usage` the cost of the request at an endpoint. `overflow` is set if the
    prompt was too long to run. `memory` holds the notes of a judge that reads in sections, also where the verdict is
    invalid and there is no judgment to hold them."""

    request: JudgeRequest
    trajectory: Trajectory
    verdict: Verdict
    confidence: float | None = None
    usage: Mapping[str, float] | None = None
    overflow: PromptOverflow | None = None
    memory: tuple[DocumentMemory, ...] = ()


def usage_of(outputs: Iterable[JudgeOutput]) -> dict[str, float]:
    """The usage of several calls together. A local model's is counted from its token ids."""
    total: dict[str, float] = {}
    for output in outputs:
        shown = output.trajectory
        own = {"calls": 1, "input_tokens": len(shown.prompt_ids), "output_tokens": len(shown.token_ids)}
        for name, value in (own if output.usage is None else output.usage).items():
            total[name] = total.get(name, 0) + value
    return total


def joined_output(
    request: JudgeRequest, outputs: Sequence[JudgeOutput], verdict: Verdict, turns: Sequence[Turn]
) -> JudgeOutput:
    """The output of a judge that makes several calls for a request. A failure of the infrastructure in one of them
    ends the request."""
    # First of all: a verdict from the calls that succeeded would rest on a part of what the judge is to read.
    failed = next((out.trajectory.ended for out in outputs if out.trajectory.infrastructure_failed), None)
    ended = failed or (verdict.reason if isinstance(verdict, InvalidVerdict) else "answer")
    detail = next((out.trajectory.detail for out in outputs if out.trajectory.ended == ended), None)
    return JudgeOutput(request, Trajectory.without_ids(ended, turns, detail=detail), verdict, usage=usage_of(outputs))


class Judge(Protocol):
    """`name` identifies the weights or the rule; `settings` holds everything else that answers depend on, as JSON."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        """Raises: BadJudge, before any work is done, if these requests cannot be answered at all.

        Returns how many prompts fit, or None from a judge that does not count tokens. Single prompts that do not fit
        are counted; if none fits, the check raises."""
        ...

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Yields one output for each request, in the order in which they finish."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A judge that owns a thread until it is closed."""

    def close(self) -> None: ...


def close_all(*judges: object) -> None:
    """Closes the judges that need it."""
    for judge in judges:
        if isinstance(judge, Closable):
            judge.close()


class JudgeWrapper:
    """A judge around another one. A subclass changes the requests that the other judge gets (`shown`), or its outputs
    (`given`). `settings` are added to those of the other judge."""

    def __init__(self, judge: Judge, settings: Mapping[str, Any]) -> None:
        self._judge, self.name = judge, judge.name
        self.settings: dict[str, Any] = {**judge.settings, **settings}

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        return self._judge.check([self.shown(request) for request in requests])

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        shown = await asyncio.to_thread(lambda: [self.shown(request) for request in requests])  # may search for seconds
        # The output names the request as it was asked: results and traces know nothing of the wrapper's.
        asked = {request.key: request for request in requests}
        # A caller that stops early ends the judge's work now, and not when Python collects the generator.
        async with aclosing(self._judge.judge(shown)) as outputs:  # type: ignore[type-var]
            async for output in outputs:
                yield self.given(output)._replace(request=asked[output.request.key])

    def shown(self, request: JudgeRequest) -> JudgeRequest:
        return request

    def given(self, output: JudgeOutput) -> JudgeOutput:
        return output

    def close(self) -> None:
        close_all(self._judge)


@dataclass(frozen=True)
class JudgeBuild:
    """The inputs to build a judge: the `backend` of its SPEC ("" if it has none), its options, the texts that may be
    searched, the sampling, the number of concurrent episodes, and a recipe with the episode configuration. `limits` are
    the benchmark's: they replace those of a recipe, and options replace them. `searcher` None searches the case of each
    request."""

    backend: str
    options: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    batch_size: int = 32
    recipe: Path | None = None
    limits: TokenLimits = field(default_factory=TokenLimits)
    searcher: "type[CaseSearcher] | None" = None

    def __post_init__(self) -> None:
        temperature: Any = self.sampling.temperature
        seed: Any = self.sampling.seed
        batch_size: Any = self.batch_size
        if not isinstance(temperature, int | float) or not 0 <= temperature < math.inf:
            raise BadJudge(f"temperature must be a number from 0 on, not {temperature!r}")
        if not isinstance(seed, Integral):
            raise BadJudge(f"seed must be a whole number, not {seed!r}")
        if not isinstance(batch_size, Integral) or batch_size < 1:
            raise BadJudge(f"batch_size must be a whole number from 1 on, not {batch_size!r}")


@dataclass(frozen=True)
class JudgeKind:
    """A registered judge. `make` builds it for evaluation; `served` builds it for a server, where requests come
    concurrently and must not block the event loop. Without `served`, a judge that computes locally runs in a thread.
    `of_judge`: the backend is the SPEC of another judge; of `several`, their SPECs with `|` between them."""

    about: str
    make: Callable[[JudgeBuild], Judge]
    needs_backend: bool = True
    served: Callable[[JudgeBuild], Judge] | None = None
    of_judge: bool = False
    several: bool = False


def whole_number(judge: str, options: Mapping[str, str], name: str) -> int | None:
    """The option `name`, None if it is not given. Raises: BadJudge if it is not a whole number from 1 on."""
    value = options.get(name)
    if value is None:
        return None
    if not value.isdecimal() or not int(value):
        raise BadJudge(f"judge {judge!r}: {name} must be a whole number from 1 on, not {value!r}")
    return int(value)


def pairs_only_message(name: str, request: JudgeRequest) -> str:
    """The message for a judge of pairs that gets a benchmark's own prompt."""
    return (
        f"{name} compares two candidates, but item {request.item.item_id} (of {request.item.group}) is no pair: it has "
        "a prompt of its own: take a direct@MODEL judge, which answers prompts, or give pairs: `eval` chooses parts "
        "that hold them by --subset (`judge-r1 benchmarks` lists them; of LongJudgeBench SET:search), and `labels` "
        "reads them from columns a and b"
    )


def run_all(judge: Judge, requests: Sequence[JudgeRequest], *, progress: bool = False) -> list[JudgeOutput]:
    """All outputs, in the order of the requests. Raises: BadJudge if the judge leaves one out or answers one twice."""
    found: dict[RequestKey, JudgeOutput] = {}

    async def gather() -> None:
        with show_progress("judging", len(requests), shown=progress) as one_done:
            async for output in judge.judge(requests):
                if output.request.key in found:
                    raise BadJudge(f"judge {judge.name!r} answered item {output.request.item.item_id} twice")
                found[output.request.key] = output
                one_done()

    judge.check(requests)
    run_sync(gather())
    if missing := [request for request in requests if request.key not in found]:
        raise BadJudge(f"judge {judge.name!r} left item {missing[0].item.item_id} without an answer")
    return [found[request.key] for request in requests]


JUDGES: Registry[JudgeKind] = Registry("judge", "judge_r1.judges")
