"""JudgeMemo's tables from parsed scores, against a second derivation and the spec of the thesis' layout."""

import csv
import gzip
import json
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from scipy.stats import ttest_1samp
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.analysis.parsed_scores import original_scores, read_parsed_scores, summary_rows, z_grids

TASKS = {"43": "fluency", "41": "fluency", "17": "coherence"}
COLUMNS = ("pipeline", "model", "setting", "length", "task", "doc", "fluency", "coherence")
Table = dict[tuple[str, str, str], tuple[float, float]]
"""(length, task, document) -> (fluency, coherence)."""


@pytest.fixture
def scores() -> Table:
    """20 documents in half points. Copies lose up to 1.5 points on their metric, in the full text fewer."""
    random, found = Random(0), Table()
    for document in range(20):
        for length in ("2K", "Full"):
            whole = (random.choice([4, 4.5, 5]), random.choice([3.5, 4, 4.5]))
            found[length, "gold", f"JM-{document}"] = whole
            for task, metric in TASKS.items():
                loss = random.choice([0, 0.5, 1] if length == "Full" else [0.5, 1, 1.5])
                fluent = metric == "fluency"
                copy = (whole[0] - loss * fluent, whole[1] - loss * (not fluent))
                found[length, task, f"JM-{document}"] = copy
    return found


def write(path: Path, scores: Table, model: str = "LI") -> Path:
    with gzip.open(path, "wt", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(COLUMNS)
        for (length, task, document), values in scores.items():
            writer.writerow(["vanilla", model, "", length, task, document, *values])
    return path


def deltas(scores: Table, length: str, task: str) -> dict[str, float]:
    at = 0 if TASKS[task] == "fluency" else 1
    return {
        document: values[at] - scores[length, "gold", document][at]
        for (own, name, document), values in scores.items()
        if (own, name) == (length, task)
    }


def test_the_tables_are_those_of_a_second_derivation(scores: Table, tmp_path: Path) -> None:
    results = read_parsed_scores([write(tmp_path / "scores.csv.gz", scores)])
    assert list(results) == ["vanilla/LI"]
    (row,) = summary_rows(results)
    for task in row["extra"]["deltas"]["tasks"]:
        length = "Full" if task["length"] == "full" else "2K"
        expected = list(deltas(scores, length, task["manipulation"]).values())
        assert (task["n"], task["missing"], task["metric"]) == (20, 0, TASKS[task["manipulation"]])
        assert task["mean"] == pytest.approx(fmean(expected))
        assert task["t"] == pytest.approx(ttest_1samp(expected, 0).statistic)
        assert task["detection"] == pytest.approx(fmean((d < 0) + (d == 0) / 2 for d in expected))
    (grid,) = z_grids([row])
    assert [line[0] for line in grid.rows] == list(TASKS)
    for name, cell in grid.rows:
        short, full = (deltas(scores, length, str(name)) for length in ("2K", "Full"))
        three = [list(short.values()), list(full.values()), [short[d] - full[d] for d in short]]
        assert [float(z) for z in str(cell).split(" / ")] == [
            pytest.approx(ttest_1samp(values, 0).statistic, abs=0.005) for values in three
        ]
    means = {line[1]: line[2:] for line in original_scores(results).rows}
    for at, metric in enumerate(("fluency", "coherence")):
        own = [fmean(scores[length, "gold", f"JM-{d}"][at] for d in range(20)) for length in ("2K", "Full")]
        assert means[metric] == (f"{own[0]:.3f} (20)", f"{own[1]:.3f} (20)", f"{own[0] - own[1]:+.3f}")


def test_missing_scores_are_counted_and_never_zero(scores: Table, tmp_path: Path) -> None:
    del scores["2K", "41", "JM-0"]
    del scores["Full", "gold", "JM-1"]
    path = write(tmp_path / "scores.csv.gz", scores)
    text = gzip.decompress(path.read_bytes()).decode().replace("\r\n", "\n").splitlines()
    text = [f"{line.rpartition(',')[0]}," if ",2K,17,JM-2," in line else line for line in text]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(text) + "\n")
    (row,) = summary_rows(read_parsed_scores([path]))
    counts = {(t["length"], t["manipulation"]): (t["n"], t["missing"]) for t in row["extra"]["deltas"]["tasks"]}
    assert counts["2K", "41"] == counts["2K", "17"] == (19, 1)
    assert {counts["full", task] for task in TASKS} == {(19, 1)}
    assert counts["2K", "43"] == (20, 0)


def test_the_command_writes_the_tables_of_several_judges(scores: Table, tmp_path: Path) -> None:
    one = write(tmp_path / "one.csv.gz", scores)
    two = write(tmp_path / "two.csv.gz", {key: value for key, value in scores.items() if key[0] == "Full"}, "LN-T")
    result = CliRunner().invoke(app, ["analyse", "deltas", str(one), str(two), "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out" / "deltas.json").read_text())
    assert list(found) == ["vanilla/LI", "vanilla/LN-T"]
    assert found["vanilla/LN-T"]["deltas"]["lengths"] == []
    text = (tmp_path / "out" / "deltas.md").read_text()
    for title in ("Scores of the originals", "Δ by manipulation and length", "The effect of length",
                  "z by manipulation, 2K and full"):  # fmt: skip
        assert f"### {title}\n" in text
    assert (tmp_path / "out" / "deltas-loss-of-detection-full-against-2k.svg").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fluency": 0}, "column 'fluency' holds 0, and scores are from 1 to 5: leave a missing one empty"),
        ({"fluency": 6}, "must hold numbers from 0 to 5"),
        ({"task": "typos"}, "column 'metric' must name the metric that 'typos' degrades"),
        ({"judge": "j "}, "the judges 'j' and 'j ' differ in white space alone"),
        ({"document": "a", "task": "gold"}, "repeats original of 'a' at length full by 'j'"),
        ({"task": "41", "metric": "coherence"}, "of 41 is coherence, and in another row fluency"),
    ],
)
def test_bad_rows_are_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    row = {"judge": "j", "document": "a", "length": "full", "task": "gold", "fluency": 5}
    rows = [row, {**row, "task": "41"}, {**row, "document": "b", "task": "41", **change}]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    with pytest.raises(JudgeError, match=message):
        read_parsed_scores([tmp_path / "s.jsonl"])
