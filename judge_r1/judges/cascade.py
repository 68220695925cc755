"""The cascade: a cheap judge answers where its confidence is high enough, else the next one does.

`cascade:threshold=0.9(A|B)` hands on what A answers with a confidence below 0.9, without one, or not at all. Calibrate
A first: an answer of a confidence c should be right with probability c (`judge-r1 calibrate`). A failure of the
infrastructure is not handed on: else the expensive judge would answer for a server that is down.
"""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import Field

from judge_r1.core.spec import split_members
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.files.yaml_config import ConfigModel, read_options
from judge_r1.judges.base import (
    JUDGES,
    Judge,
    JudgeBuild,
    JudgeKind,
    JudgeOutput,
    NothingFits,
    PromptFit,
    close_all,
    usage_of,
)
from judge_r1.judges.panel import make_judge, served_judge
from judge_r1.judges.request import JudgeRequest, RequestKey

_log = logging.getLogger(__name__)
HANDED_ON = "handed_on"
"""The usage that counts how often a request was handed on."""


_SILENT = 8
"""Answers without a confidence after which a judge is said to state none."""


class CascadeJudge:
    """Asks `members` in order until one is at least `threshold` confident; the last one's answer always counts."""

    def __init__(self, members: Sequence[Judge], threshold: float) -> None:
        self._members, self._threshold = members, threshold
        self._silent = dict.fromkeys((judge.name for judge in members), 0)
        self.name = f"cascade({'|'.join(judge.name for judge in members)})"
        judges = [{"judge": judge.name, **judge.settings} for judge in members]
        self.settings: dict[str, Any] = {"threshold": threshold, "members": judges}

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        """The fit of the last judge, who gets what does not fit the others."""
        *others, last = self._members
        for judge in others:
            with suppress(NothingFits):
                judge.check(requests)
        return last.check(requests)

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        before: dict[RequestKey, JudgeOutput] = {}
        for number, judge in enumerate(self._members, 1):
            handed: list[JudgeRequest] = []
            async with aclosing(judge.judge(requests)) as outputs:  # type: ignore[type-var]
                async for output in outputs:
                    key = output.request.key
                    if number < len(self._members):
                        self._warn(judge.name, output)
                    if key in before:
                        paid = usage_of([before.pop(key), output])
                        output = output._replace(usage=paid | {HANDED_ON: float(number - 1)})
                    if number == len(self._members) or self._answers(output):
                        yield output
                    else:
                        before[key] = output
                        handed.append(output.request)
            if not (requests := handed):
                return

    def _warn(self, name: str, output: JudgeOutput) -> None:
        """Says once that a judge states no confidence, so that no threshold lets its answers through. Some answers,
        such as ties, have none."""
        if self._silent[name] < 0 or isinstance(output.verdict, InvalidVerdict):
            return
        self._silent[name] = -1 if output.confidence is not None else self._silent[name] + 1
        if self._silent[name] == _SILENT:
            self._silent[name] = -1
            _log.warning(
                "%s: %s states no confidence, so the next judge answers everything: an endpoint states one with "
                "logprobs=true; most rules state none", self.name, name,
            )  # fmt: skip

    def _answers(self, output: JudgeOutput) -> bool:
        if output.trajectory.infrastructure_failed:
            return not output.trajectory.unanswered
        sure = output.confidence is not None and output.confidence >= self._threshold
        return sure and not isinstance(output.verdict, InvalidVerdict)

    def close(self) -> None:
        close_all(*self._members)


class CascadeOptions(ConfigModel):
    threshold: float = Field(ge=0, le=1)


def _make(build: JudgeBuild, maker: Callable[[str, JudgeBuild], Judge] = make_judge) -> Judge:
    own = read_options(CascadeOptions, build.options, "judge cascade, as in cascade:threshold=0.9(SPEC|SPEC)")
    inner = replace(build, backend="", options=())
    return CascadeJudge([maker(member, inner) for member in split_members(build.backend)], own.threshold)


JUDGES.register("cascade")(
    JudgeKind(
        "other judges in order, each where those before are less confident than threshold=0.9",
        _make,
        served=partial(_make, maker=served_judge),
        of_judge=True,
        several=True,
    )
)
