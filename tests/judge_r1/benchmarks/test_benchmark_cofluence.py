"""CoFluEval-LC end to end: a judge of known errors, read in one prompt and in sections, over real HTTP."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer
from known_errors_judge import answer

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, LoadedBenchmark
from judge_r1.benchmarks.cofluence import detection
from judge_r1.benchmarks.cofluence.deltas import delta_metrics, length_rows, task_rows
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, Verdict
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.report.delta_tables import delta_figures, delta_grids
from judge_r1.evaluation.report.tables import NONE
from judge_r1.evaluation.rescore import rescore_evaluation
from judge_r1.evaluation.votes import stored_votes
from judge_r1.files.yaml_config import validated
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel

SHORT = 1_000
DOCUMENTS = 10


def build(out: Path, *options: str, limit: int = DOCUMENTS) -> None:
    overrides = [f"options.{option}" for option in options]
    plan = validated(BuildPlan, {"source": "cofluence", "limit": limit}, overrides, "the plan")
    build_by_rules(generator_for("cofluence", with_teacher=False)(plan), out)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten documents of 5,000 tokens with six manipulations, and their first 1,000 tokens."""
    out = tmp_path_factory.mktemp("cofluence")
    build(out, "story_tokens=5000", f"lengths=full,{SHORT}")
    return out


def load(path: Path, subset: str | None = None) -> LoadedBenchmark:
    return BENCHMARKS.get("cofluence").load(path, subset)


@pytest.fixture(scope="module")
def summary(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The vanilla judge (the benchmark's own prompt, answered directly) and the judge in sections, by the same model,
    which notices errors in the first 2,200 words of a prompt only."""
    out = tmp_path_factory.mktemp("evaluation")
    with FakeLLMServer(answer) as server, Evaluation(load(data), out, resume=False, name="cofluence") as evaluation:
        model = f"{server.url}/v1#known-errors"
        for spec in (f"vanilla=direct@{model}", f"memo=memo:scan={SHORT},overlap=0@{model}"):
            evaluation.run(lambda spec=spec: make_panel(spec, JudgeBuild("", texts={}, batch_size=8)))  # type: ignore[misc]
        summary = evaluation.finish([("memo", "vanilla")])
    page = (out / "report.html").read_text()
    assert "The effect of length" in page
    assert "Detection accuracy, length full" in page
    assert f"Loss of detection, full against {SHORT}" in page
    assert "Missing scores" in page
    return {"rows": {row["name"]: row for row in summary["rows"]}, **{k: summary[k] for k in ("differences",)}}


def lengths_of(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {test["manipulation"]: test for test in row["extra"]["deltas"]["lengths"]}


def test_the_vanilla_judge_degrades_with_length_and_the_memo_judge_does_not(summary: dict[str, Any]) -> None:
    vanilla, memo = (lengths_of(summary["rows"][name]) for name in ("vanilla", "memo"))
    assert len(vanilla) == 6
    for name, test in vanilla.items():
        assert test["n"] == DOCUMENTS
        assert test["df"] in (None, DOCUMENTS - 1)
        assert test["loss_of_detection"] > memo[name]["loss_of_detection"], name
    assert sum(test["loss_of_detection"] > 0 and test["p_holm"] < 0.05 for test in vanilla.values()) >= 4
    assert all(not (test["loss_of_detection"] > 0 and test["p_holm"] < 0.05) for test in memo.values())
    # A short copy has one or two edits of the other types, so ten documents prove no equivalence for them.
    assert {name for name, test in memo.items() if test["p_equivalent"] < 0.05} >= {"typos", "word_order"}
    assert not any(test["p_equivalent"] < 0.05 for name, test in vanilla.items() if test["loss_of_detection"] > 0.3)


def test_detection_is_better_in_sections(summary: dict[str, Any]) -> None:
    full = {name: row["by_domain"]["full"]["accuracy"] for name, row in summary["rows"].items()}
    assert full["memo"] > 0.99 > 0.98 > full["vanilla"]
    assert summary["rows"]["vanilla"]["extra"]["loss of detection"] > 0.2
    assert abs(summary["rows"]["memo"]["extra"]["loss of detection"]) < 0.2
    (difference,) = summary["differences"]
    assert difference["delta"] > 0


def test_every_manipulation_moves_its_metric_and_spares_the_other(summary: dict[str, Any]) -> None:
    for task in summary["rows"]["memo"]["extra"]["deltas"]["tasks"]:
        assert task["mean"] < -0.5, task["manipulation"]
        assert task["p_holm"] < 0.05
        assert task["missing"] == 0
        assert all(abs(test["mean"]) < 0.25 for test in task["leakage"].values())
        assert set(task["leakage"]) == {"fluency", "coherence"} - {task["metric"]}


def test_costs_and_counts_are_reported(summary: dict[str, Any]) -> None:
    usage = summary["rows"]["memo"]["usage"]
    assert usage["sections"] + 140 == usage["calls"], "one call for each section, and a final one for each of 140 texts"
    assert usage["truncated_sections"] == usage["missing_scores"] == 0
    assert summary["rows"]["vanilla"]["extra"]["deltas"] | {"tasks": 0, "lengths": 0, "scores": 0} == {
        "scores": 0,
        "tasks": 0, "lengths": 0, "texts": 140, "without_scores": 0, "partly_scored": 0,
    }  # fmt: skip


def vote(place: int, verdict: Verdict) -> Vote:
    ended = verdict.reason if isinstance(verdict, InvalidVerdict) else "answer"
    return Vote(order=(place,), sample=0, member=0, verdict=verdict, ended=ended, searches=0)


def scored(**scores: float) -> ChecklistVerdict:
    return ChecklistVerdict(scores=scores)


def results(make: Callable[[int, str], tuple[Verdict, Verdict]], *lengths: str, n: int = 5) -> list[ItemResult]:
    """One copy with typos of each document at each length; `make` returns the verdicts on original and copy."""
    found = []
    for number in range(n):
        for length in lengths:
            item = Item(
                item_id=f"{number}/{length}", cluster_id=str(number), group=length, instruction="",
                candidates=("x", "y"), systems=("original", "typos"), gold={"typos": "fluency"},
            )  # fmt: skip
            votes = [vote(place, verdict) for place, verdict in enumerate(make(number, length))]
            found.append(item_result("j", item, votes, detection(item, votes)))
    return found


def test_ties_count_half_and_missing_scores_are_counted() -> None:
    def make(number: int, length: str) -> tuple[Verdict, Verdict]:
        copy = [scored(fluency=4), scored(fluency=5), scored(coherence=1), InvalidVerdict(reason="no_score")]
        return scored(fluency=5, coherence=2), [*copy, scored(fluency=3.5)][number]

    found = results(make, "full")
    assert [result.score for result in found] == [1.0, 0.5, 0.0, 0.0, 1.0]
    assert isinstance(found[2].verdict, InvalidVerdict)
    [row] = task_rows(found)
    assert (row["n"], row["missing"], row["detection"]) == (3, 2, pytest.approx(2.5 / 3))
    counts = delta_metrics(found)["deltas"]
    assert (counts["texts"], counts["without_scores"], counts["partly_scored"]) == (10, 1, 4)


def test_a_manipulation_without_any_score_keeps_its_row() -> None:
    found = results(lambda n, _: (scored(fluency=5, coherence=4), scored(coherence=3)), "full", "2000")
    rows = task_rows(found)
    assert [
        (row["length"], row["n"], row["missing"], row["mean"], row["detection"], row["p_holm"]) for row in rows
    ] == [("2000", 0, 5, None, None, None), ("full", 0, 5, None, None, None)]
    assert rows[0]["leakage"]["coherence"]["mean"] == -1
    metrics = delta_metrics(found)
    assert (metrics["detection"], metrics["deltas"]["lengths"]) == (None, [])
    [grid, *_, missing] = delta_grids([{"name": "j", "extra": metrics}])
    assert grid.rows[0][3:7] == ("fluency", "0 (5 missing)", NONE, NONE)
    assert (grid.rows[0][-2], missing.rows[0][3]) == (NONE, "10")
    assert not delta_figures([{"name": "j", "extra": metrics}]), "there is nothing to draw"


def test_claims_of_equivalence_are_adjusted_for_their_number() -> None:
    drops = {"typos": 1.0, "terms": 2.0}
    found = []
    for number in range(6):
        for length in ("2000", "full"):
            item = Item(
                item_id=f"{number}/{length}", cluster_id=str(number), group=length, instruction="",
                candidates=("x", "y", "z"), gold={"typos": "fluency", "terms": "coherence"},
            )  # fmt: skip
            noise = 0.1 * (number % 3) if length == "full" else 0.0
            copies = [scored(fluency=5 - drop + noise, coherence=5 - drop - noise) for drop in drops.values()]
            votes = [vote(place, verdict) for place, verdict in enumerate([scored(fluency=5, coherence=5), *copies])]
            found.append(item_result("j", item, votes, detection(item, votes)))
    rows = length_rows(found)
    assert [row["loss_of_detection"] for row in rows] == pytest.approx([0.1, -0.1])
    assert [row["p_equivalent_holm"] for row in rows] == pytest.approx([2 * rows[0]["p_equivalent"]] * 2)
    assert rows[0]["p_equivalent"] < 0.01


def test_loss_of_detection_is_positive_if_the_full_text_is_judged_worse() -> None:
    def make(number: int, length: str) -> tuple[Verdict, Verdict]:
        drop = 2.0 if length == "2000" else 0.5 + number % 2 / 2
        return scored(fluency=5), scored(fluency=5 - drop)

    [row] = length_rows(results(make, "2000", "full", n=8))
    assert row["loss_of_detection"] == pytest.approx(1.25)
    assert row["t"] > 0
    assert row["p"] < 0.001
    assert row["p_equivalent"] > 0.9
    assert not length_rows(results(make, "full"))


@pytest.mark.parametrize(("n", "interval"), [(5, None), (6, [1.5, 1.5])])
def test_few_equal_losses_have_no_interval_and_no_whisker(n: int, interval: list[float] | None) -> None:
    found = results(
        lambda _, length: (scored(fluency=5), scored(fluency=3 if length == "2000" else 4.5)), "2000", "full", n=n
    )
    [losses] = length_rows(found)
    assert (losses["loss_of_detection"], losses["ci95"], losses["p_wilcoxon"]) == (1.5, interval, 2 / 2**n)
    row = {"name": "j", "extra": {"deltas": {"tasks": task_rows(found), "lengths": [losses]}}}
    titles = [figure.title for figure in delta_figures([row])]
    assert ("Loss of detection, full against 2000" in titles) == (interval is not None)


def test_replay_keeps_verdicts_that_combine_several_answers(tmp_path: Path) -> None:
    build(tmp_path / "data", "story_tokens=400", "lengths=full,200", limit=2)
    evaluation = Evaluation(load(tmp_path / "data"), tmp_path / "eval", resume=False, name="cofluence")
    with FakeLLMServer(answer) as server, evaluation:
        for kind in ("memo:scan=100", "document", "direct"):
            spec = f"{kind.partition(':')[0]}={kind}@{server.url}/v1#m"
            evaluation.run(lambda spec=spec: make_panel(spec, JudgeBuild("")))  # type: ignore[misc]
        before = evaluation.finish([])
    after = rescore_evaluation(tmp_path / "eval", tmp_path / "data", tmp_path / "again")
    assert [row["extra"] for row in after["rows"]] == [row["extra"] for row in before["rows"]]
    _, document, direct = (row["extra"] for row in before["rows"])
    assert document == direct, "the benchmark's own prompt is that of the judge document"


def test_a_vote_of_an_invalid_verdict_holds_the_notes(tmp_path: Path) -> None:
    build(tmp_path / "data", "story_tokens=300", "lengths=full", "types=typos", limit=1)
    with (
        FakeLLMServer(lambda *prompt: "- [LOGIC] I cannot say.") as server,
        Evaluation(load(tmp_path / "data"), tmp_path / "eval", resume=False, name="cofluence") as evaluation,
    ):
        spec = f"memo=memo:final=false@{server.url}/v1#m"
        evaluation.run(lambda: make_panel(spec, JudgeBuild("")))
        [row] = evaluation.finish([])["rows"]
    votes = list(stored_votes(tmp_path / "eval"))
    assert len(votes) == 2
    assert all(isinstance(stored.verdict, InvalidVerdict) and len(stored.memory) == 1 for stored in votes)
    assert row["extra"]["deltas"]["without_scores"] == 2
    read_summary(tmp_path / "eval")


def test_the_subset_of_pairs_hides_the_original(data: Path) -> None:
    pairs = load(data, "pairs,full")
    assert len(pairs.items) == 60
    assert {item.gold for item in pairs.items} == {"A", "B"}
    assert {item.group for item in pairs.items} == {
        "exchange_content", "temporal", "terms", "typos", "verb_tense", "word_order",
    }  # fmt: skip
    assert len(load(data, "pairs").items) == 120
    assert len(load(data, "full").items) == 10


def test_damaged_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match=r"holds no documents\.jsonl"):
        load(tmp_path)
    build(tmp_path, "story_tokens=400", "lengths=full,200", limit=2)
    with pytest.raises(BadBenchmark, match=r"no subset '2000'"):
        load(tmp_path, "2000")
    lines = (tmp_path / "manipulations.jsonl").read_text().splitlines()
    broken = json.loads(lines[2]) | {"text": "Other."}
    (tmp_path / "manipulations.jsonl").write_text("\n".join([*lines[:2], json.dumps(broken)]))
    with pytest.raises(JudgeError, match=r"manipulations\.jsonl, line 3: .*rebuild the file"):
        load(tmp_path)
    (tmp_path / "manipulations.jsonl").write_text("\n".join(lines))
    documents = (tmp_path / "documents.jsonl").read_text().splitlines()
    (tmp_path / "documents.jsonl").write_text(documents[0])
    with pytest.raises(BadBenchmark, match="is of a document that is not there"):
        load(tmp_path)
