from typing import Any

import pytest

from judge_r1.benchmarks.longjudgebench.aggregation import (
    UNDECIDED,
    aggregate,
    released_counts,
    scores_of,
)
from judge_r1.benchmarks.longjudgebench.metrics import accuracy, averages, bins, column_metrics, comparisons, quartiles
from judge_r1.benchmarks.longjudgebench.query import Query, item_of, with_available_texts
from judge_r1.core.items import ItemResult, Vote, item_result
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict
from judge_r1.statistics.correlation import pair_accuracy


def vote(order: tuple[int, ...], verdict: Verdict, member: int = 0) -> Vote:
    return Vote(order=order, sample=0, member=member, verdict=verdict, ended="answer", searches=0, confidence=None)


def scored(*scores: float) -> list[Vote]:
    return [vote((position,), ScoresVerdict(scores=(score,))) for position, score in enumerate(scores)]


def compared(order: tuple[int, int], winner: str) -> Vote:
    return vote(order, PairwiseVerdict.model_validate({"winner": winner}))


def make_query(column: str, gold: Any, **fields: Any) -> Query:
    count = 1 if gold in ("Yes", "No") else 2 if isinstance(gold, str) else len(gold)
    names = tuple(f"s{position}" for position in range(count))
    given = {"query_id": "q", "cluster_id": "q", "instruction": "", "systems": names, "ids": names, "texts": names}
    return Query(column=column, gold=gold, **{**given, **fields})


def result_of(query: Query, votes: list[Vote], *, reference: bool = False) -> ItemResult:
    item = item_of(query, reference=reference)
    return item_result("row", item, votes, aggregate(item, votes))


@pytest.mark.parametrize(("predicted", "code", "paper"), [((5, 5, 6), (3, 4), (2, 2)), ((5, 6, 6), (1, 3), (1, 2))])
def test_released_counts_and_paper_counts(
    predicted: tuple[int, ...], code: tuple[int, int], paper: tuple[int, int]
) -> None:
    counted = pair_accuracy((1, 1, 2), predicted)
    assert released_counts((1, 1, 2), predicted) == code
    assert (counted.right, counted.pairs) == paper


def test_score_is_the_share_of_correctly_ordered_pairs() -> None:
    query = make_query("DR", (8.0, 6.0, 4.0))
    aggregated = aggregate(item_of(query, reference=False), scored(9, 7, 7))
    assert aggregated.verdict == ScoresVerdict(scores=(9, 7, 7))
    assert aggregated.score == pytest.approx(2 / 3)


def test_listing_scores_refer_to_outputs() -> None:
    votes = [vote((2, 0, 1), ChecklistVerdict(scores={"A": 1, "C": 4}))]
    assert scores_of(votes, 3) == [None, 4, 1]
    assert scores_of([vote((0, 2, 1), ScoresVerdict(scores=(3, 2)))], 3) == [None, 2, 3]


def test_comparisons_become_scores() -> None:
    votes = [compared((0, 1), "A"), compared((1, 0), "B"), compared((0, 2), "tie"), compared((2, 1), "A")]
    assert scores_of([*votes, vote((1, 2), InvalidVerdict(reason="no_json"))], 3) == pytest.approx([5 / 6, 0, 0.75])


def test_both_orders_count() -> None:
    item = item_of(make_query("MA", "A"), reference=False)
    assert aggregate(item, [compared((0, 1), "A"), compared((1, 0), "B")]).score == 1
    assert aggregate(item, [compared((0, 1), "A"), compared((1, 0), "A")]).score == 0.5
    assert aggregate(item, [compared((0, 1), "A"), compared((1, 0), "A")]).verdict == PairwiseVerdict(winner="tie")
    half = aggregate(item, [compared((0, 1), "A"), vote((1, 0), InvalidVerdict(reason="no_json"))])
    assert (half.score, half.verdict) == (0.5, PairwiseVerdict(winner="A"))
    assert aggregate(item, [vote(o, InvalidVerdict(reason="no_json")) for o in ((0, 1), (1, 0))]).score == 0


def test_tie_is_correct_for_gold_tie() -> None:
    item = item_of(make_query("MA", "tie"), reference=False)
    assert aggregate(item, [compared((0, 1), "tie"), compared((1, 0), "A")]).score == 0.5


def test_panel_votes_by_majority_per_order() -> None:
    item = item_of(make_query("Verify", "No"), reference=False)
    yes, no = ScoresVerdict(scores=(1.0,)), ScoresVerdict(scores=(0.0,))
    majority = [vote((0,), verdict, member) for member, verdict in enumerate((yes, no, no))]
    assert aggregate(item, majority) == aggregate(item, majority[1:2])
    split = aggregate(item, majority[:2])
    assert (split.verdict, split.score) == (InvalidVerdict(reason=UNDECIDED), 0.0)


def test_score_metrics() -> None:
    queries = [make_query("DR", (8.0, 6.0, 4.0), query_id=str(n)) for n in range(2)]
    results = [result_of(queries[0], scored(9, 7, 7)), result_of(queries[1], scored(5, 5, 5))]
    found = column_metrics({q.item_id: q for q in queries}, results)
    assert found["acc_strict"] == pytest.approx(2 / 6)
    assert found["acc_half"] == pytest.approx(4 / 6)
    assert found["tie_rate"] == pytest.approx(4 / 6)
    assert found["ranked"] == 0.5
    assert found["spearman_zero"] == pytest.approx(found["spearman"] / 2)
    assert found["kendall"] == pytest.approx(2 / (3 * 2) ** 0.5)


def test_survey_metrics_without_the_human_survey() -> None:
    query = make_query("Structure", (-1.0, -3.0, -2.0, -4.0))
    order = (3, 0, 1, 2)
    found = column_metrics(
        {query.item_id: query}, [result_of(query, [vote(order, ScoresVerdict(scores=(1, 5, 4, 2)))])]
    )
    assert (found["acc_strict"], found["acc_no_gt"], found["acc_auto_id"]) == (
        pytest.approx(5 / 6),
        pytest.approx(2 / 3),
        0,
    )


def test_pairwise_metrics() -> None:
    queries = [
        make_query("MA", "A", query_id="0", rating=0.5),
        make_query("MA", "B", query_id="1", rating=2.5),
        make_query("MA", "tie", query_id="2", rating=2.0),
    ]
    consistent, first = [compared((0, 1), "A"), compared((1, 0), "B")], [compared((0, 1), "A"), compared((1, 0), "A")]
    results = [result_of(queries[0], consistent), result_of(queries[1], first), result_of(queries[2], first)]
    found = column_metrics({q.item_id: q for q in queries}, results)
    assert accuracy(results) == pytest.approx(3 / 4)
    assert found["inconsistent"] == pytest.approx(2 / 3)
    assert found["prefers_a"] == 1
    assert found["acc_consistent"] == 1
    assert found["acc_weighted"] == pytest.approx((1.5 * 2 + 0.5) / (1.5 * 2 + 0.5 * 2))


@pytest.mark.parametrize(("gold", "score"), [("Yes", 1), ("No", 0)])
def test_the_statement_that_a_search_prefers_is_the_label(gold: str, score: float) -> None:
    """The first statement means Yes, wherever it is shown."""
    assert result_of(make_query("Verify", gold), [compared((0, 1), "A"), compared((1, 0), "B")]).score == score


def test_averages() -> None:
    found = averages({"DR": 0.5, "Structure": 0.2, "Content": 0.4, "WP": 0.6, "MA": None})
    assert (found["columns"], found["avg"]) == (4, pytest.approx(0.425))
    assert found["avg_no_wp"] == pytest.approx(1.1 / 3)
    assert found["avg_sets"] == pytest.approx((0.5 + 0.3 + 0.6) / 3)


def test_averages_as_published_need_all_columns_of_the_paper() -> None:
    queries = [make_query("MA", "A"), make_query("Verify", "No")]
    results = [
        result_of(queries[0], [compared((0, 1), "A"), compared((1, 0), "A")]),
        result_of(queries[1], [vote((0,), ScoresVerdict(scores=(0.0,)))]),
    ]

    def averaged(*columns: str) -> list[float | None]:
        found = column_metrics({q.item_id: q for q in queries}, results, *([columns] if columns else []))
        return [found["avg_released"], found["avg_no_wp_released"]]

    assert averaged() == [None, None]
    assert averaged("MA", "Verify") == pytest.approx([0.75, 0.75])
    assert averaged("MA", "Verify", "WP") == [None, pytest.approx(0.75)]


def test_accuracy_by_length_uses_both_orders() -> None:
    query = make_query("MA", "A", texts=("four", "twelve chars"))
    right = result_of(query, [compared((0, 1), "A"), compared((1, 0), "B")])
    assert list(comparisons([(query, right)])) == [(8, True), (8, True)]
    assert quartiles([(query, right)] * 4) == {f"len_q{n}": 1.0 for n in (1, 2, 3, 4)}


def test_accuracy_in_the_fixed_bins_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit is the mean of both outputs; a bin of fewer than five comparisons has no accuracy."""
    monkeypatch.setattr("judge_r1.models.token_counter.token_counter", lambda name: lambda text: int(text))
    query = make_query("MA", "A", texts=("1000", "6000"))
    right = result_of(query, [compared((0, 1), "A"), compared((1, 0), "B")])
    other = make_query("MA", "A", texts=("17000", "16000"))
    wrong = result_of(other, [compared((0, 1), "B"), compared((1, 0), "B")])
    assert bins([(query, right)] * 3 + [(other, wrong)] * 2, "tiktoken:any") == {
        "len_3k": None, "len_8k": 1.0, "len_16k": None, "len_more": None,
    }  # fmt: skip
    assert bins([(other, wrong)] * 3, "tiktoken:any")["len_more"] == 0.5
    assert bins([(query, right)], None) == {}


def test_accuracy_by_length_skips_missing_texts() -> None:
    query = make_query("DR", (2.0, 1.0), texts=("a", None))
    assert quartiles([(query, result_of(query, scored(2, 1)))]) == {}


def test_with_available_texts() -> None:
    whole = make_query(
        "DR", (2.0, 1.0, 1.0), texts=("a", None, "c"), weights=({"w": 1.0},) * 3, annotators=((1, 2, 3),)
    )
    available = with_available_texts(whole)
    assert available is not None
    assert (available.systems, available.gold, available.annotators) == (("s0", "s2"), (2.0, 1.0), ((1, 3),))
    assert with_available_texts(make_query("DR", (2.0, 1.0, 1.0), texts=(None, "b", "c"))) is None
    assert with_available_texts(make_query("MA", "A", texts=("a", None))) is None
    assert with_available_texts(make_query("Content", (-1.0, -2.0), texts=("a", None))) is None


def test_score_compression() -> None:
    """Scores at half the gold's distance from 6, and one point higher."""
    queries = [make_query("DR", (4.0, 8.0), query_id="0"), make_query("DR", (5.0, 7.0), query_id="1")]

    def judged(query: Query) -> ItemResult:
        votes = [
            vote((index,), ScoresVerdict(scores=(7 + (float(gold) - 6) / 2,))) for index, gold in enumerate(query.gold)
        ]
        return result_of(query, votes)

    found = column_metrics({query.item_id: query for query in queries}, [judged(query) for query in queries])
    assert (found["score_spread"], found["score_bias"]) == (pytest.approx(0.5), pytest.approx(1))
    assert found["score_mae"] == pytest.approx((2 + 0 + 1.5 + 0.5) / 4)
    for scale in (lambda gold: 900 * gold, lambda gold: -gold, lambda gold: gold / 10):  # lengths, orders, shares
        other = [
            result_of(query, [vote((i,), ScoresVerdict(scores=(scale(float(g)),))) for i, g in enumerate(query.gold)])
            for query in queries
        ]
        found = column_metrics({query.item_id: query for query in queries}, other)
        assert [found[name] for name in ("score_spread", "score_bias", "score_mae")] == [None] * 3
    compared_only = [result_of(query, [compared((0, 1), "B")]) for query in queries]
    assert "score_spread" not in column_metrics({query.item_id: query for query in queries}, compared_only)
