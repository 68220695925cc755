"""The demo runs on both corpora; tests/judge_r1/test_wheel.py runs its default from an installed wheel."""

import json
from pathlib import Path

import pytest
from evaluation_digests import write_votes
from evaluation_factories import passage, toy_case, toy_pairs, toy_trajectory
from rich.console import Console
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.cli.demo import FULL, SMALL, TRAINED, Source, _recipes, one_episode, print_published, what_was_learned
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.evaluation.votes import StoredVote
from judge_r1.files.pair_set import PairSet
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.shipped_recipes import recipes_folder


def test_the_published_table_has_a_row_for_each_judge() -> None:
    console = Console(width=80, record=True)
    print_published(console)
    shown = console.export_text()
    published = json.loads((recipes_folder() / "haystack" / "results.json").read_text())
    for row in ("base", "warm-up", "GRPO"):
        [line] = [line for line in shown.splitlines() if line.strip(" │").split("│")[0].strip() == row]
        assert f"{published['rows'][row]['accuracy']:.2f}" in line
    assert published["seeds"]["GRPO"] == 3


def test_the_demo_says_what_was_learned_or_that_nothing_could_be() -> None:
    def said(
        valid: float, *differences: tuple[float, float], source: Source = Source.HAYSTACK, small: bool = False
    ) -> list[str]:
        compared = [
            {"a": f"stage {n}", "b": "base", "delta": (low + high) / 2, "ci95": [low, high]}
            for n, (low, high) in enumerate(differences)
        ]
        rule = {"valid_rate": 1.0, "settings": {"baseline": True}}
        rows = [{"valid_rate": 0.0}, {"valid_rate": valid}, rule]
        return what_was_learned({"rows": rows, "differences": compared}, source, small=small).splitlines()

    nothing, hint = said(0.0, (0.0, 0.0), small=True)
    assert nothing == "Nothing could be learned: no answer of any judge is valid."
    assert "`judge-r1 demo` runs the whole training" in hint
    assert "`judge-r1 demo --source mini` runs the whole training" in said(0.0, source=Source.MINI, small=True)[-1]
    assert said(0.5, (0.1, 0.5), (-0.2, 0.2), (-0.5, -0.1)) == [
        "stage 0 is better than base: +0.30 accuracy [+0.10, +0.50].",
        "stage 1 does not differ significantly from base: +0.00 accuracy [-0.20, +0.20].",
        "stage 2 is worse than base: -0.30 accuracy [-0.50, -0.10].",
    ]


def test_the_shown_episode_is_that_of_the_trained_judge_on_the_first_hidden_flaw(tmp_path: Path) -> None:
    pairs = toy_pairs(1, [(1,), (2,), (2,)])
    votes = [
        StoredVote(
            row=row, item_id=pair.pair_id, order=(0, 1), sample=0, member=0, verdict=PairwiseVerdict(winner="A"),
            trajectory=toy_trajectory(pair, "A>B", (2,), shown=[passage(pair)], answer=f"{row} {pair.variant}"),
        )
        for row in ("warm-up", TRAINED)
        for pair in reversed(pairs)
    ]  # fmt: skip
    write_votes(tmp_path, votes)
    shown = one_episode(tmp_path, PairSet({(case := toy_case(0)).case_id: case}, pairs)).splitlines()
    assert [line[:2] for line in shown[:2]] == ["A:", "B:"]
    assert shown[0][3:] in pairs[1].reasoning_a
    assert shown[1][3:] in pairs[1].reasoning_b
    assert shown[2:] == [
        "<think>check</think><search>paid</search>",
        f"<think>so</think><answer>{TRAINED} 2</answer>",
        f"label: {pairs[1].preferred} is better, the other violates Factual Consistency",
    ]


@pytest.mark.parametrize("stage", ["warmup", "grpo"])
def test_a_folder_of_another_demo_is_refused_before_any_work(stage: str, tmp_path: Path) -> None:
    small = _recipes(Source.MINI, tmp_path, SMALL[Source.MINI], 0)[stage]
    RunFolder(tmp_path / stage, small).log({"step": 1})
    result = CliRunner().invoke(app, ["demo", "--source", "mini", "--out", str(tmp_path)])
    assert result.exit_code == 2, result.output
    assert f"{tmp_path / stage} holds a run of another recipe, with " in result.output
    assert [path.name for path in tmp_path.iterdir()] == [stage]


@pytest.mark.parametrize("source", Source)
def test_the_recipes_of_the_demo_load(source: Source, tmp_path: Path) -> None:
    for size in (FULL[source], SMALL[source]):
        assert [recipe.stage for recipe in _recipes(source, tmp_path, size, 0).values()] == ["sft", "grpo"]


@pytest.mark.slow
def test_the_demo_runs_on_mini(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--source", "mini", "--small", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.partition("4  evaluate")[2].splitlines())) <= 100
    assert "--small runs every step, but trains too little" in result.output
    rows = json.loads((tmp_path / "summary.json").read_text())["rows"]
    assert [row["name"] for row in rows][:3] == ["base", "warm-up", "warm-up + GRPO"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Learning to judge by GRPO: a model of 1.2 M parameters in the toy language mini</title>" in page
    assert 'data-opens="2"' in page  # the trained judge
    again = CliRunner().invoke(app, ["demo", "--source", "mini", "--small", "--out", str(tmp_path)])
    assert again.output.count("finished before, and kept") == 2
