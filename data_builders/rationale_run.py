"""`rationales`: pairs in, a file of rationales by a teacher out. Killed, it is simply run again."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.enhance import Tally, enhanced
from data_builders.teachers import Teacher
from data_builders.teachers.spending import Spending
from data_builders.traces_file import StoredTrace
from judge_r1.config import Recipe
from judge_r1.errors import JudgeError
from judge_r1.jsonl import Writing, dump_line, sweep, write_json
from judge_r1.pairs import PairSet
from judge_r1.tokens import Codec

TRACES_FILE, COUNTS_FILE, TIMING_FILE = "traces.jsonl", "rationales.json", "timing.json"


@dataclass(frozen=True)
class Wanted:
    """How many rationales, of which pairs, under which recipe."""

    data: PairSet
    recipe: Recipe
    codec: Codec
    count: int


async def write_rationales(
    wanted: Wanted, out: Path, teacher: Teacher, *, spending: Spending | None = None, concurrency: int = 8
) -> dict[str, Any]:
    """Write traces.jsonl (at the end, or not at all), rationales.json (counts, returned) and timing.json.

    Errors: those of the teacher; JudgeError where no pair gives a rationale.
    """
    started, tally, target = time.monotonic(), Tally(), out / TRACES_FILE
    sweep(target)
    with Writing(target) as file:
        found = enhanced(
            wanted.data, wanted.recipe, wanted.codec, teacher, tally, count=wanted.count, concurrency=concurrency
        )
        async for pair, trajectory in found:
            stored = StoredTrace(pair_id=pair.pair_id, teacher=teacher.name, trajectory=trajectory)
            file.write(target, dump_line(stored))
        if not tally.accepted:
            reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(tally.rejected.items()))
            raise JudgeError(f"{teacher.name} gave no rationale for any of {len(wanted.data.pairs)} pairs ({reasons})")
    episode = wanted.recipe.episode
    counts = {
        "teacher": teacher.name,
        "seed": wanted.recipe.seed,
        "wanted": wanted.count,
        "pairs": len(wanted.data.pairs),
        "search": bool(episode.spending.max_searches),
        "context": episode.context,
        **tally.as_dict(),
    }
    write_json(out / COUNTS_FILE, counts)
    spent = {"spending": spending.as_dict()} if spending else {}
    write_json(out / TIMING_FILE, {"seconds": round(time.monotonic() - started, 2), **spent})
    return counts
