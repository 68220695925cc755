from pathlib import Path

import pytest
from benchmark_factories import results_of_verdicts
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.base import BadBenchmark, LoadedBenchmark
from judge_r1.benchmarks.pairwise import non_ties, unique_items, with_ties
from judge_r1.core.items import Item
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, Verdict

WORDS = ("A", "B", "tie")


def item(number: int, gold: str = "A", group: str = "g") -> Item:
    return Item(item_id=str(number), cluster_id="c", group=group, instruction="?", candidates=("x", "y"), gold=gold)


def test_items_must_have_unique_ids() -> None:
    assert unique_items([item(1), item(2)], Path("f")) == [item(1), item(2)]
    with pytest.raises(BadBenchmark, match="f holds item 1 twice"):
        unique_items([item(1), item(1, "B")], Path("f"))
    with pytest.raises(BadBenchmark, match="f holds no items"):
        unique_items([], Path("f"))


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([*WORDS, None])), min_size=1, max_size=12))
def test_macro_f1_equals_sklearn(answers_by_gold: list[tuple[str, str | None]]) -> None:
    from sklearn.metrics import f1_score

    def verdict(item: Item, order: tuple[int, ...]) -> Verdict:
        answer = answers_by_gold[int(item.item_id)][1]
        return PairwiseVerdict(winner=answer) if answer else InvalidVerdict(reason="unread")  # type: ignore[arg-type]

    results = results_of_verdicts(
        LoadedBenchmark([item(number, gold) for number, (gold, _) in enumerate(answers_by_gold)]), verdict
    )
    gold, answers = [g for g, _ in answers_by_gold], [answer or "none" for _, answer in answers_by_gold]
    there = sorted({*gold, *answers} - {"none"})
    assert with_ties(results)["macro F1"] == pytest.approx(
        f1_score(gold, answers, labels=there, average="macro", zero_division=0)
    )
    decisive = [answer == g for g, answer in answers_by_gold if g != "tie"]
    assert non_ties(results)["non-tie"] == (sum(decisive) / len(decisive) if decisive else None)


def test_metrics_of_no_results_are_none() -> None:
    assert with_ties([]) == {"non-tie": None, "macro F1": None}
