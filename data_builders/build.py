"""`build`: cases of a source in, labelled pairs out, one case at a time. Same input, seed and answers, same bytes.

A build that is stopped leaves the folder as it was. What a teacher answered is in its cache and everything else depends
on that alone, so to go on is to run the same build again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from data_builders.perturb.engine import perturb
from data_builders.perturb.teacher import Tally, perturb_by_teacher
from data_builders.run import KINDS, Plan, open_run
from data_builders.streaming import in_order
from data_builders.teachers import Pending, Teacher
from data_builders.teachers.spending import Spending
from data_builders.verify import Agreement, Opinion, verify
from judge_r1.jsonl import write_jsonl
from judge_r1.pairs import CASES_FILE, PAIRS_FILE, PairSet
from judge_r1.records import Case, ReasoningPair

AHEAD = 4
"""Cases under way for each call at a time: one that waits for its last call must not keep the others from asking."""

Made = tuple[Case, list[ReasoningPair], list[Opinion]]


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
    plan = Plan(source, path, kinds, variants, seed, limit)
    with open_run(plan, out) as run:
        for case in run.cases():
            rules = plan.corpus.operators
            made = perturb(case, kinds=kinds, variants=variants, seed=seed, rule_set=rules, abstained=run.abstained)
            run.add(case, list(made))
    return run.report


async def build_by_teacher(
    plan: Plan,
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
    tally, agreement = Tally(), Agreement()
    pending = 0

    async def work(case: Case) -> Made | None:
        try:
            pairs = await perturb_by_teacher(
                case, teacher, kinds=plan.kinds, variants=plan.variants, seed=plan.seed, tally=tally
            )
            return case, pairs, await verify(case, pairs, verifier) if verifier else []
        except Pending:
            return None

    with open_run(plan, out, opinions=verifier is not None, spending=spending) as run:
        cases = in_order(run.cases(), work, AHEAD * concurrency)
        async with aclosing(cases) as results, _every_second(lambda: run.progress.tick(tally.answers)):
            async for made in results:
                if made is None:
                    pending += 1
                    continue
                case, pairs, opinions = made
                for pair, opinion in zip(pairs, opinions, strict=bool(opinions)):
                    agreement.add(pair, opinion)
                run.add(case, pairs, opinions)
        if pending:
            raise Pending(f"{pending} cases wait for answers of {teacher.name}")
        run.abstained += tally.abstained
        run.more["teacher"] = {"name": teacher.name, **tally.as_dict()}
        if verifier:
            run.more["verifier"] = {"name": verifier.name, "agreement": agreement.as_dict()}
    return run.report


@asynccontextmanager
async def _every_second(what: Callable[[], None]) -> AsyncIterator[None]:
    async def repeat() -> None:
        while True:
            await asyncio.sleep(1)
            what()

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()


def write_pairs(data: PairSet, out: Path) -> None:
    """A pair set as a folder that `load_pairs` reads."""
    write_jsonl(out / CASES_FILE, data.cases.values())
    write_jsonl(out / PAIRS_FILE, data.pairs)
