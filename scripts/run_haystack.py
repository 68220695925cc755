"""Trains and evaluates the `haystack` experiment of docs/haystack.md: every row of its table, for several seeds.

A stopped run resumes: finished models and judged pairs are kept. Settings were chosen on dev; `--split test` is for the
final table only, and each reading is logged in docs/experiments/haystack_readings.csv.

    OMP_NUM_THREADS=1 python -m scripts.run_haystack --out runs/haystack --seeds 5 --split dev
    python -m scripts.run_haystack --table recipes/haystack/results.json
"""

import argparse
import csv
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, ClassVar, TypeVar

from rich.console import Console
from rich.table import Table

from data_builders.build import write_pairs
from data_builders.haystack_splits import build_splits, shuffled_labels
from data_builders.rationales.rules import recipe_rationales
from data_builders.rationales.store import StoredRationale
from data_builders.worlds.haystack.rationales import Chooser, claims_of, differing, in_order, undirected
from data_builders.worlds.haystack.source import FACTS
from data_builders.worlds.mini.source import Fact, facts_of
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.items import ItemResult
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.evaluation.metrics import result_scores
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.summary import summary_row
from judge_r1.files.jsonl import write_json, write_jsonl
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.files.strict_json import read_json
from judge_r1.judges.agentic import AgenticJudge
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import JudgePanel
from judge_r1.models.base import Sampling
from judge_r1.models.hub import load_tokenizer
from judge_r1.statistics.intervals import difference_over_seeds
from judge_r1.statistics.paired import PairedT, paired_t
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe
from judge_r1.training.trl.common import policy_runner
from retrieval.passages import split_passages

BASE = "bundled:haystack"
CASE_DEPENDENT = ({2}, {4})
BATCH = 128
WARMUP = load_recipe(Path("haystack", "warmup"))


@dataclass(frozen=True)
class Row:
    """A trained row: its recipe in recipes/haystack, the row whose model it starts from ("" for the base), how many
    seeds it has at most, the training folder if it is not `train`, and changes of the recipe."""

    recipe: str
    start: str = ""
    seeds: int = 100
    train: str = "train"
    changes: tuple[str, ...] = ()


HUNDRED = ("grpo.steps=100", "grpo.pairs_per_step=6", "grpo.micro_batch_size=24", "grpo.rollout_batch_size=48")
"""100 smaller steps, to compare advantages."""


TRAINED: Mapping[str, Row] = {
    "warm-up": Row("warmup"),
    "GRPO": Row("grpo", "warm-up"),
    "continued SFT": Row("continued", "warm-up", seeds=3),
    "rejection sampling": Row("best-of-n", "warm-up", seeds=3),
    "careful SFT": Row("careful", seeds=3),
    "GRPO from careful": Row("grpo", "careful SFT", seeds=3),
    "GRPO, shuffled labels": Row("grpo", "warm-up", seeds=3, train="shuffled"),
    "directed SFT": Row("directed", seeds=3),
    "100 steps, sum": Row("grpo", "warm-up", seeds=3, changes=(*HUNDRED, "grpo.advantage=sum")),
    "100 steps, decoupled": Row("grpo", "warm-up", seeds=3, changes=HUNDRED),
    "format for fc": Row("warmup-fc", seeds=3, train="shuffled"),
    "fc": Row("grpo-fc", "format for fc", seeds=3),
    "warm-up for warm-fc": Row("warmup-fc", seeds=3),
    "warm-fc": Row("grpo-fc", "warm-up for warm-fc", seeds=3),
    "format for search": Row("warmup", seeds=3, train="shuffled"),
    "search": Row("grpo", "format for search", seeds=3),
    "format for fc-search": Row("warmup-fc-search", seeds=3, train="shuffled"),
    "fc-search": Row("grpo-fc-search", "format for fc-search", seeds=3),
    "warm-up for warm-fc-search": Row("warmup-fc-search", seeds=3),
    "warm-fc-search": Row("grpo-fc-search", "warm-up for warm-fc-search", seeds=3),
}
"""In an order in which every row follows the one that it starts from. Table 4's variants are the last. Those without
a warm-up start from a model that learned the format alone, from shuffled labels, since the base answers nothing."""
RULES: Mapping[str, Chooser] = {
    "rule: never search": lambda pair, claims, searches: (),
    "rule: one or two random lines": undirected,
    "rule: always two random lines": lambda pair, claims, searches: Random(pair.pair_id).sample(list(claims), searches),
    "rule: always the first two lines": in_order,
    "rule: the differing line": differing,
}
"""Where fixed rules search, one line in each query."""
WITHOUT_EVIDENCE = ("GRPO", "warm-fc-search")
"""Rows that are also judged without search and with passages of another case, for three seeds."""
DIFFERENCES = [
    *(("GRPO", row) for row in ("warm-up", "continued SFT", "rejection sampling", "careful SFT", "directed SFT")),
    ("GRPO from careful", "careful SFT"),
    ("GRPO, shuffled labels", "warm-up"),
    ("100 steps, decoupled", "100 steps, sum"),
    *((row, f"format for {row}") for row in ("fc", "search", "fc-search")),
    ("warm-fc", "warm-up for warm-fc"),
    ("warm-fc-search", "warm-up for warm-fc-search"),
    ("GRPO, sampled", "warm-up, sampled"),
    ("warm-fc-search, sampled", "warm-up for warm-fc-search, sampled"),
    *(
        (row, f"{row}, {control}")
        for row in WITHOUT_EVIDENCE
        for control in ("search disabled", "another case's passages")
    ),
]

_CHOICE = re.compile(r" (same|differs)(?: \w+ \w+ (?:alike|unlike))?(?: check A \w+| skip)?(</think><search>)?")
"""What an episode says of a line in A and B, and whether it searches there."""

K = TypeVar("K")
Measure = Callable[[ItemResult], float | None]
MEASURES: Mapping[str, Measure] = {
    "accuracy": lambda result: result.score,
    "P2, P4": lambda result: result.score if is_hidden(result) else None,
    "label_f1": lambda result: result_scores(result).f1,
    "label_f1 of P2, P4": lambda result: result_scores(result).f1 if is_hidden(result) else None,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/haystack"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--split", choices=("dev", "test"), default="dev")
    parser.add_argument("--rows", nargs="*", choices=list(TRAINED), help="default: all; earlier rows are added")
    parser.add_argument("--base", default=BASE, help="a folder or bundled:NAME; {seed} is replaced")
    parser.add_argument("--sampled", action="store_true", help="also judge at temperature 1")
    parser.add_argument(
        "--set", nargs="*", default=[], help="key=value overrides: sft.* of SFT recipes, others of GRPO"
    )
    parser.add_argument("--source", choices=list(FACTS), default="haystack", help="default: haystack")
    parser.add_argument("--draw", type=int, default=0, help="number of a draw of all splits, and the first seed")
    parser.add_argument(
        "--table",
        type=Path,
        nargs="+",
        help="only print the t intervals over seeds of these tables, which earlier runs wrote",
    )
    parser.add_argument("--merged", type=Path, help="with --table: also write their seeds as one table")
    args = parser.parse_args()
    if args.table:
        merged = merge(list(map(read_json, args.table)))
        print_over_seeds(merged["by_seed"])
        if args.merged:
            write_json(args.merged, merged)
        return
    data, drawn = args.out / "data", {"draw": args.draw, "source": args.source}
    if (made := data / "draw.json").exists():
        if (found := read_json(made)) != drawn:
            parser.error(f"{args.out} has the data of {found}: choose another --out")
    else:
        splits = build_splits(data, draw=args.draw, source=args.source)
        write_pairs(shuffled_labels(splits["train"], 0), data / "shuffled")
        write_json(made, drawn)
    wanted = with_starts(args.rows or list(TRAINED))
    pairs = load_pairs(data / args.split)
    folder = args.out / f"eval-{args.split}"
    steps: list[dict[str, Any]] = []
    with Evaluation(pair_benchmark(pairs), folder, resume=True) as evaluation:
        names: dict[str, list[str]] = {}
        for seed in range(args.draw, args.draw + args.seeds):
            base = args.base.format(seed=seed)
            rows = [row for row in wanted if seed - args.draw < TRAINED[row].seeds]
            folders = {row: args.out / str(seed) / row.replace(" ", "-").replace(",", "") for row in rows}
            for row in rows:
                train(row, folders[row], folders, base, data, seed, args.set)
                steps += [{"seed": seed, "row": row, **step} for step in rollouts_by_step(folders[row])]
            judged: dict[str, tuple[str, EpisodeConfig]] = {
                row: (str(folder / "model"), load_recipe(folder / "recipe.yaml").episode)
                for row, folder in folders.items()
            }
            if seed == args.draw or base != args.base:
                judged = {"base": (base, WARMUP.episode), **judged}
            for row, (model, episode) in judged.items():
                names.setdefault(row, []).append(judge(evaluation, f"{row}, seed {seed}", model, episode))
                if args.sampled:
                    sampled = judge(evaluation, f"{row}, sampled, seed {seed}", model, episode, Sampling(1.0, seed))
                    names.setdefault(f"{row}, sampled", []).append(sampled)
            for row in WITHOUT_EVIDENCE if seed - args.draw < 3 else ():
                if row in judged:
                    model, episode = judged[row]
                    off = episode.model_copy(update={"search": False})
                    name = judge(evaluation, f"{row}, search disabled, seed {seed}", model, off)
                    names.setdefault(f"{row}, search disabled", []).append(name)
                    elsewhere = f"{row}, another case's passages"
                    name = judge_elsewhere(evaluation, f"{elsewhere}, seed {seed}", model, episode, pairs)
                    names.setdefault(elsewhere, []).append(name)
        rules = {name: rule_row(choose, pairs, WARMUP.episode) for name, choose in RULES.items()}
        decode = SafeTokenizer(load_tokenizer(args.base.format(seed=0))).decode
        stored = (folder / "votes.jsonl").read_text(encoding="utf-8").splitlines()
        searched = searches_by_line(map(json.loads, stored), decode, lambda line: str(line["row"]))
        results = {name: found.items for name, found in evaluation.results.items()}
        report(results, names, rules, searched, args.out / f"table-{args.split}.json")
    with (args.out / "steps.csv").open("w", encoding="utf-8", newline="") as out:
        table = csv.DictWriter(out, ("seed", "row", "step", *BY_STEP), lineterminator="\n")
        table.writeheader()
        table.writerows(steps)


def with_starts(rows: Iterable[str]) -> list[str]:
    """The rows and those that they start from, in the order of `TRAINED`."""
    wanted = set(rows)
    for row in reversed(list(TRAINED)):
        if row in wanted and TRAINED[row].start:
            wanted.add(TRAINED[row].start)
    return [row for row in TRAINED if row in wanted]


def train(
    row: str, folder: Path, folders: Mapping[str, Path], base: str, data: Path, seed: int, changes: Sequence[str]
) -> None:
    """Trains one row, unless its model exists."""
    spec = TRAINED[row]
    model = str(folders[spec.start] / "model") if spec.start else base
    overrides = [f"seed={seed}", f"model={model}", f"data.train={data / spec.train}", *spec.changes]
    is_grpo = spec.recipe.startswith("grpo")
    overrides += [change for change in changes if is_grpo != change.startswith("sft.")]
    if is_grpo:
        overrides.append(f"data.dev={data / 'dev'}")
    if spec.recipe == "best-of-n":
        overrides.append(
            f"sft.rationales_file={best_of_n(model, data / spec.train, folder.with_suffix('.jsonl'), seed)}"
        )
    started = time.monotonic()
    if run_recipe(load_recipe(Path("haystack", spec.recipe), overrides), folder, rationales=recipe_rationales):
        write_json(folder / "seconds.json", {"seconds": round(time.monotonic() - started, 1)})


BY_STEP = {
    "accuracy": "rollout/accuracy",
    "F1 P2": "rollout/reward/F1/P2",
    "F1 P4": "rollout/reward/F1/P4",
    "label collapse": "rollout/label_collapse",
    "of gold labels": "rollout/label_collapse_gold",
}
"""Column of steps.csv → metric of GRPO. A judge that always says one name has F1 near 1 for it and 0 for the other."""


def rollouts_by_step(folder: Path) -> Iterator[dict[str, Any]]:
    """How well the sampled episodes of each GRPO step judge and name. Nothing for SFT."""
    for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        step = json.loads(line)
        if BY_STEP["accuracy"] in step:
            found = {column: step[metric] for column, metric in BY_STEP.items() if metric in step}
            yield {"step": step["step"], **{column: round(value, 3) for column, value in found.items()}}


def best_of_n(model: str, train_data: Path, file: Path, seed: int, pairs: int = 1080, samples: int = 4) -> Path:
    """Writes one episode with reward 1 for each of `pairs` pairs that has one among `samples` samples. The defaults
    take as many samples as GRPO does in 45 steps."""
    if file.exists():
        return file
    data = load_pairs(train_data)
    chosen = sorted(data.pairs, key=lambda pair: content_hash("best of n", pair.pair_id, seed))[:pairs]
    runner = policy_runner(model, None, data, WARMUP.episode, BATCH)
    found: dict[str, StoredRationale] = {}
    for start in range(0, len(chosen), BATCH // samples):
        asked = [pair for pair in chosen[start : start + BATCH // samples] for _ in range(samples)]
        for pair, trajectory in zip(asked, runner.run(asked, Sampling(1.0, seed)), strict=True):
            if trajectory.reward is not None and trajectory.reward["r"] == 1.0:
                found.setdefault(
                    pair.pair_id, StoredRationale(pair_id=pair.pair_id, teacher=model, trajectory=trajectory)
                )
    write_jsonl(file, found.values())
    return file


def judge(
    evaluation: Evaluation, name: str, model: str, episode: EpisodeConfig, sampling: Sampling | None = None
) -> str:
    """Judges greedily, or as `sampling` says, and returns the name of the judge."""
    evaluation.add_agentic(name, model, episode, sampling or Sampling(), BATCH)
    return name


class AnyPassages(CaseSearcher):
    """Shows the first passages where a search finds nothing, so that each search of the control has evidence."""

    settings: ClassVar[Mapping[str, Any]] = {"without a match": "the first passages"}

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Evidence]]:
        words = WARMUP.episode.budget.passage_words
        return [
            hits
            or [
                Evidence(case_id=case_id, start=passage.start, end=passage.end, text=passage.text, score=0.0)
                for passage in split_passages(self.texts[case_id], words)[:k]
            ]
            for (case_id, _), hits in zip(requests, super().search(requests, k), strict=True)
        ]


def judge_elsewhere(evaluation: Evaluation, name: str, model: str, episode: EpisodeConfig, data: PairSet) -> str:
    """Judges with searches that answer from another case: the evidence then says nothing about the pair."""
    ids = Random(0).sample(sorted(data.cases), len(data.cases))
    others = dict(zip(ids, ids[1:] + ids[:1], strict=True))
    texts = {case_id: data.cases[other].context for case_id, other in others.items()}
    build = JudgeBuild(model, texts=texts, sampling=Sampling(), batch_size=BATCH, searcher=AnyPassages)
    evaluation.run(lambda: JudgePanel(name, (AgenticJudge(build, episode),)))
    return name


def rule_row(choose: Chooser, data: PairSet, episode: EpisodeConfig) -> dict[str, float]:
    """What a fixed rule reaches with the real search and perfect reading of every fact that is shown, also of
    lines that it did not ask for. A flaw that it does not find costs 1/2."""
    searcher, scores, searches = CaseSearcher(data.texts, episode), [], 0
    for pair in data.pairs:
        claims, read = claims_of(pair), set[Fact]()
        for a, _ in map(claims.__getitem__, choose(pair, claims, episode.budget.max_searches)):
            hits = searcher.of_case(pair.case_id)(a.who)
            read |= {fact for hit in hits for fact in facts_of(hit.text)}
            searches += 1
        found = not set(pair.violated) <= {2, 4} or any((a in read) != (b in read) for a, b in claims.values())
        scores.append((pair.violated in ((2,), (4,)), 1.0 if found else 0.5))
    return {
        "P2, P4": fmean(score for hidden, score in scores if hidden),
        "accuracy": fmean(score for _, score in scores),
        "searches": searches / len(scores),
    }


def searches_by_line(
    lines: Iterable[Mapping[str, Any]], decode: Callable[[Sequence[int]], str], group: Callable[[Mapping[str, Any]], K]
) -> dict[K, dict[str, float]]:
    """For each group of the lines of a votes.jsonl, the share of the claims that its episodes call `differs`, and of
    those that they call `same`, where they search: over all claims, and for each number of a claim."""
    found: defaultdict[K, defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if line["trajectory"] is not None:
            choices = _CHOICE.findall(decode(line["trajectory"]["token_ids"]))
            for number, (said, search) in enumerate(choices, 1):
                for key in (f"search if {said}", f"search if {said}, line {number}"):
                    found[group(line)][key].append(bool(search))
    return {key: {said: fmean(searched) for said, searched in shares.items()} for key, shares in found.items()}


def report(
    results: Mapping[str, Sequence[ItemResult]],
    names: Mapping[str, Sequence[str]],
    rules: Mapping[str, dict[str, float]],
    searched: Mapping[str, Mapping[str, float]],
    file: Path,
) -> None:
    """Prints the table of means over seeds and the paired differences, and writes them as JSON, with every seed."""
    seeds = {row: [seed_row(results[name]) | searches_of(searched, name) for name in of] for row, of in names.items()}
    rows = {row: means(found) for row, found in seeds.items()}
    columns = list(next(iter(rows.values())))
    table = Table("", "seeds", *columns)
    for row, values in {**rules, **rows}.items():
        shown = (f"{values[column]:.3f}" if column in values else "" for column in columns)
        table.add_row(row, str(len(names.get(row, []))), *shown)
    clusters = {r.item_id: r.cluster_id for items in results.values() for r in items}
    gains = {}
    for after, before in DIFFERENCES:
        if after in names and before in names:
            shared = min(len(names[after]), len(names[before]))
            gains[f"{after} - {before}"] = {
                what: asdict(
                    difference_over_seeds(
                        measured(results, names[after][:shared], measure),
                        measured(results, names[before][:shared], measure),
                        clusters,
                    )
                )
                for what, measure in MEASURES.items()
            }
    console = Console(width=200)
    console.print(table)
    for name, gain in gains.items():
        for what, found in gain.items():
            (low, high), each = found["ci95"], " ".join(f"{value:+.3f}" for value in found["by_seed"])
            console.print(f"{name}: {what} {found['delta']:+.3f} [{low:+.3f}, {high:+.3f}], by seed {each}")
    print_over_seeds(seeds)
    lines = {name: {key: share for key, share in found.items() if "line" in key} for name, found in searched.items()}
    counts = {row: len(of) for row, of in names.items()}
    write_json(
        file, {"rules": rules, "rows": rows, "seeds": counts, "by_seed": seeds, "lines": lines, "differences": gains}
    )


def merge(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The seeds of all tables as one: the means of rules over tables and of rows over seeds."""
    by_seed: dict[str, list[dict[str, float]]] = defaultdict(list)
    for table in tables:
        for row, seeds in table["by_seed"].items():
            by_seed[row] += seeds
    rules = {name: [table["rules"][name] for table in tables if "rules" in table] for name in RULES}
    return {
        "rules": {name: means(found) for name, found in rules.items() if found},
        "rows": {row: means(seeds) for row, seeds in by_seed.items()},
        "seeds": {row: len(seeds) for row, seeds in by_seed.items()},
        "by_seed": dict(by_seed),
    }


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each column."""
    return {key: fmean(row[key] for row in rows) for key in rows[0]}


def print_over_seeds(by_seed: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    """Prints the differences between the seeds' means with t intervals, which contain the variation between seeds."""
    for (after, before), (what, found) in over_seeds(by_seed):
        interval = "no interval" if found.ci95 is None else "[{:+.3f}, {:+.3f}]".format(*found.ci95)
        print(f"{after} - {before}, t over {found.n} seeds: {what} {found.mean:+.3f} {interval}")


def over_seeds(
    by_seed: Mapping[str, Sequence[Mapping[str, float]]],
) -> Iterator[tuple[tuple[str, str], tuple[str, PairedT]]]:
    """Yields the two rows of each of `DIFFERENCES`, a measure and its t-test. Rows are paired by seed; seeds that one
    of them lacks are left out, and so are differences with fewer than two."""
    for rows in DIFFERENCES:
        after, before = (by_seed.get(row, ()) for row in rows)
        if min(len(after), len(before)) > 1:
            for what in MEASURES:
                yield (
                    rows,
                    (what, paired_t([one[what] - other[what] for one, other in zip(after, before, strict=False)])),
                )


def searches_of(searched: Mapping[str, Mapping[str, float]], name: str) -> dict[str, float]:
    return {key: searched.get(name, {}).get(key, 0.0) for key in ("search if differs", "search if same")}


def measured(
    results: Mapping[str, Sequence[ItemResult]], names: Sequence[str], measure: Measure
) -> list[dict[str, float]]:
    """A measure of each pair that has it, for each judge."""
    return [
        {result.item_id: value for result in results[name] if (value := measure(result)) is not None} for name in names
    ]


def is_hidden(result: ItemResult) -> bool:
    """Whether only the case shows the flaw."""
    return result.labels is not None and set(result.labels.violated) in CASE_DEPENDENT


def seed_row(results: Sequence[ItemResult]) -> dict[str, float]:
    summary = summary_row("", results, {})
    hidden = [result.score for result in results if is_hidden(result)]
    single = {
        f"P{number}": fmean(r.score for r in results if r.labels and set(r.labels.violated) == {number})
        for number in range(1, 7)
    }
    columns = ("accuracy", "label_f1", "valid_rate", "searches", "evidence_hit")
    named = MEASURES["label_f1 of P2, P4"]
    return {
        "P2, P4": fmean(hidden),
        **{name: float(getattr(summary, name) or 0) for name in columns},
        "label_f1 of P2, P4": fmean(f1 for f1 in map(named, results) if f1 is not None),
        **single,
    }


if __name__ == "__main__":
    main()
