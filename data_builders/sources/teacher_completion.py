"""Asks a teacher for a part of a case until an answer passes its check, at most `ATTEMPTS` times.

A retry gives the reason for the rejection, which makes it a new request in the cache. If the same reason occurs again,
`sample` distinguishes the requests.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from data_builders.sources.corpus_io import clean
from data_builders.teachers import REFUSED, Attempts, Teacher, TeacherRefused, TeacherRequest

ATTEMPTS = 3


@dataclass(frozen=True)
class Problem:
    """Why an answer is rejected: `kind` for the counts, `advice` for the teacher."""

    kind: str
    advice: str


CUT_OFF = Problem("was cut off", "It was longer than an answer may be and was cut off. Write a shorter one.")
EMPTY = Problem("is empty", "It was empty.")
Check = Callable[[str], Problem | None]


async def complete(
    name: str, teacher: Teacher, request: TeacherRequest, check: Check, skipped: Counter[str], tried: Attempts
) -> str | None:
    """The first answer, cleaned, that passes `check`; None, counted in `skipped`, if there is none.

    Every answer is counted in `tried`. If the teacher rejects the request, only this case is lost. Raises:
    any other TeacherError.
    """
    repeats: Counter[str] = Counter()
    user, problem = request.user, None
    for _ in range(ATTEMPTS):
        try:
            reply = await teacher.ask(
                request.model_copy(update={"user": user, "sample": request.sample + repeats[user]})
            )
        except TeacherRefused:
            skipped[f"{name}: {REFUSED}"] += 1
            return None
        tried.answers += 1
        text = clean(reply.answer)
        problem = CUT_OFF if not reply.finished else check(text) if text else EMPTY
        if problem is None:
            tried.used += 1
            return text
        tried.reject(f"{name}: {problem.kind}", "a part of the case", reply.answer)
        repeats[user] += 1
        user = f"{request.user}\n\nAn earlier answer was not accepted. {problem.advice} Write a new one."
    assert problem is not None
    skipped[f"{name}: no answer accepted, the last {problem.kind}"] += 1
    return None
