"""One build under way: its plan, the files that grow side by side, its counts, and what it has seen.

Memory does not grow with the data: of a case that is written only its id stays. The files appear together at the end,
or not at all.
"""

import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.pair_counts import PairCounts
from data_builders.progress import Progress
from data_builders.second_opinion import Opinion
from data_builders.sources import SOURCES, Draft, Source, items
from data_builders.teachers import Teacher
from data_builders.teachers.budget import Spending
from judge_r1.core.errors import JudgeError
from judge_r1.core.file_lock import lock_folder
from judge_r1.core.jsonl import Writing, dump_line, sweep, write_json
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE
from judge_r1.core.records import Case, ReasoningPair

KINDS = ("single", "multi")
OPINIONS_FILE, COUNTS_FILE, TIMING_FILE = "opinions.jsonl", "build.json", "timing.json"


@dataclass(frozen=True)
class BuildPlan:
    """What to build: all that the data depends on, but for a teacher's answers."""

    source: str
    path: Path | None = None
    kinds: Sequence[str] = KINDS
    variants: int = 5
    seed: int = 0
    limit: int | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.kinds) - set(KINDS))
        if unknown or not self.kinds:
            raise JudgeError(f"--kinds takes {' and '.join(KINDS)}, not {', '.join(unknown) or 'nothing'}")

    @property
    def corpus(self) -> Source:
        return SOURCES.get(self.source)

    def items(self, skipped: Counter[str], teacher: Teacher | None = None) -> Iterator[Case | Draft]:
        """The cases of the source, or what a teacher makes cases of."""
        return items(self.corpus, self.path, self.limit, self.seed, skipped, teacher)


class PairWriter:
    """`items` are to be worked on; `add` what comes of each in that order. `more` goes into build.json."""

    def __init__(self, plan: BuildPlan, out: Path, files: Writing, progress: Progress, teacher: Teacher | None) -> None:
        self._plan, self._out, self._files, self.progress = plan, out, files, progress
        self._seen: set[int] = set()
        self._written = 0
        self._counts = PairCounts()
        self.skipped: Counter[str] = Counter()
        self.abstained: Counter[str] = Counter()
        self.more: dict[str, Any] = {}
        self.report: dict[str, Any] = {}
        self.items = plan.items(self.skipped, teacher)

    def is_new(self, case: Case) -> bool:
        """Whether the case is here for the first time; else it is counted as skipped."""
        number = int(case.case_id, 16)
        if number in self._seen:
            self.skipped[f"{self._plan.source}: the same case again"] += 1
            return False
        self._seen.add(number)
        return True

    def cases(self) -> Iterator[Case]:
        """The cases among the items, each once: without a teacher, there is nothing else."""
        return (item for item in self.items if isinstance(item, Case) and self.is_new(item))

    def add(self, case: Case, pairs: Sequence[ReasoningPair], opinions: Sequence[Opinion] = ()) -> None:
        """Write a new case and what was made of it. A pair's id holds its case's: it repeats within the case only."""
        self._files.write(self._out / CASES_FILE, dump_line(case))
        self._written += 1
        ids: set[str] = set()
        for pair in pairs:
            if pair.pair_id in ids:
                self.abstained["the pair stands there already"] += 1
                continue
            ids.add(pair.pair_id)
            self._files.write(self._out / PAIRS_FILE, dump_line(pair))
            self._counts.add(pair)
        for opinion in opinions:
            self._files.write(self._out / OPINIONS_FILE, dump_line(opinion))
        self.progress.case_done(len(ids))

    def finish(self) -> None:
        """Put the report together. Errors: JudgeError for a build without a pair."""
        if not self._counts.pairs:
            skipped = dict(self.skipped) or "none"
            raise JudgeError(
                f"source {self._plan.source!r} gave {self._written} cases and no pair (skipped: {skipped})"
            )
        self.report = {
            "source": self._plan.source,
            "seed": self._plan.seed,
            "variants": self._plan.variants,
            "kinds": list(self._plan.kinds),
            "cases": self._written,
            "pairs": self._counts.pairs,
            **self._counts.as_dict(),
            "skipped_cases": dict(sorted(self.skipped.items())),
            "abstained": dict(sorted(self.abstained.items())),
            **self.more,
        }


@contextmanager
def open_writer(
    plan: BuildPlan,
    out: Path,
    *,
    teacher: Teacher | None = None,
    opinions: bool = False,
    spending: Spending | None = None,
) -> Iterator[PairWriter]:
    """A run; at the end of the block its files appear, then build.json and timing.json. No other process may be at work
    in the folder.

    The source is read once beforehand: to know how much there is to do, and to find a mistake in its last record
    before anything is paid for.
    """
    started = time.monotonic()
    total = sum(1 for _ in plan.items(Counter(), teacher))
    read_seconds = time.monotonic() - started
    targets = [out / name for name in (CASES_FILE, PAIRS_FILE, *([OPINIONS_FILE] if opinions else []))]
    with lock_folder(out):
        sweep(*targets)
        with Writing(*targets) as files, Progress(plan.source, total, spending) as progress:
            run = PairWriter(plan, out, files, progress, teacher)
            yield run
            run.finish()
        if not opinions:  # those of an earlier build are of other pairs
            (out / OPINIONS_FILE).unlink(missing_ok=True)
        write_json(out / COUNTS_FILE, run.report)
        timing = {
            "read_seconds": round(read_seconds, 2),
            "seconds": round(time.monotonic() - started, 2),
            "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            **({"spending": spending.as_dict()} if spending else {}),
        }
        write_json(out / TIMING_FILE, timing)
