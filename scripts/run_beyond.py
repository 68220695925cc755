"""Trains the toys of docs/beyond.md: both orders in a group from a base with a position bias, and single reasonings.

Pairs of `mini` whose flaw is visible. In those that pairs are trained on, A is better in nine of ten, and the warm-up
learns to answer `A>B` always. That of single reasonings sees labels by a coin: it knows the form and nothing of the
flaws. Settings were chosen on dev.

    python -m scripts.run_beyond --out runs/beyond --seeds 3 --split dev
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from data_builders.build import build, write_pairs
from data_builders.haystack_splits import shuffled_labels
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.questions import SIDES, ScoreQuestion, question, stated_score
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.models.base import Sampling
from judge_r1.models.hub import load_model
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.trl.common import policy_runner

CASES = {"train": (240, 1), "dev": (30, 3), "test": (30, 4)}
"""Cases and the seed of each split."""
VISIBLE = ((1,), (3,), (5,), (6,))
WARMUP = ["stage=sft", "sft.batch_size=16", "sft.micro_batch_size=16", "sft.learning_rate=2e-3"]
TOY = Path("beyond", "toy")
ALONE = (
    "grpo.task=pointwise", "grpo.pointwise_pairs=all", "grpo.group_size=8", "grpo.steps=120", "grpo.kl=0.02",
    "grpo.advantage=decoupled", "grpo.advantage_weights=[1,0.2]",
)  # fmt: skip
"""R2 of a reference is 1 where it names no principle: with an equal weight, two seeds of three end in the answer that
names none for every text."""
ARMS: Mapping[str, Sequence[str]] = {
    "pairs, one order": ["grpo.orders=1"],
    "pairs, both orders": ["grpo.orders=2"],
    "alone": ALONE,
    "alone, shuffled labels": ALONE,
}


def make_data(out: Path) -> None:
    """Writes train, dev, test, coin (train with labels by a coin) and leaning (train, with A better in nine of ten)."""
    for name, (count, seed) in CASES.items():
        build("mini", out / name / "all", variants=1, seed=seed, limit=count)
        every = load_pairs(out / name / "all")
        write_pairs(PairSet(every.cases, [pair for pair in every.pairs if pair.violated in VISIBLE]), out / name)
    train = load_pairs(out / "train")
    write_pairs(shuffled_labels(train, 0), out / "coin")
    write_pairs(PairSet(train.cases, [_mostly_a(pair) for pair in train.pairs]), out / "leaning")


def _mostly_a(pair: ReasoningPair) -> ReasoningPair:
    return pair.placed("B" if int(content_hash("leaning", pair.pair_id), 16) % 10 == 0 else "A")


def train(out: Path, name: str, options: Sequence[str]) -> Path:
    """The model of a run in `out`, which resumes. A finished run is kept."""
    folder = out / name.replace(", ", "-").replace(" ", "-")
    if not (folder / "model").exists():
        run_recipe(load_recipe(TOY, [*options, f"name=beyond/{folder.name}"]), folder)
    return folder / "model"


def measure(model: Path, recipe: Recipe, data: PairSet) -> dict[str, float]:
    """Greedy answers on the pairs in both orders, and on each reasoning alone, as the model was trained."""
    runner = policy_runner(str(model), load_model(str(model)), data, recipe.episode, 64)
    if recipe.grpo.task == "pointwise":
        asked = [ScoreQuestion(pair, side) for pair in data.pairs for side in SIDES]
        scores = [stated_score(t.judgment) for t in runner.run(asked, Sampling(0.0))]
        both = [(a, b) for a, b in zip(scores[::2], scores[1::2], strict=True)]
        right = [a is not None and b is not None and a > b for a, b in both]
        return {
            "accuracy": fmean(right),
            **by_principle(data, right),
            "ties": fmean(a is not None and a == b for a, b in both),
            "valid": fmean(score is not None for score in scores),
        }
    by_id, ids = data.by_id(), list(data.ids)
    stored, swapped = (
        [t.judgment and t.reward and t.reward["R1"] > 0 for t in runner.run(shown, Sampling(0.0))]
        for shown in ([question(one, by_id, number, 2, orders=2) for one in ids] for number in (0, 1))
    )
    return {
        "accuracy": fmean(bool(right) for right in (*stored, *swapped)),
        **by_principle(data, [bool(a and b) for a, b in zip(stored, swapped, strict=True)]),
        "consistency": fmean(a is not None and a == b for a, b in zip(stored, swapped, strict=True)),
        "both right": fmean(bool(a and b) for a, b in zip(stored, swapped, strict=True)),
        "valid": fmean(one is not None for one in (*stored, *swapped)),
    }


def by_principle(data: PairSet, right: Sequence[bool]) -> dict[str, float]:
    return {
        f"P{number}": fmean(one for pair, one in zip(data.pairs, right, strict=True) if pair.violated == (number,))
        for (number,) in VISIBLE
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/beyond"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    given = parser.parse_args()
    data, rows = given.out / "data", []
    if not (data / "leaning").exists():
        make_data(data)
    judged = load_pairs(data / given.split)
    coin, leaning = f"data.train={data / 'coin'}", f"data.train={data / 'leaning'}"
    start = {
        "pairs": train(given.out, "warm-up, pairs", [*WARMUP, "sft.max_steps=90", "sft.form=json", leaning]),
        "alone": train(given.out, "warm-up, alone", [*WARMUP, "sft.max_steps=60", "sft.form=score", coin]),
    }

    def row(name: str, seed: int | None, model: Path, options: Sequence[str]) -> None:
        found = {"arm": name, "seed": seed, **measure(model, load_recipe(TOY, options), judged)}
        print(json.dumps(found), flush=True)
        rows.append(found)

    row("warm-up, pairs", None, start["pairs"], ARMS["pairs, one order"])
    row("warm-up, alone", None, start["alone"], ARMS["alone"])
    for seed in range(given.seeds):
        for name, options in ARMS.items():
            kind = name.partition(",")[0]
            folder = leaning if kind == "pairs" else coin if "shuffled" in name else f"data.train={data / 'train'}"
            every = ["stage=grpo", f"model={start[kind]}", f"seed={seed}", folder, *options]
            row(name, seed, train(given.out, f"{name}, {seed}", every), options)
    (given.out / f"results-{given.split}.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
