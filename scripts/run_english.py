"""Trains and evaluates the judge of docs/experiments/english_judge.md: SmolLM2-135M with LoRA and E5 retrieval.

The cases are generated (`builtin`), with references of at most three steps. Of each case
all pairs stay that violate P2 or P4 alone, which only the case shows, and one for each other principle. Settings are
chosen on dev. `--transfer` judges pairs that are built in the same way from a corpus, without training on it. A stopped
run resumes: finished models and judged pairs are kept.

    OMP_NUM_THREADS=1 python -m scripts.run_english --out runs/english --rows warm-up
    OMP_NUM_THREADS=1 python -m scripts.run_english --out runs/english --rows warm-up --split test
    OMP_NUM_THREADS=1 python -m scripts.run_english --out runs/english --rows warm-up --transfer medrbench=PATH
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from data_builders.build import write_pairs
from data_builders.english_splits import PLAN, SEED, build_kept
from data_builders.haystack_splits import is_kept
from data_builders.rationales.differences import first_difference, supported, trace_query
from data_builders.rationales.prose import best_window
from data_builders.rationales.rules import recipe_traces
from data_builders.splits.split import split_by_case
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.core.jsonl import write_json
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.episode.case_index import new_retriever
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.rollout import case_search
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.statistics.intervals import clustered_mean_ci, paired_difference_ci
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe
from scripts.run_haystack import MEASURES, Measure, judge, judge_elsewhere, measured, report

CASES_PER_DOMAIN, HELD_OUT, DEV = 70, 52, 12
"""Of 210 cases, 52 are held out, 12 of them for dev and 40 for the test set."""
TRANSFER = 12
"""Cases of each corpus that a judge is only tested on."""
ROWS: Mapping[str, tuple[str, str]] = {
    "SFT without search": ("sft", ""),
    "warm-up": ("warmup", ""),
    "GRPO": ("grpo", "warm-up"),
}
"""Trained rows: recipe in recipes/english, and the row that it starts from."""
BATCH = 96
ELSEWHERE = ", another case's passages"
CONTROLS: Mapping[str, Sequence[str]] = {
    "warm-up": (f"warm-up{ELSEWHERE}", "base", "SFT without search"),
    "GRPO": (f"GRPO{ELSEWHERE}", "warm-up"),
}
"""What a row is compared with, pair by pair."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/english"))
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--split", choices=("dev", "test"), default="dev")
    group.add_argument("--transfer", metavar="SOURCE=PATH", help="judge pairs of this corpus instead of the split")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--no-base", action="store_true", help="do not judge with the untrained model")
    parser.add_argument("--set", nargs="*", default=[], help="key=value overrides of the rows' recipes")
    args = parser.parse_args()
    source, _, path = (args.transfer or "").partition("=")
    if args.transfer and not (source and path):
        parser.error("--transfer takes SOURCE=PATH, such as medrbench=DATA/medical_medrbench")
    data = args.out / "data"
    if not (data / "test" / "pairs.jsonl").exists():
        build_data(data)
    folders = {row: args.out / row.replace(" ", "-") for row in ROWS}
    for row in args.rows:
        train(row, folders, data, args.set)
    split = f"transfer-{source}" if args.transfer else args.split
    if not (data / split / "pairs.jsonl").exists():
        build_transfer(data / split, source, Path(path))
    pairs = load_pairs(data / split)
    with Evaluation(pair_benchmark(pairs), args.out / f"eval-{split}", resume=True) as evaluation:
        names = {}
        changes = [change for change in args.set if change.startswith("episode.")]
        if not args.no_base:
            warm_up = load_recipe(Path("english", "warmup"), changes)
            names["base"] = [judge(evaluation, "base", warm_up.model, warm_up.episode, batch=BATCH)]
        for row in args.rows:
            model, episode = str(folders[row] / "model"), load_recipe(folders[row] / "recipe.yaml", changes).episode
            names[row] = [judge(evaluation, row, model, episode, batch=BATCH)]
            if episode.search:
                other = f"{row}{ELSEWHERE}"
                names[other] = [judge_elsewhere(evaluation, other, model, episode, pairs, batch=BATCH)]
        results = {name: found.items for name, found in evaluation.results.items()}
        rules = {"rule of the traces": rule_row(pairs, load_recipe(Path("english", "warmup"), changes).episode)}
        report(results, names, rules, searched={}, file=args.out / f"table-{split}.json")
        for line in intervals(results):
            print(line)


def alone(principle: int) -> Measure:
    """The score of pairs that violate only this principle."""
    return lambda item: item.score if item.labels is not None and item.labels.violated == (principle,) else None


ABOUT: Mapping[str, Measure] = {
    "accuracy": MEASURES["accuracy"],
    "P2, P4": MEASURES["P2, P4"],
    "P2": alone(2),
    "P4": alone(4),
}
"""What `intervals` prints."""


def intervals(results: Mapping[str, Sequence[ItemResult]]) -> Iterator[str]:
    """Yields the accuracy of each row with its 95 % interval by case, of all pairs and of those that violate P2 or P4
    alone, together and apart, and its difference to its controls: another case's passages, the model that it starts
    from, and SFT without search."""
    for row, items in results.items():
        clusters = {item.item_id: item.cluster_id for item in items}
        for what, measure in ABOUT.items():
            [scores] = measured(results, [row], measure)
            if not scores:
                continue
            low, high = clustered_mean_ci(list(scores.values()), [clusters[item_id] for item_id in scores])
            yield f"{row}: {what} {fmean(scores.values()):.3f} [{low:.3f}, {high:.3f}], {len(scores)} pairs"
            for control in CONTROLS.get(row, ()):
                if control in results:
                    [others] = measured(results, [control], measure)
                    low, high = paired_difference_ci(scores, others, clusters)
                    delta = fmean(scores.values()) - fmean(others.values())
                    yield f"{row} - {control}: {what} {delta:+.3f} [{low:+.3f}, {high:+.3f}]"


def rule_row(pairs: PairSet, episode: EpisodeConfig) -> dict[str, float]:
    """What the rule reaches that writes the traces: it searches for the first difference and takes the side that the
    quoted words of the case support. Where they support neither, it scores 1/2."""
    retriever, scores = new_retriever(pairs.texts, episode), list[tuple[bool, float]]()
    for pair in pairs.pairs:
        first = first_difference(pair)
        if first is None:
            raise JudgeError(f"pair {pair.pair_id}: the two reasonings have the same words")
        query = trace_query(pair, first)
        side = supported(best_window(case_search(retriever, pair.case_id, query, episode.budget.top_k), query), first)
        score = 0.5 if side == "neither" else float(side == pair.preferred)
        scores.append((pair.violated in ((2,), (4,)), score))
    hidden = [score for is_hidden, score in scores if is_hidden]
    return {"accuracy": fmean(score for _, score in scores), "P2, P4": fmean(hidden)}


def train(row: str, folders: Mapping[str, Path], data: Path, changes: Sequence[str]) -> None:
    """Trains one row, unless its model exists."""
    recipe, start = ROWS[row]
    overrides = [f"data.train={data / 'train'}", *([f"model={folders[start] / 'model'}"] if start else []), *changes]
    started = time.monotonic()
    if run_recipe(load_recipe(Path("english", recipe), overrides), folders[row], rationales=recipe_traces):
        write_json(folders[row] / "seconds.json", {"seconds": round(time.monotonic() - started, 1)})


def build_data(out: Path) -> None:
    """Writes train, dev and test, split by case."""
    kept = build_kept(out / "all", PLAN("builtin", seed=SEED, cases_per_domain=CASES_PER_DOMAIN), is_kept)
    train, held_out = split_by_case(kept, HELD_OUT / len(kept.cases), SEED)
    dev, test = split_by_case(held_out, 1 - DEV / HELD_OUT, SEED)
    for name, part in (("train", train), ("dev", dev), ("test", test)):
        write_pairs(part, out / name)


def build_transfer(out: Path, source: str, path: Path) -> None:
    """Writes pairs of the first cases of a corpus. Raises JudgeError if a principle has none, because the table has a
    column for each."""
    pairs = build_kept(out / "all", PLAN(source, path, seed=SEED, limit=TRANSFER), is_kept)
    found = {pair.violated for pair in pairs.pairs}
    if missing := [f"P{number}" for number in range(1, 7) if (number,) not in found]:
        raise JudgeError(f"{TRANSFER} cases of {source} in {path} give no pair of {', '.join(missing)}")
    write_pairs(pairs, out)


if __name__ == "__main__":
    main()
