"""A source yields cases, or drafts that a teacher completes, in order and up to the limit."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import make_case
from source_factories import FunctionTeacher, gather

from data_builders.sources import SOURCES, Draft, Source, items, taught
from data_builders.sources.corpus_io import SourceError
from data_builders.teachers import Attempts, BudgetSpent, Teacher, TeacherError, TeacherRequest
from judge_r1.core.records import Case


def numbered_source() -> Source:
    """Drafts 0 to 99 with one teacher request each; every seventh is skipped."""

    def draft(number: int) -> Draft:
        async def run(teacher: Teacher, skipped: Counter[str], tried: Attempts) -> Case | None:
            answer = await teacher.ask(TeacherRequest(system="", user=f"case {number}", max_tokens=9))
            if number % 7:
                return make_case(f"case {number}.", reference=answer.text)
            skipped["seven"] += 1
            return None

        return run

    def drafts(path: Path | None, skipped: Counter[str]) -> Iterator[Draft]:
        return map(draft, range(100))

    return taught("toy", drafts, help="toy")


@pytest.mark.parametrize("name", ["pilot", "deepreview"])
def test_a_source_with_drafts_requires_a_teacher(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"source '{name}' needs a teacher .* teacher=chat@URL#MODEL"):
        items(SOURCES.get(name), tmp_path, None, 0, Counter(), None)


def test_limit_bounds_the_requests_and_corpus_order_is_kept() -> None:
    teacher = FunctionTeacher(lambda request: "fine")
    found, skipped, _ = gather(numbered_source(), None, teacher, limit=9)
    assert [request.user for request in teacher.requests] == [f"case {n}" for n in range(9)]
    assert [case.context for case in found] == [f"case {n}." for n in (1, 2, 3, 4, 5, 6, 8)]
    assert skipped == {"seven": 2}


def test_teacher_errors_propagate() -> None:
    def reply(request: TeacherRequest) -> str:
        if request.user == "case 3":
            raise BudgetSpent("the budget is spent")
        return "fine"

    with pytest.raises(TeacherError, match="the budget is spent"):
        gather(numbered_source(), None, FunctionTeacher(reply))
