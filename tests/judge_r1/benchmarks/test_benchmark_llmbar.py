import json
from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, run_baseline, write

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.llmbar import SETS, load, predictions
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult

FILE = "LLMBar/Natural/dataset.json"


def pair(number: int, label: int | str = 1) -> dict[str, Any]:
    return {"input": f"input {number}", "output_1": "one two", "output_2": "one", "label": label}


def result(number: int, given: str | None, swapped: str | None, **more: Any) -> dict[str, Any]:
    votes = {"swap = False": {"winner": given}, "swap = True": {"winner": swapped}}
    return {**pair(number), "results": [["an earlier step", "stop"], votes], **more}


def write_sets(folder: Path, base: str = "") -> Path:
    """Writes all eight sets, with two pairs of one instruction each."""
    for name, subfolder in SETS.items():
        pairs = [pair(0, "2" if name == "MT-Bench" else 2) | {"input": name}, pair(1) | {"input": name}]
        write(folder / base / subfolder / "dataset.json", pairs)
    return folder


def test_single_file_needs_a_subset(tmp_path: Path) -> None:
    file = write(tmp_path / "dataset.json", [pair(0)])
    assert [item.item_id for item in load(file, "GPTOut").items] == ["GPTOut/0"]
    with pytest.raises(BadBenchmark, match="is a single set: name it"):
        load(file, None)


def test_accuracy_is_the_average_over_both_orders(tmp_path: Path) -> None:
    benchmark = load(write_sets(tmp_path), None)
    first = run_baseline("always-a", benchmark)
    assert accuracy(first) == 0.5
    assert benchmark.metrics(first) == {"given": 0.5, "swapped": 0.5, "both": 0.0, "equal": 0.0}
    assert benchmark.metrics(run_baseline("longer", benchmark)) == {
        "given": 0.5, "swapped": 0.5, "both": 0.5, "equal": 1.0,
    }  # fmt: skip
    once = [o.model_copy(update={"votes": o.votes[:1]}) for o in first]
    assert benchmark.metrics(once) == dict.fromkeys(("given", "swapped", "both", "equal"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (result(9, "1", "1"), "holds no pair with these texts"),
        (result(0, "1", "1", label=2), "'label' of item Natural/0 differs from the label in"),
        (result(0, "1", "3"), "'results' must have the winner '1', '2' or null, not '3'"),
        (result(0, "1", "1", results=[]), "'results' must end in an object with a winner for 'swap = False'"),
        (result(0, "1", "1", label=3), "'label' must be one of 1, 2, not '3'"),
    ],
)
def test_malformed_results_are_reported(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    write(tmp_path / FILE, [pair(0)])
    with pytest.raises(JudgeError, match=message) as error:
        predictions(tmp_path, write(tmp_path / "result.json", [row]), None)
    assert "result.json, row 1" in str(error.value)


def test_repeated_result_is_reported(tmp_path: Path) -> None:
    write(tmp_path / FILE, [pair(0)])
    with pytest.raises(BadBenchmark, match=r"result\.json holds item Natural/0 twice"):
        predictions(tmp_path, write(tmp_path / "result.json", [result(0, "1", "1")] * 2), None)


EVALUATORS = {
    "LLMBar/Natural/evaluators/GPT-4/Vanilla": (95, 96, 93, 95),
    "LLMBar/Adversarial/Manual/evaluators/GPT-4/Rating_NoRules": (37, 36, 31, 35),
    "LLMBar/Adversarial/Manual/evaluators/ChatGPT/Vanilla": (18, 14, 5, 24),
    "LLMBar/Adversarial/Manual/evaluators/ChatGPT/CoT": (18, 15, 5, 23),
}


@pytest.mark.real_data
@pytest.mark.parametrize("subfolder", EVALUATORS)
def test_published_results_reproduce_the_statistics(subfolder: str, real_data: Path) -> None:
    folder = real_data / "llmbar" / "Dataset"
    results = predictions(folder, folder / subfolder / "result.json", None)
    shipped = json.loads((folder / subfolder / "statistics.json").read_text())
    names = {"given": "correct_False", "swapped": "correct_True", "both": "correct_both", "equal": "equal"}
    extra = load(folder, "Natural").metrics(results)
    counts = [round(extra[name] * len(results)) for name in names]
    assert counts == list(EVALUATORS[subfolder])
    for name, count in zip(names, counts, strict=True):
        share = count / len(results)
        assert shipped[names[name]] == f"{count} / {len(results)} = {share * 100}%"
        assert extra[name] == pytest.approx(share)
    assert shipped["correct_average"] == f"{accuracy(results) * 100}%"
    assert {name: shipped[name] for name in shipped if "kappa" in name} == pytest.approx(kappas(results))


def kappas(results: list[ItemResult]) -> dict[str, float]:
    """The kappas of the published statistics. They compare labels 1 and 2 with winners that are coded 1 and 0, so
    `kappa_False` and `kappa_True` do not measure the agreement with the labels."""
    from sklearn.metrics import cohen_kappa_score

    gold = [{"A": 1, "B": 2}[o.gold] for o in results]
    given, swapped = (
        [int(next(vote.winner for vote in o.votes if vote.order == order) == 0) for o in results]
        for order in ((0, 1), (1, 0))
    )
    one, other = cohen_kappa_score(given, gold), cohen_kappa_score(swapped, gold)
    return {
        "kappa_False": one,
        "kappa_True": other,
        "kappa_average": (one + other) / 2,
        "kappa_agreement": cohen_kappa_score(given, swapped),
    }
