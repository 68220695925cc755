"""Compares two answers by a judge in this process (a SPEC) or by a served one (the URL of `judge-r1 serve`)."""

import asyncio
import re
from dataclasses import dataclass
from itertools import count, cycle
from typing import Protocol

from judge_r1.client.async_client import AsyncClient, BadRequest
from judge_r1.core.case_store import CaseStore, CaseStoreFull
from judge_r1.core.endpoint import RequestRejected, RetriesExhausted
from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import gather_all
from judge_r1.core.principles import GENERAL
from judge_r1.core.text_check import BadText
from judge_r1.judges.base import JudgeBuild, close_all
from judge_r1.judges.panel import served_judge
from judge_r1.judges.result import request_of, result_of
from judge_r1.rewards.group import Outcome, first_win_probability, win_probability

SHARED = 8
"""Connections of one client. The pool of httpx looks at all its connections for each request."""
ONE_REQUEST = (BadRequest, BadText, CaseStoreFull, RequestRejected, RetriesExhausted)
"""Errors that concern one comparison. Others, such as a wrong key, would fail every comparison and are raised."""


@dataclass(frozen=True)
class Question:
    """What the answers answer: the prompt, the case that the judge may search, and the domain."""

    prompt: str
    context: str = ""
    domain: str = GENERAL


class PairJudge(Protocol):
    async def compare(self, question: Question, first: str, second: str) -> Outcome:
        """Raises: JudgeError if every comparison would fail."""
        ...

    async def aclose(self) -> None: ...


class LocalPairJudge:
    """The judge of a SPEC, with at most `concurrency` comparisons at a time."""

    def __init__(self, spec: str, concurrency: int) -> None:
        self._cases = CaseStore()
        self._judge = served_judge(spec, JudgeBuild("", texts=self._cases, batch_size=concurrency))
        self._slots, self._ids = asyncio.Semaphore(concurrency), count()

    async def compare(self, question: Question, first: str, second: str) -> Outcome:
        async with self._slots:
            try:
                request = request_of(
                    f"{next(self._ids)}", self._cases, reasoning_a=first, reasoning_b=second, context=question.context,
                    decision=question.prompt, domain=question.domain,
                )  # fmt: skip
                with self._cases.pin(request.item.case_id):  # other comparisons store cases meanwhile
                    [output] = [output async for output in self._judge.judge([request])]
            except ONE_REQUEST as error:
                return None, str(error)
        probability = first_win_probability(output)
        return probability, result_of(output).ended if probability is None else None

    async def aclose(self) -> None:
        close_all(self._judge)


class ServedPairJudge:
    """The judge of a server. Its clients retry lost connections and full queues."""

    def __init__(self, url: str, concurrency: int) -> None:
        self._url = url
        self._clients = [AsyncClient(url, concurrency=SHARED) for _ in range(-(-concurrency // SHARED))]
        self._slots, self._turns = asyncio.Semaphore(concurrency), cycle(self._clients)

    async def check(self) -> None:
        """Raises: JudgeError if no server answers at the URL."""
        try:
            await self._clients[0].check()
        except RetriesExhausted as error:
            await self.aclose()
            raise JudgeError(
                f"no judge answers at {self._url} ({error}): start `judge-r1 serve` before the training, or correct "
                "the URL"
            ) from None

    async def compare(self, question: Question, first: str, second: str) -> Outcome:
        pair = {"reasoning_a": first, "reasoning_b": second, "decision": question.prompt, "domain": question.domain}
        pair |= {"context": question.context} if question.context else {}
        async with self._slots:
            try:
                found = await next(self._turns).judge(**pair)
            except ONE_REQUEST as error:
                return None, str(error)
        return win_probability(found.winner, found.confidence), found.ended if found.winner is None else None

    async def aclose(self) -> None:
        await gather_all([client.aclose() for client in self._clients])


def open_pair_judge(judge: str, concurrency: int) -> PairJudge:
    """The judge of a URL or a SPEC. Raises: JudgeError."""
    if re.match(r"[\w.-]+:\d+(/|$)", judge):
        raise JudgeError(f"judge {judge!r}: the URL of a served judge begins with http:// or https://")
    return ServedPairJudge(judge, concurrency) if is_url(judge) else LocalPairJudge(judge, concurrency)


def is_url(judge: str) -> bool:
    """Whether a judge is named by the URL of a server, and not by a SPEC."""
    return judge.startswith(("http://", "https://"))
