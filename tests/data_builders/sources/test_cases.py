"""One way to ask any source for its cases: in order, each once, with a teacher where one is needed."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from source_toys import ToyTeacher, gather
from toys import make_case

from data_builders.sources import AT_ONCE, SOURCES, Draft, Source, cases, completed, items, taught
from data_builders.sources.errors import SourceError
from data_builders.teachers import Ask, BudgetSpent, Pending, Teacher
from judge_r1.records import Case

TEACHER = ToyTeacher(lambda ask: "fine")


def numbered_source(
    *, fail: dict[int, Exception] | None = None, log: list[str] | None = None, stuck: int = 100
) -> Source:
    """Drafts 0 to 99 that ask the teacher once; late ones answer first. `fail` says which raise what, and those from
    `stuck` on never end."""
    log = [] if log is None else log

    def draft(number: int) -> Draft:
        async def run(teacher: Teacher, skips: Counter[str], rejected: Counter[str]) -> Case | None:
            log.append(f"start {number}")
            try:
                if number >= stuck:
                    await asyncio.Event().wait()
                for _ in range(10 - number % 10):
                    await asyncio.sleep(0)
                if fail and number in fail:
                    raise fail[number]
                answer = await teacher.ask(Ask(system="", user=f"case {number}", max_tokens=9))
            except asyncio.CancelledError:
                log.append(f"cancel {number}")
                raise
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


def test_cases_come_in_the_order_of_the_corpus_whatever_answers_first() -> None:
    found, _, _ = gather(numbered_source(), None, TEACHER)
    assert [case.context for case in found] == [f"case {n}." for n in range(100) if n % 7]


def test_only_so_many_drafts_are_under_way_and_limit_bounds_what_is_asked() -> None:
    log: list[str] = []

    async def first() -> None:
        async with aclosing(
            cases(numbered_source(log=log, stuck=5), None, None, 0, Counter(), teacher=TEACHER)
        ) as found:
            assert (await anext(found)).context == "case 1."

    asyncio.run(first())
    started = [line for line in log if line.startswith("start")]
    assert len(started) <= AT_ONCE + 1
    assert "cancel 5" in log

    teacher = ToyTeacher(lambda ask: "fine")
    found, _, _ = gather(numbered_source(), None, teacher, limit=8)
    assert len(teacher.asks) == 8
    assert [case.context for case in found] == [f"case {n}." for n in range(1, 7)]


def test_a_case_that_comes_twice_is_counted_and_given_once() -> None:
    def read(path: Path | None, limit: int | None, seed: int, skips: Counter[str]) -> Iterator[Case]:
        yield from (make_case(text) for text in ("a.", "b.", "a."))

    found, skips, _ = gather(Source(read=read, help="toy"), None)
    assert [case.context for case in found] == ["a.", "b."]
    assert skips == {"the same case twice": 1}


def test_a_teacher_that_cannot_go_on_ends_the_stream_and_gives_up_what_runs() -> None:
    log: list[str] = []
    seen: list[str] = []

    async def run() -> None:
        source = numbered_source(fail={3: BudgetSpent("the budget is spent")}, log=log)
        async for case in cases(source, None, None, 0, Counter(), teacher=TEACHER):
            seen.append(case.context)

    with pytest.raises(BudgetSpent, match="the budget is spent"):
        asyncio.run(run())
    assert seen == ["case 1.", "case 2."]
    assert all(f"start {number}" not in log for number in range(AT_ONCE + 4, 100))


def test_pending_asks_are_all_written_before_the_stream_says_so() -> None:
    log: list[str] = []
    seen: list[str] = []

    async def run() -> None:
        source = numbered_source(fail={n: Pending("in the file") for n in range(1, 100, 2)}, log=log)
        async for case in cases(source, None, None, 0, Counter(), teacher=TEACHER):
            seen.append(case.context)

    with pytest.raises(Pending, match=r"50 case\(s\) wait"):
        asyncio.run(run())
    assert len([line for line in log if line.startswith("start")]) == 100
    assert seen == [f"case {n}." for n in range(0, 100, 2) if n % 7]


def test_items_are_cases_or_drafts_and_both_are_completed() -> None:
    skips: Counter[str] = Counter()

    async def run(source: Source, teacher: Teacher | None) -> list[Case | None]:
        found = items(source, None, 3, 0, skips, teacher)
        return [await completed(item, teacher, skips, Counter()) for item in found]

    assert asyncio.run(run(SOURCES.get("mini"), None)) == list(SOURCES.get("mini").read(None, 3, 0, Counter()))
    none, first, second = asyncio.run(run(numbered_source(), TEACHER))
    assert none is None
    assert [case.context for case in (first, second) if case] == ["case 1.", "case 2."]
