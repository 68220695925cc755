"""`build`: cases of a source in, labelled pairs out, one case at a time. Same input, seed and answers, same bytes.

A build that is stopped leaves the folder as it was. What a teacher answered is in its cache and everything else depends
on that alone, so to go on is to run the same build again.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.ordered_concurrency import in_order
from data_builders.pair_writer import KINDS, BuildPlan, open_writer
from data_builders.perturb.rules.engine import perturb
from data_builders.perturb.teacher.generate import VariantStats, perturb_by_teacher
from data_builders.progress import every_second
from data_builders.second_opinion import Agreement, Opinion, verify
from data_builders.sources import Draft, completed
from data_builders.teachers import BatchPending, Teacher
from data_builders.teachers.budget import Spending
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, PairSet
from judge_r1.core.records import Case, ReasoningPair

AHEAD = 2
"""Cases under way for each call at a time: one that waits for its last call must not keep the others from asking."""


@dataclass(frozen=True)
class BuiltCase:
    """What came of one case."""

    case: Case
    pairs: list[ReasoningPair]
    opinions: list[Opinion]
    tally: VariantStats


def build(
    source: str,
    out: Path,
    *,
    path: Path | None = None,
    kinds: Sequence[str] = KINDS,
    variants: int = 5,
    seed: int = 0,
    limit: int | None = None,
) -> dict[str, Any]:
    """By rules: write cases.jsonl, pairs.jsonl, build.json (counts) and timing.json (all that differs between runs).

    A case whose reasoning no operator can break stays in cases.jsonl and is counted. Returns build.json.
    """
    plan = BuildPlan(source, path, kinds, variants, seed, limit)
    with open_writer(plan, out) as run:
        for case in run.cases():
            rules = plan.corpus.operators
            made = perturb(case, kinds=kinds, variants=variants, seed=seed, rule_set=rules, abstained=run.abstained)
            run.add(case, list(made))
    return run.report


async def build_by_teacher(
    plan: BuildPlan,
    out: Path,
    teacher: Teacher,
    *,
    verifier: Teacher | None = None,
    spending: Spending | None = None,
    concurrency: int = 8,
) -> dict[str, Any]:
    """By a teacher that takes `concurrency` calls at a time; the files as above, with a verifier opinions.jsonl too.

    Errors: those of the teachers; Pending, after the last case, where a teacher has put asks off. Nothing is written
    then.
    """
    total, agreement = VariantStats(), Agreement()
    rejected: Counter[str] = Counter()
    pending = 0

    async def work(item: Case | Draft) -> BuiltCase | BatchPending | None:
        tally = VariantStats()
        try:
            case = await completed(item, teacher, run.skipped, rejected)
            if case is None:
                return None
            pairs = await perturb_by_teacher(
                case, teacher, kinds=plan.kinds, variants=plan.variants, seed=plan.seed, stats=tally
            )
            return BuiltCase(case, pairs, await verify(case, pairs, verifier) if verifier else [], tally)
        except BatchPending as waits:
            return waits

    with open_writer(plan, out, teacher=teacher, opinions=verifier is not None, spending=spending) as run:
        work_in_order = in_order(run.items, work, AHEAD * concurrency)
        async with aclosing(work_in_order) as results, every_second(lambda: run.progress.tick(total.answers)):
            async for made in results:
                if isinstance(made, BuiltCase) and run.is_new(made.case):
                    run.add(made.case, made.pairs, made.opinions)
                    agreement.add_all(made.pairs, made.opinions)
                    total += made.tally
                else:
                    pending += isinstance(made, BatchPending)
                    run.progress.case_done(0)
        if pending:
            raise BatchPending(f"{pending} cases wait for answers of {teacher.name}")
        run.abstained += total.abstained
        if rejected:
            run.more["completing"] = dict(sorted(rejected.items()))
        run.more["teacher"] = {"name": teacher.name, **total.as_dict()}
        if verifier:
            run.more["verifier"] = {"name": verifier.name, "agreement": agreement.as_dict()}
    return run.report


def write_pairs(data: PairSet, out: Path) -> None:
    """A pair set as a folder that `load_pairs` reads."""
    write_jsonl(out / CASES_FILE, data.cases.values())
    write_jsonl(out / PAIRS_FILE, data.pairs)
