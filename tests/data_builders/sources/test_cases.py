"""What a source offers: cases that are read, or drafts that a teacher completes, in order and no more than wanted."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories import make_case
from source_factories import ToyTeacher, gather

from data_builders.sources import SOURCES, Draft, Source, items, taught
from data_builders.sources.corpus_io import SourceError
from data_builders.teachers import BudgetSpent, Teacher, TeacherError, TeacherRequest
from judge_r1.core.records import Case


def numbered_source() -> Source:
    """Drafts 0 to 99 that ask the teacher once; every seventh is no case."""

    def draft(number: int) -> Draft:
        async def run(teacher: Teacher, skips: Counter[str], rejected: Counter[str]) -> Case | None:
            answer = await teacher.ask(TeacherRequest(system="", user=f"case {number}", max_tokens=9))
            if number % 7:
                return make_case(f"case {number}.", reference=answer.text)
            skips["seven"] += 1
            return None

        return run

    def drafts(path: Path | None, skips: Counter[str]) -> Iterator[Draft]:
        return map(draft, range(100))

    return taught("toy", drafts, help="toy")


def test_a_source_without_drafts_is_read_and_asks_no_teacher() -> None:
    source = SOURCES.get("mini")
    teacher = ToyTeacher(lambda request: "fine")
    assert gather(source, None, teacher, limit=5)[0] == list(source.read(None, 5, 0, Counter()))
    assert not teacher.requests


@pytest.mark.parametrize("name", ["pilot", "deepreview"])
def test_a_source_with_drafts_says_that_it_needs_a_teacher(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"source '{name}' needs a teacher .* --teacher chat:URL#MODEL"):
        items(SOURCES.get(name), tmp_path, None, 0, Counter(), None)


def test_limit_bounds_what_is_asked_and_the_order_is_the_corpus_s() -> None:
    teacher = ToyTeacher(lambda request: "fine")
    found, skips, _ = gather(numbered_source(), None, teacher, limit=9)
    assert [request.user for request in teacher.requests] == [f"case {n}" for n in range(9)]
    assert [case.context for case in found] == [f"case {n}." for n in (1, 2, 3, 4, 5, 6, 8)]
    assert skips == {"seven": 2}


def test_a_teacher_that_cannot_go_on_ends_it() -> None:
    def reply(request: TeacherRequest) -> str:
        if request.user == "case 3":
            raise BudgetSpent("the budget is spent")
        return "fine"

    with pytest.raises(TeacherError, match="the budget is spent"):
        gather(numbered_source(), None, ToyTeacher(reply))
