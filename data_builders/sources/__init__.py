"""Where cases come from: one file per corpus, each registers a function that yields `Case` records.

Some corpora lack a part that a teacher writes: PILOT has no reasonings, the papers of DeepReview are too long to be a
context. Such a source has `drafts` beside `read`: each draft, given a teacher, asks it, checks the answer, and becomes
a case. Whoever wants the cases of any source asks for them in one way:

    async for case in cases(source, path, limit, seed, skips, teacher=teacher, rejected=rejected):
        ...

They come in the order of the corpus, whatever answers first, so the same corpus and answers give the same cases. For a
source without drafts this is `read`, and no teacher is needed. Who does more with each case than read it takes `items`
and has each one `completed` where the rest of its work is done.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from data_builders.sources.errors import SourceError
from data_builders.streaming import in_order
from data_builders.teachers import Pending, Teacher
from judge_r1.records import Case
from judge_r1.registry import Registry

Reader = Callable[[Path | None, int | None, int, Counter[str]], Iterator[Case]]
"""`(path, limit, seed, skips)` to cases."""

Draft = Callable[[Teacher, Counter[str], Counter[str]], Awaitable[Case | None]]
"""`(teacher, skips, rejected)` to the case, or to None (counted in `skips`) where no answer of the teacher would do."""

Drafter = Callable[[Path | None, Counter[str]], Iterator[Draft]]
"""`(path, skips)` to drafts, in the order of the corpus."""

AT_ONCE = 32
"""Drafts under way at a time; how many calls a teacher takes at a time is the teacher's own affair."""


@dataclass(frozen=True)
class Source:
    """A corpus: `read(path, limit, seed, skips)` yields its cases; `operators` names the rule set that fits its texts.

    `path` is the folder that holds the corpus in its original format (None for corpora shipped with the package);
    `seed` matters to generated corpora only. A record without a context, reference or decision is no case: `read`
    leaves it out and counts it in `skips`, by reason. A source with `drafts` needs a teacher, and its `read` says so.
    """

    read: Reader
    help: str
    operators: str = "text"
    drafts: Drafter | None = None

    @property
    def needs_teacher(self) -> bool:
        return self.drafts is not None


def taught(name: str, drafts: Drafter, help: str) -> Source:
    """A source whose cases a teacher completes."""

    def read(path: Path | None, limit: int | None, seed: int, skips: Counter[str]) -> Iterator[Case]:
        raise SourceError(
            f"source {name!r} needs a teacher to complete its cases: give --teacher chat:URL#MODEL or anthropic:MODEL"
        )

    return Source(read=read, help=help, drafts=drafts)


async def cases(
    source: Source,
    path: Path | None,
    limit: int | None,
    seed: int,
    skips: Counter[str],
    *,
    teacher: Teacher | None = None,
    rejected: Counter[str] | None = None,
) -> AsyncGenerator[Case, None]:
    """The cases of a source, in the order of the corpus, each once.

    `limit` bounds the cases read, or the drafts that a teacher is asked to complete: none is paid for in vain. `skips`
    counts what is no case, by reason; `rejected` every answer that failed a check, also where a later one passed.
    Deadlines are the teacher's. Errors: TeacherError, but for a refusal, ends the stream, and a second run finds the
    answers so far in the cache; Pending, where asks wait in a batch file, comes at the end, when all of them were
    written. Close the stream (`contextlib.aclosing`) to give up the drafts under way.
    """
    seen: set[str] = set()
    async with aclosing(
        _found(source, path, limit, seed, skips, teacher, Counter() if rejected is None else rejected)
    ) as found:
        async for case in found:
            if case.case_id in seen:
                skips["the same case twice"] += 1
            else:
                seen.add(case.case_id)
                yield case


def items(
    source: Source, path: Path | None, limit: int | None, seed: int, skips: Counter[str], teacher: Teacher | None
) -> Iterator[Case | Draft]:
    """What a source has to offer: cases, or drafts to be `completed`. For whoever works on many at once."""
    if source.drafts is None or teacher is None:
        return source.read(path, limit, seed, skips)
    return islice(source.drafts(path, skips), limit)


async def completed(
    item: Case | Draft, teacher: Teacher | None, skips: Counter[str], rejected: Counter[str]
) -> Case | None:
    """The case of an item, or None (counted in `skips`). Errors: those of `teacher.ask`, but for a refused ask."""
    if isinstance(item, Case):
        return item
    assert teacher is not None, "drafts come only where there is a teacher"
    return await item(teacher, skips, rejected)


async def _found(
    source: Source,
    path: Path | None,
    limit: int | None,
    seed: int,
    skips: Counter[str],
    teacher: Teacher | None,
    rejected: Counter[str],
) -> AsyncGenerator[Case, None]:
    async def attempt(item: Case | Draft) -> Case | Pending | None:
        try:
            return await completed(item, teacher, skips, rejected)
        except Pending as waits:
            return waits

    pending = 0
    work = in_order(items(source, path, limit, seed, skips, teacher), attempt, AT_ONCE)
    async with aclosing(work) as results:
        async for result in results:
            if isinstance(result, Case):
                yield result
            pending += isinstance(result, Pending)
    if pending:
        raise Pending(f"{pending} case(s) wait for the teacher's batch: import its answers and run the same again")


SOURCES: Registry[Source] = Registry("source", __name__)
