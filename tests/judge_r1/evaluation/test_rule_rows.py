from pathlib import Path

from split_factories import mini_folder

from judge_r1.benchmarks.base import BENCHMARKS, LoadedBenchmark
from judge_r1.cli.eval import eval_
from judge_r1.core.items import Item
from judge_r1.evaluation.folder import read_summary
from judge_r1.evaluation.report.discovery import find_runs
from judge_r1.evaluation.results import read_outcomes
from judge_r1.evaluation.rule_rows import rule_rows


def test_pairs_with_a_case_have_rows_of_rules_that_equal_those_of_the_judges(tmp_path: Path) -> None:
    data = mini_folder(tmp_path / "data", 4)
    eval_(judge=["always-a"], path=data, out=tmp_path / "added")
    eval_(judge=["always-a", "evidence"], path=data, out=tmp_path / "named")
    added, named = (read_summary(tmp_path / name)["rows"] for name in ("added", "named"))
    assert [row["name"] for row in added][:1] == ["always-a"]
    rule = next(row for row in added if row["name"] == "evidence")
    assert rule["settings"] == {"baseline": True}
    judge = next(row for row in named if row["name"] == "evidence")
    assert rule | {"settings": 0} == judge | {"settings": 0}
    assert rule["by_principle"]["P2"]["evidence_hit"] > 0.9  # the cited passage has what the flaw contradicts
    assert list(read_outcomes(tmp_path / "added")) == ["always-a"]  # a rule is no judge of the evaluation


def test_a_report_of_two_evaluations_has_a_rule_once(tmp_path: Path) -> None:
    data = mini_folder(tmp_path / "data", 3)
    for judge in ("always-a", "random"):
        eval_(judge=[judge], path=data, out=tmp_path / judge)
    _, found = find_runs([tmp_path / "always-a", tmp_path / "random"])
    names = [row["name"] for row in found.rows]
    assert sorted(names) == sorted({*names, "always-a", "random", "evidence"})
    assert found.pair_sets == 1


def test_a_rule_that_ties_on_every_item_has_no_row(tmp_path: Path) -> None:
    loaded = BENCHMARKS.get("lrbench").load(mini_folder(tmp_path / "data", 2), None)
    names = {item.item_id: len(set(map(len, (text.split() for text in item.texts)))) for item in loaded.items}
    equal = [item for item in loaded.items if names[item.item_id] == 1]
    found = rule_rows(LoadedBenchmark(equal, loaded.task, texts=loaded.texts, labels=loaded.labels), tmp_path, [])
    assert list(found) == ["evidence"]
    assert rule_rows(loaded, tmp_path, ["longer", "evidence"]) == {}


def test_items_without_a_case_have_no_rules(tmp_path: Path) -> None:
    item = Item(item_id="1", cluster_id="1", instruction="?", candidates=("a b", "a"), gold="A")
    assert rule_rows(LoadedBenchmark([item]), tmp_path, []) == {}
