"""What the answers of a teacher came to, and requests that are made at the same time."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from data_builders.teachers import BatchPending, Teacher, TeacherRefused, TeacherReply, TeacherRequest

R = TypeVar("R")
REFUSED = "the teacher refused the request"


class NoAnswer(Exception):
    """No attempt gave an answer of the right form, or the teacher refuses."""


@dataclass
class Attempts:
    """Counts answers, those of which something was used, and rejections by reason. `rejected_answer` is the first
    answer of which nothing was used, and what it was asked for."""

    answers: int = 0
    used: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    rejected_answer: tuple[str, str] | None = None

    def reject(self, reason: str, asked: str, answer: str) -> None:
        """Count an answer of which nothing is used."""
        self.rejected[reason] += 1
        self.rejected_answer = self.rejected_answer or (asked, answer)


async def together(work: Iterable[Awaitable[R]]) -> list[R]:
    """The results of concurrent work, in order.

    Raises: the first error, after all work has ended, so that a batch has every request. `BatchPending` comes after the
    errors that end a build, and `NoAnswer`, which costs a record, after both.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    errors = [one for one in results if isinstance(one, BaseException)]
    if errors:
        raise min(errors, key=lambda error: (isinstance(error, NoAnswer), isinstance(error, BatchPending)))
    return [one for one in results if not isinstance(one, BaseException)]


async def ask_all(teacher: Teacher, requests: Iterable[TeacherRequest]) -> list[TeacherReply | None]:
    """The replies to requests that are made at the same time; None for one that is refused. Raises: as `together`."""

    async def ask(request: TeacherRequest) -> TeacherReply | None:
        try:
            return await teacher.ask(request)
        except TeacherRefused:
            return None

    return await together(map(ask, requests))
