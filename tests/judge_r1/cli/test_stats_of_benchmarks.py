"""Lengths of the outputs of a benchmark by `judge-r1 stats` (LongJudgeBench, Tables 1 and 2)."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item
from judge_r1.evaluation.output_lengths import output_lengths
from judge_r1.models.token_counter import token_counter


def test_shown_and_different_outputs_are_counted_apart() -> None:
    items = [
        Item(item_id=str(n), cluster_id="c", group=group, instruction="", candidates=texts, gold="A")
        for n, (group, texts) in enumerate([("a", ("x y", "x")), ("a", ("x y", "x y z w")), ("b", ("x",))])
    ]
    found = output_lengths(items, lambda text: len(text.split()))
    assert found["a"] == {
        "items": 2, "outputs": 3, "mean": 2.25, "median": 2.0, "mean_different": pytest.approx(7 / 3),
        "median_different": 2, "longest": 4,
    }  # fmt: skip
    assert (found["all"]["items"], found["all"]["outputs"]) == (3, 3)


def test_the_command(tmp_path: Path) -> None:
    rows = [{"input": "Do it.", "output_1": "one two", "output_2": "one", "label": 1}]
    folder = tmp_path / "Dataset" / "LLMBar" / "Natural"
    folder.mkdir(parents=True)
    (folder / "dataset.json").write_text(json.dumps(rows))
    command = ["stats", str(tmp_path), "--benchmark", "llmbar", "--subset", "Natural", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, [*command, "--tokenizer", "bundled:tiny"])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "lengths.json").read_text())["groups"]["all"]["outputs"] == 2
    assert "is for --benchmark" in CliRunner().invoke(app, ["stats", "x", "--subset", "y"]).output


def test_a_tokenizer_that_cannot_be_loaded_is_one_sentence() -> None:
    with pytest.raises(JudgeError, match="tiktoken:nothing"):
        token_counter("tiktoken:nothing")


@pytest.mark.real_data
def test_table_1_of_longjudgebench(real_data: Path) -> None:
    """LLMBar: 419 pairs, mean 106.0 and median 49 tokens of cl100k_base, as printed."""
    from judge_r1.benchmarks.llmbar import load

    try:
        count = token_counter("tiktoken:cl100k_base")
    except JudgeError as error:
        pytest.skip(str(error))
    found = output_lengths(load(real_data / "llmbar", None).items, count)["all"]
    assert (found["items"], round(found["mean"], 1), found["median"]) == (419, 106.0, 49)
