"""A source gives cases, or drafts that a teacher completes."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from source_toys import ToyTeacher, gather
from toys import make_case

from data_builders.sources import SOURCES, Draft, Source, completed, items, taught
from data_builders.sources.errors import SourceError
from data_builders.teachers import Ask, Teacher
from judge_r1.records import Case

TEACHER = ToyTeacher(lambda ask: "fine")


def numbered_source() -> Source:
    """Drafts 0 to 99 that ask the teacher once; every seventh comes to nothing."""

    def draft(number: int) -> Draft:
        async def run(teacher: Teacher, skips: Counter[str], rejected: Counter[str]) -> Case | None:
            answer = await teacher.ask(Ask(system="", user=f"case {number}", max_tokens=9))
            return make_case(f"case {number}.", reference=answer.text) if number % 7 else None

        return run

    def drafts(path: Path | None, skips: Counter[str]) -> Iterator[Draft]:
        for number in range(100):
            yield draft(number)

    return taught("toy", drafts, help="toy")


def test_a_source_without_drafts_is_read_and_needs_no_teacher() -> None:
    source = SOURCES.get("mini")
    assert not source.needs_teacher
    assert gather(source, None, limit=5)[0] == list(source.read(None, 5, 0, Counter()))


@pytest.mark.parametrize("name", ["pilot", "deepreview"])
def test_a_source_with_drafts_says_that_it_needs_a_teacher(name: str, tmp_path: Path) -> None:
    source = SOURCES.get(name)
    assert source.needs_teacher
    with pytest.raises(SourceError, match=rf"source '{name}' needs a teacher .* --teacher chat:URL#MODEL"):
        gather(source, tmp_path)
    with pytest.raises(SourceError, match="needs a teacher"):
        source.read(tmp_path, None, 0, Counter())


def test_limit_bounds_what_is_asked() -> None:
    teacher = ToyTeacher(lambda ask: "fine")
    found, _, _ = gather(numbered_source(), None, teacher, limit=8)
    assert len(teacher.asks) == 8
    assert [case.context for case in found] == [f"case {n}." for n in range(1, 7)]


def test_items_are_cases_or_drafts_and_both_are_completed() -> None:
    skips: Counter[str] = Counter()

    async def run(source: Source, teacher: Teacher | None) -> list[Case | None]:
        found = items(source, None, 3, 0, skips, teacher)
        return [await completed(item, teacher, skips, Counter()) for item in found]

    assert asyncio.run(run(SOURCES.get("mini"), None)) == list(SOURCES.get("mini").read(None, 3, 0, Counter()))
    none, first, second = asyncio.run(run(numbered_source(), TEACHER))
    assert none is None
    assert [case.context for case in (first, second) if case] == ["case 1.", "case 2."]
