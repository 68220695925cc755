"""`builtin`: 120 original cases shipped with the package: patients, complaints to a human-rights court, and papers.

scripts/build_builtin_cases.py, last in commit 16764728, laid them out from hand-written scenarios. People, places and
studies are invented.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from data_builders.sources import SOURCES, Source
from judge_r1.core.records import Case
from judge_r1.files.jsonl import read_jsonl

FILE = Path(__file__).with_name("builtin.jsonl")


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """The first `limit` cases, the three domains in turn. `seed` has no effect."""
    yield from islice(read_jsonl(FILE, Case, unique="case_id"), limit)


SOURCES.register("builtin")(
    Source(read=read, help="120 cases of our own, 40 of each domain (no data needed)", reads_path=False)
)
