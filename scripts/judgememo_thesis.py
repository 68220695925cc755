"""Recomputes what the JudgeMemo thesis prints (docs/experiments/judgememo_thesis.md).

    python scripts/judgememo_thesis.py                           # the printed tables against each other
    python scripts/judgememo_thesis.py --released JudgeMemo      # a checkout of github.com/hkleiner/JudgeMemo

The first form needs the printed numbers alone. The second one reads the released model outputs by the name of the
metric and compares them with the tables. The outputs are not part of this project (CC BY-NC-SA 4.0).
"""

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from scipy.special import stdtr, stdtrit

from judge_r1.core.errors import JudgeError
from judge_r1.judges.memo.metrics import parse_metrics
from judge_r1.judges.memo.parser import parse_evaluation
from judge_r1.statistics.paired import paired_t
from judge_r1.statistics.significance import holm

TABLES = Path(__file__).with_name("judgememo_thesis_tables.json")
ROUNDING = 0.0015
"""Printed values have three digits; a difference or mean of them may be off by one in the last."""
METRICS = parse_metrics("fluency+coherence")
SETUPS = {"vanilla": ("5.1", "A.12", "A.13"), "judgememo": ("5.2", "A.14", "A.15")}
"""Setup -> its tables of gold scores, of scores at 2K, and of z(2K - Full)."""


class Check(NamedTuple):
    """A printed number and what it should be by other printed numbers."""

    claim: str
    printed: float
    recomputed: float

    @property
    def agrees(self) -> bool:
        return abs(self.printed - self.recomputed) <= ROUNDING


def printed_tables() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads(TABLES.read_text("utf-8"))
    return tables


def differences(tables: Mapping[str, Any]) -> Iterator[Check]:
    """The columns 2K - Full of the tables of gold scores."""
    for setup, (gold, *_) in SETUPS.items():
        for model, row in tables["gold"][setup].items():
            for metric in ("fluency", "coherence"):
                found = row[f"2K {metric}"] - row[f"Full {metric}"]
                yield Check(f"Table {gold}: {model}, {metric}, 2K - Full", row[f"difference {metric}"], found)


def printed_twice(tables: Mapping[str, Any]) -> Iterator[Check]:
    """Gold scores at 2K stand in two tables."""
    for setup, (gold, scores, _) in SETUPS.items():
        for model, row in tables["gold"][setup].items():
            for metric in ("fluency", "coherence"):
                other = tables["scores"][setup][f"gold {metric}"][model]
                claim = f"Table {gold}: {model}, {metric} of gold at 2K; recomputed: Table {scores}"
                yield Check(claim, row[f"2K {metric}"], other)


def means(tables: Mapping[str, Any]) -> Iterator[Check]:
    """The mean and the standard deviation of each row of z(2K - Full), and the means of its columns. The thesis prints
    standard deviations with n in their denominator, not n - 1."""
    metric_of = tables["metric_of"]
    for setup, (_, _, name) in SETUPS.items():
        z = tables["z"][setup]
        for task, row in z.items():
            given = tables["z_rows"][setup][task]
            yield Check(f"Table {name}: [{task}], mean", given["mean"], fmean(row.values()))
            yield Check(f"Table {name}: [{task}], standard deviation", given["sd"], pstdev(row.values()))
        for metric, columns in tables["z_columns"][setup].items():
            for model, value in columns.items():
                own = [row[model] for task, row in z.items() if metric in ("overall", metric_of[task])]
                yield Check(f"Table {name}: {model}, mean z of {metric}", value, fmean(own))


def text_numbers(tables: Mapping[str, Any]) -> Iterator[Check]:
    """Numbers of the text that a table has, too."""
    for claim in tables["text"]:
        found: Any = tables
        for key in claim["where"]:
            found = found[key]
        yield Check(f"{claim['claim']}; recomputed: Table {claim['table']}", claim["printed"], found)


CHECKS = {
    "Differences of gold scores": differences,
    "Numbers that are printed twice": printed_twice,
    "Means of z": means,
    "Numbers of the text": text_numbers,
}


def significance(tables: Mapping[str, Any]) -> list[str]:
    """The values of z(2K - Full) beyond ±1.669, the thesis' bounds, and at the right level: two-sided t-tests with the
    setup's degrees of freedom, then Holm over its table."""
    lines = []
    for setup, (*_, name) in SETUPS.items():
        df = tables["documents"][setup] - 1
        z = {(task, model): value for task, row in tables["z"][setup].items() for model, value in row.items()}
        p = {key: 2 * float(stdtr(df, -abs(value))) for key, value in z.items()}
        lines.append(
            f"Table {name}: {len(z)} tests with {df} degrees of freedom; beyond ±1.669 "
            f"{sum(abs(value) > 1.669 for value in z.values())}, p < .05 {sum(one < 0.05 for one in p.values())}, "
            f"p < .05 after Holm {sum(one < 0.05 for one in holm(p).values())}; two-sided critical value "
            f"{float(stdtrit(df, 0.975)):.3f}, one-sided {float(stdtrit(df, 0.95)):.3f}"
        )
    return lines


def implied_deviations(tables: Mapping[str, Any]) -> list[str]:
    """sd = |Δ|·√n/|z| of Llama's coherence at 2K (Table 5.3), with the gold score of either table."""
    n = tables["documents"]["judgememo"]
    by_table = {
        "A.14": tables["scores"]["judgememo"]["gold coherence"]["LI"],
        "5.2": tables["gold"]["judgememo"]["LI"]["2K coherence"],
    }
    lines = []
    for task, found in tables["stride_context_2k"].items():
        for table, gold in by_table.items():
            delta = found["score"] - gold
            sd = abs(delta) * math.sqrt(n) / abs(found["z"])
            lines.append(
                f"[{task}] z {found['z']}: with the gold score {gold} of Table {table}, Δ {delta:+.3f}, sd {sd:.3f}"
            )
    return lines


MODELS = {
    "LN-noT": "Llama-3_3-Nemotron-Super-49B-v1", "LN-T": "Llama-3_3-Nemotron-Super-49B-v1_THINK", "Q-noT": "Qwen3-32B",
    "Q-T": "Qwen3-32B_THINK", "LI": "Llama-3.3-70B-Instruct",
}  # fmt: skip
"""The folder of each model in the repository."""
VANILLA = "project_gutenberg_v6-3"
FOLDERS = {"43": "F/4/43", "41": "F/4/41", "42": "F/4/42", "24": "C/2/24/paragraph", "17": "C/1/17/paragraph",
           "32": "C/3/32/document"}  # fmt: skip
Scores = dict[str, dict[str, float]]
"""Document -> metric -> score."""


def read_scores(folder: Path) -> Scores:
    """The scores of one folder of outputs, by the name of the metric. Scores that are missing are left out."""
    found: Scores = {}
    for file in sorted(folder.glob("eval_exp_1_*.txt")):
        text = file.read_text("utf-8", errors="replace")
        scores = parse_evaluation(text, METRICS).scores
        found[file.stem] = {metric: score for metric, score in scores.items() if score is not None}
    return found


def released(root: Path, tables: Mapping[str, Any]) -> Iterator[str]:
    """The vanilla outputs of a checkout against Tables 5.1 and A.13: mean gold scores with the bounds that documents
    without an output leave open, and z by manipulation. Raises: JudgeError if there are none."""
    empty = True
    for model, folder in MODELS.items():
        at = root / "experiments" / folder / VANILLA
        gold = {length: read_scores(at / f"gold_pg-1900_{length}") for length in ("2000", "full")}
        for length, label in (("2000", "2K"), ("full", "Full")):
            for metric, other in (("fluency", "coherence"), ("coherence", "fluency")):
                own = [scores[metric] for scores in gold[length].values() if metric in scores]
                if own:
                    empty = False
                    row = tables["gold"]["vanilla"][model]
                    yield _gold_line(
                        f"{model}, {label}, {metric}", own, tables["documents"]["vanilla"],
                        row[f"{label} {metric}"], row[f"{label} {other}"],
                    )  # fmt: skip
        for task, path in FOLDERS.items():
            metric = tables["metric_of"][task]
            deltas = {
                length: _deltas(gold[length], read_scores(at / f"manipulated_pg-1900_{length}" / path), metric)
                for length in gold
            }
            shared = [deltas["2000"][name] - deltas["full"][name] for name in deltas["2000"] if name in deltas["full"]]
            z = [_z(list(deltas["2000"].values())), _z(list(deltas["full"].values())), _z(shared)]
            if any(value != "–" for value in z):
                yield (
                    f"{model}, [{task}] {metric}: z(2K) {z[0]}, z(Full) {z[1]}, z(2K - Full) {z[2]} of {len(shared)}; "
                    f"Table A.13 {tables['z']['vanilla'][task][model]:.3f}"
                )
    if empty:
        raise JudgeError(f"{root} holds no outputs in experiments/MODEL/{VANILLA}: give a checkout of the repository")


def _gold_line(name: str, scores: Sequence[float], documents: int, printed: float, exchanged: float) -> str:
    missing = documents - len(scores)
    low, high = ((sum(scores) + missing * score) / documents for score in (1, 5))
    possible = {True: "possible", False: "impossible"}
    return (
        f"{name}: mean {fmean(scores):.3f} of {len(scores)} documents, so {low:.3f} to {high:.3f} for {documents}; "
        f"Table 5.1 {printed:.3f} ({possible[low - ROUNDING <= printed <= high + ROUNDING]}), "
        f"its other metric {exchanged:.3f} ({possible[low - ROUNDING <= exchanged <= high + ROUNDING]})"
    )


def _deltas(gold: Scores, manipulated: Scores, metric: str) -> dict[str, float]:
    return {
        name: scores[metric] - gold[name][metric]
        for name, scores in manipulated.items()
        if metric in scores and metric in gold.get(name, {})
    }


def _z(values: Sequence[float]) -> str:
    test = paired_t(values) if len(values) > 1 else None
    return "–" if test is None or test.t is None else f"{test.t:.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--released", type=Path, help="a checkout of the thesis' repository")
    options = parser.parse_args(arguments)
    tables = printed_tables()
    if options.released is not None:
        try:
            for line in released(options.released, tables):
                print(line)
        except JudgeError as error:
            raise SystemExit(f"error: {error}") from None
        return
    for title, check in CHECKS.items():
        found = list(check(tables))
        odd = [one for one in found if not one.agrees]
        print(f"## {title}: {len(found) - len(odd)} of {len(found)} agree")
        for one in odd:
            print(f"{one.claim}: printed {one.printed:.3f}, recomputed {one.recomputed:.3f}")
    for title, lines in (("Significance", significance(tables)), ("Table 5.3", implied_deviations(tables))):
        print(f"## {title}")
        print("\n".join(lines))


if __name__ == "__main__":
    main()
