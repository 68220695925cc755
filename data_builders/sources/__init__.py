"""Where cases come from: one file per corpus, each registers a function that yields `Case` records.

Some corpora lack a part that a teacher writes: PILOT has no reasonings, the papers of DeepReview are too long to be a
context. Such a source has `drafts` beside `read`: each draft, given a teacher, asks it, checks the answer, and becomes
a case. Whoever wants the cases of any source takes its `items` and has each one `completed`.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from data_builders.sources.corpus_io import SourceError
from data_builders.teachers import Teacher
from judge_r1.core.records import Case
from judge_r1.core.registry import Registry

Reader = Callable[[Path | None, int | None, int, Counter[str]], Iterator[Case]]
"""`(path, limit, seed, skips)` to cases."""

Draft = Callable[[Teacher, Counter[str], Counter[str]], Awaitable[Case | None]]
"""`(teacher, skips, rejected)` to the case, or to None (counted in `skips`) where no answer of the teacher would do."""

Drafter = Callable[[Path | None, Counter[str]], Iterator[Draft]]
"""`(path, skips)` to drafts, in the order of the corpus."""


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


def taught(name: str, drafts: Drafter, help: str) -> Source:
    """A source whose cases a teacher completes."""

    def read(path: Path | None, limit: int | None, seed: int, skips: Counter[str]) -> Iterator[Case]:
        raise SourceError(
            f"source {name!r} needs a teacher to complete its cases: give --teacher chat:URL#MODEL or anthropic:MODEL"
        )

    return Source(read=read, help=help, drafts=drafts)


def items(
    source: Source, path: Path | None, limit: int | None, seed: int, skips: Counter[str], teacher: Teacher | None
) -> Iterator[Case | Draft]:
    """What a source has to offer, in the order of the corpus: cases, or drafts to be `completed`.

    `limit` bounds the cases read, or the drafts that a teacher is asked to complete: none is paid for in vain.
    """
    if source.drafts is None or teacher is None:
        return source.read(path, limit, seed, skips)
    return islice(source.drafts(path, skips), limit)


async def completed(item: Case | Draft, teacher: Teacher, skips: Counter[str], rejected: Counter[str]) -> Case | None:
    """The case of an item, or None (counted in `skips`); `rejected` counts every answer that failed a check, also where
    a later one passed. Errors: those of `teacher.ask`, but for a refused ask."""
    return item if isinstance(item, Case) else await item(teacher, skips, rejected)


SOURCES: Registry[Source] = Registry("source", __name__)
