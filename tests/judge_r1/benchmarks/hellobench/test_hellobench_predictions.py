"""Published judgements with people's scores, several judges in one table (Table 5), and options without effect."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hellobench_factories import make_checkout, write_lines, write_responses
from scipy.stats import spearmanr

from judge_r1.benchmarks.hellobench import generation_tasks, load, predicted
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.pipeline import evaluate_predictions
from judge_r1.evaluation.report.tables import grids
from judge_r1.statistics import correlation

HUMAN, GOLD = "Spearman correlation with human scores", "Spearman correlation with gold scores"
SCORES = {"strict": {"travel": [0, 0.5], "rewrite": [0, 0, 0.5]}, "kind": {"travel": [1, 1], "rewrite": [1, 0.5, 1]}}


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlation, "correlation_table", partial(correlation.correlation_table, resamples=30))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Without results: the files of predictions hold all texts."""
    return make_checkout(tmp_path / "HelloBench")


@pytest.fixture
def human(tmp_path: Path) -> Path:
    """People prefer the second response of each task, and every response of `fine` to those of `poor`."""
    rows = [
        {"category": category, "id": f"{stem}_{n:03}", "system": system, "scores": scores, "overall": overall + n}
        for category, stem, scores in (("travel", "open_ended_qa", [1, 1]), ("rewrite", "chat", [1, 1, 1]))
        for system, overall in (("fine", 6), ("poor", 2))
        for n in range(2)
    ]
    return write_lines(tmp_path / "human.jsonl", rows)


def judgements(root: Path, judge: str, systems: dict[str, str]) -> Path:
    """The judgements of `judge` on two systems. Each system has its scores in `SCORES`."""
    for system, scores in systems.items():
        write_responses(root / judge / system, f"By {system}", scores=SCORES[scores])
    return root / judge


def scored(checkout: Path, files: list[Path], subset: str | None, out: Path) -> dict[str, Any]:
    evaluate_predictions("hellobench", checkout, files, subset, out)
    return read_summary(out)


def test_people_and_gold_count_for_published_judgements(checkout: Path, human: Path, tmp_path: Path) -> None:
    files = judgements(tmp_path, "judge", {"fine": "kind", "poor": "strict"})
    (row,) = scored(checkout, [files], f"human={human}", tmp_path / "out")["rows"]
    table = row["tables"][HUMAN]
    assert (table["judge"]["n"], table["AVG-C"]["n"]) == (8, 8)
    own, people = [1, 1, 0.125, 0.125, 0.85, 0.85, 0.25, 0.25], [6, 7, 2, 3] * 2
    assert table["judge"]["rho"] == pytest.approx(spearmanr(own, people).statistic)
    assert table["judge"]["p"] == pytest.approx(1536 / 40_320), "of all orders; the t distribution gives .017"
    assert row["extra"]["MAE"] == pytest.approx(2 * (0 + 0.5 + 1.5 + 2.5) / 20)
    (row,) = scored(checkout, [files], f"gold={files}", tmp_path / "gold")["rows"]
    assert (row["extra"]["exact"], row["tables"][GOLD]["judge"]["rho"]) == (1.0, pytest.approx(1.0))
    other = write_lines(tmp_path / "other.jsonl", [{"category": "travel", "id": "x", "scores": [1, 1], "overall": 1}])
    with pytest.raises(JudgeError, match="scores none of the texts to judge"):
        scored(checkout, [files], f"human={other}", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_several_published_judges_share_one_table(checkout: Path, human: Path, tmp_path: Path) -> None:
    """A file may cover systems that the other one lacks: the table has the texts that both judge."""
    both = judgements(tmp_path, "both", {"fine": "kind", "poor": "strict"})
    one = judgements(tmp_path, "one", {"fine": "strict"})
    summary = scored(checkout, [both, one], f"human={human},chat,open_ended_qa", tmp_path / "out")
    table = summary["tables"][HUMAN]
    assert list(table) == ["both", "one", "AVG-C (both)", "AVG-C (one)", "words", "Rep-4", "Dist-4"]
    assert {cells["n"] for cells in table.values()} == {4}
    titles = [grid.title for grid in grids(summary)]
    assert titles.count(HUMAN) == 1
    assert f"{HUMAN} (both)" not in titles
    assert "Systems (one)" in titles


def test_too_few_scores_of_people_are_shown_as_such(checkout: Path, human: Path, tmp_path: Path) -> None:
    two = write_lines(tmp_path / "two.jsonl", [json.loads(line) for line in human.read_text().splitlines()[:2]])
    files = judgements(tmp_path, "judge", {"fine": "kind", "poor": "strict"})
    (row,) = scored(checkout, [files], f"human={two}", tmp_path / "out")["rows"]
    assert row["tables"][HUMAN]["judge"] == {"rho": None, "n": 2}


def test_judgements_of_other_responses_are_refused(checkout: Path, tmp_path: Path) -> None:
    one, two = (judgements(tmp_path, name, {"fine": "kind"}) / "fine" for name in ("one", "two"))
    responses = write_responses(tmp_path / "responses" / "fine", "By fine")
    assert len(predicted(checkout, [one, two], f"responses={responses}").items) == 4
    write_responses(two, "Another text", scores=SCORES["kind"])
    with pytest.raises(JudgeError, match="judges another response than the one in"):
        predicted(checkout, [one, two], None)
    with pytest.raises(JudgeError, match=r"judges another response than the one in .*responses"):
        predicted(checkout, [two], f"responses={responses}")
    with pytest.raises(JudgeError, match="do not name"):
        predicted(checkout, [one], f"responses={write_responses(tmp_path / 'r' / 'other', 'By fine')}")


def test_an_option_without_effect_is_an_error(checkout: Path, human: Path, tmp_path: Path) -> None:
    folder = write_responses(tmp_path / "responses" / "fine", "A text", scores=SCORES["kind"])
    with pytest.raises(JudgeError, match="legacy_join changes what a judge reads, and --predictions runs none"):
        predicted(checkout, [folder], "legacy_join=true")
    for option in (f"human={human}", "weights=average", "system=fine", "against=fine"):
        with pytest.raises(JudgeError, match=rf"{option.split('=')[0]} is for `judge-r1 eval`: leave it out"):
            generation_tasks(checkout, f"chat,{option}")
    assert len(generation_tasks(checkout, "chat,exp=main_exp")) == 2
    (folder / "chat_results.jsonl").unlink()
    with pytest.raises(JudgeError, match="has no response of chat to judge"):
        load(checkout, f"responses={folder},open_ended_qa,chat")
    with pytest.raises(JudgeError, match="against=fine is the only system to judge"):
        load(checkout, f"responses={folder},against=fine")
