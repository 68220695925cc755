"""`rationales`: pairs in, a file of rationales by a teacher out. Killed, it is simply run again."""

import time
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.progress import Progress, every_second
from data_builders.rationales.store import StoredTrace
from data_builders.rationales.teacher import RationaleStats, enhanced
from data_builders.teachers import Teacher
from data_builders.teachers.budget import Spending
from judge_r1.core.errors import JudgeError
from judge_r1.core.file_lock import lock_folder
from judge_r1.core.jsonl import Writing, dump_line, sweep, write_json
from judge_r1.core.pair_set import PairSet
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.training.recipe import Recipe

TRACES_FILE, COUNTS_FILE, TIMING_FILE = "traces.jsonl", "rationales.json", "timing.json"


@dataclass(frozen=True)
class Wanted:
    """How many rationales, of which pairs, under which recipe."""

    data: PairSet
    recipe: Recipe
    codec: SafeTokenizer
    count: int


async def write_rationales(
    wanted: Wanted, out: Path, teacher: Teacher, *, spending: Spending | None = None, concurrency: int = 8
) -> dict[str, Any]:
    """Write traces.jsonl (at the end, or not at all), rationales.json (counts, returned) and timing.json.

    Errors: those of the teacher; JudgeError where no pair gives a rationale, or another process writes there.
    """
    started, tally, target = time.monotonic(), RationaleStats(), out / TRACES_FILE
    total = min(wanted.count, len(wanted.data.pairs))
    found = enhanced(
        wanted.data, wanted.recipe, wanted.codec, teacher, tally, count=wanted.count, concurrency=concurrency
    )
    with lock_folder(out):
        sweep(target)
        with Writing(target) as file, Progress(out.name, total, spending, "rationales") as progress:
            async with aclosing(found) as traces, every_second(lambda: progress.tick(tally.answers)):
                async for pair, trajectory in traces:
                    stored = StoredTrace(pair_id=pair.pair_id, teacher=teacher.name, trajectory=trajectory)
                    file.write(target, dump_line(stored))
                    progress.case_done(0)
            if not tally.accepted:
                reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(tally.rejected.items()))
                raise JudgeError(
                    f"{teacher.name} gave no rationale for any of {len(wanted.data.pairs)} pairs ({reasons})"
                )
        counts = _counts(wanted, teacher, tally)
        write_json(out / COUNTS_FILE, counts)
        spent = {"spending": spending.as_dict()} if spending else {}
        write_json(out / TIMING_FILE, {"seconds": round(time.monotonic() - started, 2), **spent})
    return counts


def _counts(wanted: Wanted, teacher: Teacher, tally: RationaleStats) -> dict[str, Any]:
    episode = wanted.recipe.episode
    return {
        "teacher": teacher.name,
        "seed": wanted.recipe.seed,
        "wanted": wanted.count,
        "pairs": len(wanted.data.pairs),
        "search": bool(episode.spending.max_searches),
        "context": episode.context,
        **tally.as_dict(),
    }
