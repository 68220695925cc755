from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import results_of_verdicts, write
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.autoj import exchange_file, load, predictions
from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.files.tabular import BadTable


def pair(label: int, scenario: str = "seeking_advice", prompt: str = "What now?") -> dict[str, Any]:
    return {"scenario": scenario, "label": label, "prompt": prompt, "response 1": "Run", "response 2": "Stay here"}


LABELS = st.sampled_from([0, 1, 2])


@given(st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=8))
def test_both_orders_must_give_the_label(
    tmp_path_factory: pytest.TempPathFactory, labels: list[tuple[int, int, int]]
) -> None:
    """The repository flips the answer of the swapped order and counts pairs with the label in both."""
    words = {0: "A", 1: "B", 2: "tie"}
    file = tmp_path_factory.getbasetemp() / "testdata_pairwise.jsonl"
    benchmark = load(write(file, [pair(label) for label, _, _ in labels]), None)
    answers_of = {item.item_id: answers for item, (_, *answers) in zip(benchmark.items, labels, strict=True)}
    results = results_of_verdicts(
        benchmark, lambda item, order: PairwiseVerdict(winner=words[answers_of[item.item_id][order[0]]])
    )
    back = {0: 1, 1: 0, 2: 2}
    assert [o.score for o in results] == [float(label == one == back[other]) for label, one, other in labels]
    ties = [o.score for o in results if o.gold != "tie"]
    assert benchmark.metrics(results)["non-tie"] == (sum(ties) / len(ties) if ties else None)


def check_res(label: int, output: int, exchanged: int) -> tuple[bool, bool]:
    """The repository's rules for one pair: (agreement, consistency)."""
    back = {0: 1, 1: 0, 2: 2}[exchanged]
    return label == output == back, output == back


@given(st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=12))
def test_published_outputs_give_the_agreement_and_consistency_of_the_repository(
    tmp_path_factory: pytest.TempPathFactory, labels: list[tuple[int, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("autoj")
    data = write(folder / "data.jsonl", [pair(label, prompt=f"{n}?") for n, (label, _, _) in enumerate(labels)])
    file = write(folder / "pairwise_mine.jsonl", [{"output": output} for _, output, _ in labels])
    assert exchange_file(file).name == "pairwise_exchange_mine.jsonl"
    write(exchange_file(file), [{"output": exchanged} for _, _, exchanged in labels])
    results = predictions(data, file, None)
    rules = [check_res(*each) for each in labels]
    assert [bool(result.score) for result in results] == [agreement for agreement, _ in rules]
    assert load(data, None).metrics(results)["equal"] == sum(equal for _, equal in rules) / len(rules)


def test_outputs_without_swapped_ones_have_one_vote(tmp_path: Path) -> None:
    data = write(tmp_path / "data.jsonl", [pair(0), pair(2, "coding/python"), pair(1)])
    file = write(tmp_path / "reward.jsonl", [{"output": 0}, {"output": 2}, {"output": 0}])
    results = predictions(data, file, None)
    assert ([len(result.votes) for result in results], [result.score for result in results]) == ([1] * 3, [1, 1, 0])
    assert load(data, None).metrics(results)["equal"] is None
    assert [result.item_id for result in predictions(data, file, "coding/python")] == ["coding/python/1"]
    write(exchange_file(file), [{"output": 1}])
    with pytest.raises(BadBenchmark, match=r"exchange_reward.jsonl has 1 output, but the test data have 3 pairs"):
        predictions(data, file, None)
    with pytest.raises(BadTable, match="'output' must be one of 0, 1, 2, not '3'"):
        predictions(data, write(tmp_path / "bad.jsonl", [{"output": 3}] * 3), None)
