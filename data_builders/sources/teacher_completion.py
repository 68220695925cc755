"""Asking a teacher for a part of a case until an answer passes its check, at most `ATTEMPTS` times.

A retry tells the teacher why its last answer would not do. That makes it another ask, with an entry of its own in the
cache; where the same reason comes again, `sample` tells the asks apart.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from data_builders.sources.corpus_io import clean
from data_builders.teachers import Teacher, TeacherRefused, TeacherRequest

ATTEMPTS = 3


@dataclass(frozen=True)
class Problem:
    """Why an answer will not do: in a few fixed words for the count, and in a sentence for the teacher."""

    kind: str
    advice: str


CUT_OFF = Problem("was cut off", "It was longer than an answer may be and was cut off. Write a shorter one.")
EMPTY = Problem("is empty", "It was empty.")
Check = Callable[[str], Problem | None]


async def complete(
    name: str, teacher: Teacher, ask: TeacherRequest, check: Check, skips: Counter[str], rejected: Counter[str]
) -> str | None:
    """The first answer, cleaned, that passes `check`; None where none does, counted in `skips` under the source's name.

    Every rejected answer is counted in `rejected`. An ask that the teacher refuses costs this case only. Errors: any
    other TeacherError.
    """
    asked: Counter[str] = Counter()
    user, problem = ask.user, None
    for _ in range(ATTEMPTS):
        try:
            answer = await teacher.ask(ask.model_copy(update={"user": user, "sample": ask.sample + asked[user]}))
        except TeacherRefused:
            skips[f"{name}: refused by the teacher"] += 1
            return None
        text = clean(answer.text)
        problem = CUT_OFF if not answer.finished else check(text) if text else EMPTY
        if problem is None:
            return text
        rejected[f"{name}: {problem.kind}"] += 1
        asked[user] += 1
        user = f"{ask.user}\n\nAn earlier answer was not accepted. {problem.advice} Write a new one."
    assert problem is not None
    skips[f"{name}: no answer accepted, the last {problem.kind}"] += 1
    return None
