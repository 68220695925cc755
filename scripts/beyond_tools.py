"""A toy that needs a tool (docs/beyond.md): two claims about the remainder of a product, of which one is wrong.

The base model of `haystack` (0.8 M parameters) copies and compares, and does not multiply. It is trained by SFT on
rationales that call `calc` and compare its result with both claims, or on rationales that only compare the claims: the
same pairs, steps and answers. The factors of test pairs are not those of training pairs. Control: the model that
learned to call, with drawn results.

    OMP_NUM_THREADS=1 python -m scripts.beyond_tools --out runs/beyond_tools --seeds 0 1 2
"""

import argparse
import json
import time
from pathlib import Path
from random import Random

from data_builders.rationales import Rationale
from data_builders.rationales.rules import gold_rationale
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span, Trajectory
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.episode.tools.base import TOOLS, CaseScope, ToolBudget, ToolResult
from judge_r1.files.jsonl import write_json
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import Sampling
from judge_r1.models.hub import load_tokenizer
from judge_r1.statistics.intervals import wilson_ci
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.common import policy_runner

TOY = Path("haystack", "warmup")
PRIME, STEPS, TEST = 97, 360, 160
RECIPE = [
    "episode.search=false", "episode.budget.response_tokens=96", "sft.rationales=null", "sft.epochs=1",
    "sft.packing=false", "sft.by_length=false", "sft.warmup_ratio=0.1",
]  # fmt: skip
CALC = "episode.tools={calc: {max_calls: 1, output_tokens: 48}}"


def pairs(count: int, seed: int, *, test: bool) -> PairSet:
    """Pairs of a right and a wrong remainder. Both digits of the wrong one differ; the sides are balanced by hash."""
    rng, cases, found = Random(seed), list[Case](), list[ReasoningPair]()
    while len(found) < count:
        a, b = rng.randint(11, 99), rng.randint(11, 99)
        right, wrong = a * b % PRIME, rng.randint(10, PRIME - 1)
        held_out = int(content_hash("factors", *sorted((a, b))), 16) % 5 == 0
        alike = any(one == other for one, other in zip(str(right), str(wrong), strict=False))
        if right < 10 or alike or held_out != test:
            continue
        text = "1. {a} * {b} % {prime} = {shown}, so fine."
        written = [text.format(a=a, b=b, prime=PRIME, shown=shown) for shown in (right, wrong)]
        case = Case.of(
            domain="academic", context=f"record {len(found)}.", decision="accept", reference=written[0], source="sums",
            license="Apache-2.0",
        )  # fmt: skip
        flaw = Flaw(principle=2, operator="remainder", span=Span(start=0, end=len(written[1])))
        origin = Origin(teacher="rules", seed=seed, flaws=(flaw,))
        cases.append(case)
        found.append(ReasoningPair.of(case, written[1], variant=1, origin=origin, seed=seed))
    return PairSet.of(cases, found)


def write_sums(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Rationale:
    """The rationale of a pair: calls `calc` if the episode has it, and names the worse side."""
    (expression, a), (_, b) = (
        text.removeprefix("1. ").split(",")[0].split(" = ") for text in (pair.reasoning_a, pair.reasoning_b)
    )
    worse = "B" if pair.preferred == "A" else "A"
    if config.tools:
        right = b if worse == "A" else a
        found = (f" {right} {side} {one} {'same' if one == right else 'differs'}" for side, one in (("A", a), ("B", b)))
        yield f"<tool>calc\n {expression}</tool>"
        yield f"<think>{''.join(found)} {worse} worse 2</think>"
    else:
        yield f"<think> A {a} B {b} {worse} worse 2</think>"


class Drawn:
    """In place of `calc`: a result that is drawn at random."""

    help, max_calls = "", 1

    def check(self, text: str) -> None: ...
    def require(self) -> None: ...

    def run(self, text: str, scope: CaseScope, budget: ToolBudget) -> ToolResult:
        return ToolResult(str(10 + int(content_hash("drawn", text), 16) % (PRIME - 10)))


def train(recipe: Recipe, seed: int, folder: Path, tokenizer: SafeTokenizer) -> float | None:
    """Trains unless the model is there. Returns the seconds that it took, None where they are not written."""
    from judge_r1.training.trl.sft import train_sft

    began, run, file = time.monotonic(), RunFolder(folder, recipe), folder / "seconds.json"
    data = pairs(STEPS * recipe.sft.batch_size, seed, test=False)
    searcher = CaseSearcher(data.texts, recipe.episode)

    def examples() -> list[Trajectory]:
        written = [gold_rationale(pair, data, recipe.episode, tokenizer, searcher, write_sums) for pair in data.pairs]
        assert all(trajectory.reward and trajectory.reward["r"] == 1.0 for trajectory in written), written[0].ended
        return written

    if not run.model.exists():
        train_sft(recipe, examples, run)
        write_json(file, {"seconds": round(time.monotonic() - began, 1)})
    return float(json.loads(file.read_text())["seconds"]) if file.exists() else None


def judged(recipe: Recipe, model: Path, data: PairSet) -> list[Trajectory]:
    runner = policy_runner(str(model), None, data, recipe.episode, rows=64)
    return runner.run(data.pairs, Sampling(0.0, 0))


def main() -> None:
    flags = argparse.ArgumentParser(description="Trains and judges the toy of docs/beyond.md that needs `calc`.")
    flags.add_argument("--out", type=Path, default=Path("runs/beyond_tools"))
    flags.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = flags.parse_args()
    tokenizer, test = SafeTokenizer(load_tokenizer("bundled:haystack")), pairs(TEST, 1_000_003, test=True)
    calc = TOOLS.get("calc")
    for seed in given.seeds:
        for name, options in (("calc", [CALC]), ("without", [])):
            recipe = load_recipe(TOY, [*RECIPE, *options, f"seed={seed}"])
            folder = given.out / f"{name}-{seed}"
            seconds = train(recipe, seed, folder, tokenizer)
            for row, tool in [(name, calc), *([("drawn", Drawn())] if options else [])]:
                TOOLS._entries["calc"] = tool
                try:
                    done = judged(recipe, folder / "model", test)
                finally:
                    TOOLS._entries["calc"] = calc
                right = sum((one.reward or {})["R1"] > 0 for one in done)
                low, high = wilson_ci(right, len(done))
                found = {
                    "row": row, "seed": seed, "right": right, "of": len(done), "low": round(low, 3),
                    "high": round(high, 3), "valid": sum(one.judgment is not None for one in done),
                    "calls": sum(call.status == "ok" for one in done for call in one.calls),
                    "seconds": seconds and round(seconds),
                }  # fmt: skip
                print(found, flush=True)
                write_json(given.out / f"{row}-{seed}.json", found)


if __name__ == "__main__":
    main()
