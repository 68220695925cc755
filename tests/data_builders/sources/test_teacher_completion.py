"""A teacher is asked until an answer passes, told why the last one did not, and every rejection is counted."""

import asyncio
from collections import Counter

import pytest
from source_factories import ToyTeacher

from data_builders.sources.teacher_completion import ATTEMPTS, Problem, complete
from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest

ASK = TeacherRequest(system="s", user="Write.", max_tokens=9)


def has_an_x(text: str) -> Problem | None:
    return None if "x" in text else Problem("lacks an x", f"It has {len(text)} letters and no x.")


def run(teacher: ToyTeacher) -> tuple[str | None, Counter[str], Counter[str]]:
    skips: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    return asyncio.run(complete("toy", teacher, ASK, has_an_x, skips, rejected)), skips, rejected


def test_the_first_good_answer_is_taken_cleaned() -> None:
    teacher = ToyTeacher(lambda request: "\ufeff an x\r\n")
    assert run(teacher) == ("an x", Counter(), Counter())
    assert teacher.requests == [ASK]


def test_a_retry_holds_the_reason_and_asks_alike_are_told_apart() -> None:
    replies = iter(["aaa", "bbb", "x"])
    teacher = ToyTeacher(lambda request: next(replies))
    text, skips, rejected = run(teacher)
    assert (text, skips, rejected) == ("x", Counter(), Counter({"toy: lacks an x": 2}))
    first, second, third = teacher.requests
    assert first == ASK
    assert second.user == "Write.\n\nAn earlier answer was not accepted. It has 3 letters and no x. Write a new one."
    assert (second.sample, third.sample) == (0, 1)
    assert third.user == second.user
    assert len({request.model_dump_json() for request in teacher.requests}) == 3


@pytest.mark.parametrize(
    ("teacher", "kind"),
    [
        (ToyTeacher(lambda request: "no"), "lacks an x"),
        (ToyTeacher(lambda request: " \n"), "is empty"),
        (ToyTeacher(lambda request: "x", finished=False), "was cut off"),
    ],
)
def test_what_is_never_good_costs_the_case_and_is_counted(teacher: ToyTeacher, kind: str) -> None:
    text, skips, rejected = run(teacher)
    assert text is None
    assert rejected == {f"toy: {kind}": ATTEMPTS}
    assert skips == {f"toy: no answer accepted, the last {kind}": 1}
    assert len(teacher.requests) == ATTEMPTS


class Failing(ToyTeacher):
    def __init__(self, error: TeacherError) -> None:
        super().__init__(lambda request: "")
        self.error = error

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        raise self.error


def test_a_refused_ask_costs_its_case_and_other_errors_go_up() -> None:
    assert run(Failing(TeacherRefused("too long"))) == (None, Counter({"toy: refused by the teacher": 1}), Counter())
    with pytest.raises(TeacherError, match="down"):
        run(Failing(TeacherError("down")))
