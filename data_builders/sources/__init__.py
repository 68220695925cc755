"""Where cases come from: one file per corpus, each registers a function that yields `Case` records."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from judge_r1.records import Case
from judge_r1.registry import Registry


@dataclass(frozen=True)
class Source:
    """A corpus: `read(path, limit, seed, skips)` yields its cases; `operators` names the rule set that fits its texts.

    `path` is the folder that holds the corpus in its original format (None for corpora shipped with the package);
    `seed` matters to generated corpora only. A record without a context, reference or decision is no case: `read`
    leaves it out and counts it in `skips`, by reason.
    """

    read: Callable[[Path | None, int | None, int, Counter[str]], Iterator[Case]]
    help: str
    operators: str = "text"


SOURCES: Registry[Source] = Registry("source", __name__)
