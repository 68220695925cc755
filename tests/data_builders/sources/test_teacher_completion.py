"""A teacher is asked until an answer passes. Retries have the reason of the rejection; rejections are counted."""

import asyncio
from collections import Counter

import pytest
from source_factories import FunctionTeacher

from data_builders.sources.teacher_completion import ATTEMPTS, Problem, complete
from data_builders.teachers import REFUSED, Attempts, TeacherError, TeacherRefused, TeacherReply, TeacherRequest

REQUEST = TeacherRequest(system="s", user="Write.", max_tokens=9)


def has_an_x(text: str) -> Problem | None:
    return None if "x" in text else Problem("lacks an x", f"It has {len(text)} letters and no x.")


def run(teacher: FunctionTeacher) -> tuple[str | None, Counter[str], Counter[str]]:
    skipped: Counter[str] = Counter()
    tried = Attempts()
    return asyncio.run(complete("toy", teacher, REQUEST, has_an_x, skipped, tried)), skipped, tried.rejected


def test_the_first_valid_answer_is_cleaned_and_used() -> None:
    teacher = FunctionTeacher(lambda request: "\ufeff an x\r\n")
    assert run(teacher) == ("an x", Counter(), Counter())
    assert teacher.requests == [REQUEST]


def test_a_retry_has_the_reason_and_another_sample_number() -> None:
    replies = iter(["aaa", "bbb", "x"])
    teacher = FunctionTeacher(lambda request: next(replies))
    text, skipped, rejected = run(teacher)
    assert (text, skipped, rejected) == ("x", Counter(), Counter({"toy: lacks an x": 2}))
    first, second, third = teacher.requests
    assert first == REQUEST
    assert second.user == "Write.\n\nAn earlier answer was not accepted. It has 3 letters and no x. Write a new one."
    assert (second.sample, third.sample) == (0, 1)
    assert third.user == second.user
    assert len({request.model_dump_json() for request in teacher.requests}) == 3


@pytest.mark.parametrize(
    ("teacher", "kind"),
    [
        (FunctionTeacher(lambda request: "no"), "lacks an x"),
        (FunctionTeacher(lambda request: " \n"), "is empty"),
        (FunctionTeacher(lambda request: "x", finished=False), "was cut off"),
    ],
)
def test_cases_without_a_valid_answer_are_dropped_and_counted(teacher: FunctionTeacher, kind: str) -> None:
    text, skipped, rejected = run(teacher)
    assert text is None
    assert rejected == {f"toy: {kind}": ATTEMPTS}
    assert skipped == {f"toy: no answer accepted, the last {kind}": 1}
    assert len(teacher.requests) == ATTEMPTS


class Failing(FunctionTeacher):
    def __init__(self, error: TeacherError) -> None:
        super().__init__(lambda request: "")
        self.error = error

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        raise self.error


def test_a_refused_request_drops_its_case_and_other_errors_propagate() -> None:
    assert run(Failing(TeacherRefused("too long"))) == (None, Counter({f"toy: {REFUSED}": 1}), Counter())
    with pytest.raises(TeacherError, match="down"):
        run(Failing(TeacherError("down")))
