from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import decided, write
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.autoj import load
from judge_r1.core.tabular import BadTable
from judge_r1.core.verdicts import PairwiseVerdict


def pair(label: int, scenario: str = "seeking_advice", prompt: str = "What now?") -> dict[str, Any]:
    return {"scenario": scenario, "label": label, "prompt": prompt, "response 1": "Run", "response 2": "Stay here"}


def test_items_and_clusters(tmp_path: Path) -> None:
    write(tmp_path / "data/test/testdata_pairwise.jsonl", [pair(0), pair(1, "coding/python"), pair(2, prompt="And?")])
    suite = load(tmp_path, None)
    assert [item.gold for item in suite.items] == ["A", "B", "tie"]
    assert [item.item_id for item in load(tmp_path, "coding/python").items] == ["coding/python/1"]
    assert suite.items[0].cluster_id == suite.items[1].cluster_id != suite.items[2].cluster_id
    with pytest.raises(BadTable, match="'label' must be one of 0, 1, 2, not '3'"):
        load(write(tmp_path / "t.jsonl", [pair(3)]), None)


SAID = st.sampled_from([0, 1, 2])


@given(st.lists(st.tuples(SAID, SAID, SAID), min_size=1, max_size=8))
def test_both_orders_must_give_the_label(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[int, int, int]]
) -> None:
    """The repository's count: turn the exchanged answer back; agreement where both are the label."""
    words = {0: "A", 1: "B", 2: "tie"}
    file = tmp_path_factory.getbasetemp() / "testdata_pairwise.jsonl"
    suite = load(write(file, [pair(label) for label, _, _ in said]), None)
    told = {item.item_id: answers for item, (_, *answers) in zip(suite.items, said, strict=True)}
    outcomes = decided(suite, lambda item, order: PairwiseVerdict(winner=words[told[item.item_id][order[0]]]))
    back = {0: 1, 1: 0, 2: 2}
    assert [o.score for o in outcomes] == [float(label == one == back[other]) for label, one, other in said]
    ties = [o.score for o in outcomes if o.gold != "tie"]
    assert suite.metrics(outcomes)["non-tie"] == (sum(ties) / len(ties) if ties else None)
