"""Sources of cases: one module per corpus, each of which registers a function that yields `Case` records.

Some corpora lack a part that a teacher writes. Such a source has `drafts`: a draft asks the teacher, checks the answer
and becomes a case. `items` and `completed` handle both kinds of source.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from data_builders.sources.corpus_io import SourceError
from data_builders.teachers import Attempts, Teacher
from judge_r1.core.records import Case
from judge_r1.core.registry import Registry

WORLDS = "data_builders.worlds"
"""Each folder of this package is a corpus of its own, with its rules and rationales."""

Reader = Callable[[Path | None, int | None, int, Counter[str]], Iterator[Case]]
"""`(path, limit, seed, skipped)` to cases."""

Draft = Callable[[Teacher, Counter[str], Attempts], Awaitable[Case | None]]
"""`(teacher, skipped, tried)` to the case, or to None (counted in `skipped`) if no answer is accepted."""

Drafter = Callable[[Path | None, Counter[str]], Iterator[Draft]]
"""`(path, skipped)` to drafts, in the order of the corpus."""


@dataclass(frozen=True)
class Source:
    """A corpus. `operators` names the rule set that fits its texts. `balanced` says whether builds balance in how many
    pairs A is better, and record how many flaws the rules find. `reads_path` is false where no data is needed.

    `read` takes the folder of the corpus in its original format (None for corpora shipped with the package), the limit,
    the seed (for generated corpora) and a counter. It counts records without a context, reference or decision in
    `skipped` by reason. The `read` of a source with `drafts` raises, because such a source needs a teacher.
    """

    read: Reader
    help: str
    operators: str = "text"
    drafts: Drafter | None = None
    balanced: bool = True
    reads_path: bool = True


def taught(name: str, drafts: Drafter, help: str) -> Source:
    """A source whose cases are completed by a teacher."""

    def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
        raise SourceError(
            f"source {name!r} needs a teacher to complete its cases: "
            "give teacher=chat@URL#MODEL, chat@anthropic:MODEL or chat@MODEL"
        )

    return Source(read=read, help=help, drafts=drafts)


def items(
    source: Source, path: Path | None, limit: int | None, seed: int, skipped: Counter[str], teacher: Teacher | None
) -> Iterator[Case | Draft]:
    """The cases of a source, or drafts to be `completed`, in the order of the corpus; at most `limit` of them."""
    if source.drafts is None or teacher is None:
        return source.read(path, limit, seed, skipped)
    return islice(source.drafts(path, skipped), limit)


async def completed(item: Case | Draft, teacher: Teacher, skipped: Counter[str], tried: Attempts) -> Case | None:
    """The case of an item, or None (counted in `skipped`). `tried` counts the answers.

    Raises: the errors of `teacher.ask` except TeacherRefused.
    """
    return item if isinstance(item, Case) else await item(teacher, skipped, tried)


SOURCES: Registry[Source] = Registry("source", __name__, WORLDS)
