"""The data of the vote viewer: complete, and with correct offsets."""

import base64
import gzip
import json
from collections.abc import Sequence
from random import Random
from typing import Any

from evaluation_factories import passage, toy_trajectory
from hypothesis import given, settings
from hypothesis import strategies as st
from report_factories import gold_verdict, item_results, many_results, pair_results, plain_suite, toy_results, toy_suite

from judge_r1.benchmarks.aggregation import best_of_n
from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.core.items import Item
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import (
    ChecklistVerdict,
    InvalidVerdict,
    PairwiseVerdict,
    RankingVerdict,
    ScoresVerdict,
    describe_verdict,
    letter,
)
from judge_r1.evaluation.report.vote_viewer import Texts, items_json, packed
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.votes import StoredVote


def browsed(results: Sequence[PanelResults], settings: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = json.loads("".join(items_json(results, settings)))
    return data


def utf16(text: str, start: int, end: int) -> str:
    """The stretch between two places counted as a browser counts."""
    return text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


@given(st.text(st.sampled_from("aé漢😀𝔸"), max_size=30), st.data())
def test_offsets_count_utf_16_units(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert utf16(text, *Texts().span(text, start, end)) == text[start:end]


def test_data_hold_every_item_vote_and_turn_and_each_text_once() -> None:
    results = toy_results()
    data = browsed(results, {})
    assert len(data["texts"]) == len(set(data["texts"]))
    suite, texts = results[0].benchmark, data["texts"]
    for item, shown in zip(suite.items, data["items"], strict=True):
        assert texts[shown["instruction"]] == item.instruction
        assert texts[shown["case"]] == suite.texts[item.case_id or ""]
        assert tuple(texts[number] for number in shown["candidates"]) == item.candidates
        assert shown["best"] == "AB".index(item.gold)
        for found, row in zip(results, shown["results"], strict=True):
            (stored,), (game,) = found.votes[item.item_id], row["votes"]
            assert [len(turn["passages"]) for turn in game["turns"]] == [
                len(turn.passages) for turn in stored.trajectory.turns
            ]
            assert game["reward"] == stored.trajectory.reward
            outcome = found.items[suite.items.index(item)]
            assert row["state"] == ("right" if outcome.score else "wrong" if outcome.valid else "invalid")


def test_passage_and_flaw_offsets_match_the_texts() -> None:
    suite = toy_suite(1)
    case = suite.texts[next(iter(suite.labels.values())).case_id]

    def play(pair: ReasoningPair) -> Trajectory:
        shown = [passage(pair, 5, 25, case[5:25]), passage(pair, 0, 9, "elsewhere")]
        return toy_trajectory(pair, pair.gold.comparison, pair.violated, shown=shown)

    data = browsed([pair_results("row", suite, play)], {})
    for pair, item in zip(suite.labels.values(), data["items"], strict=True):
        first, second = item["results"][0]["votes"][0]["turns"][0]["passages"]
        assert data["texts"][item["case"]][slice(*first["at"])] == case[5:25]
        assert (second["at"], second["text"]) == (None, "elsewhere")
        for flaw, origin in zip(item["flaws"], pair.origin.flaws, strict=True):
            flawed = data["texts"][item["candidates"][flaw["candidate"]]]
            assert flawed == pair.flawed
            assert flawed[slice(*flaw["span"])] == pair.flawed[origin.span.start : origin.span.end]
            assert flaw["wanted"] == [[span.start, span.end] for span in origin.context_spans]


def test_invalid_reasons_are_not_disagreement() -> None:
    suite = plain_suite([("one", "two"), ("three", "four")])
    right = item_results("right", suite, gold_verdict)
    invalid = [
        item_results(reason, suite, lambda item, order, why=reason: InvalidVerdict(reason=why)) for reason in "xy"
    ]
    assert [item["differ"] for item in browsed([right, right], {})["items"]] == [False, False]
    assert [item["differ"] for item in browsed(invalid, {})["items"]] == [False, False]
    assert [item["differ"] for item in browsed([right, invalid[0]], {})["items"]] == [True, True]


def test_best_of_n_and_single_scores_are_described() -> None:
    best = Item(item_id="i", cluster_id="i", instruction="q", candidates=("a", "b", "c", "d"), gold=2)
    suite = LoadedBenchmark([best], presentation_orders=lambda item: [(2, 0), (2, 1), (2, 3)], aggregate=best_of_n)
    right = item_results("row", suite, lambda item, order: PairwiseVerdict(winner="A"))
    (item,) = browsed([right], {})["items"]
    assert (item["gold"], item["best"], item["results"][0]["verdict"]) == ("C is best", 2, "A 0, B 0, C 3, D 0")
    assert [game["order"] for game in item["results"][0]["votes"]] == [["C", "A"], ["C", "B"], ["C", "D"]]
    assert describe_verdict(ScoresVerdict(scores=(3.5,)), (0,)) == "3.5"
    assert describe_verdict(ScoresVerdict(scores=(3.5, 1)), (1, 0)) == "B 3.5, A 1"
    assert describe_verdict(ScoresVerdict(scores=(1, 2, 3)), (0, 1)) == "A 1, B 2, C 3"
    assert describe_verdict(RankingVerdict(order=(1, 0, 2)), (0, 1, 2)) == "B > A > C"
    assert describe_verdict(RankingVerdict(order=(1, 0)), (2, 0)) == "A > C"
    assert describe_verdict(ChecklistVerdict(scores={"clear": 1, "true": 0}), (0,)) == "clear: 1, true: 0"
    assert describe_verdict(PairwiseVerdict(winner="A"), (1, 0)) == "B is better"
    assert describe_verdict(InvalidVerdict(reason="cut"), (0, 1)) == "no valid answer (cut)"
    assert (letter(0), letter(25), letter(26)) == ("A", "Z", "27")


def test_tie_on_labelled_pairs_is_invalid() -> None:
    suite = toy_suite(1)
    tie = item_results("tie", suite, lambda item, order: PairwiseVerdict(winner="tie"))
    row = browsed([tie], {})["items"][0]["results"][0]
    assert (row["verdict"], row["state"], row["named"]) == ("tie", "invalid", None)
    plain = plain_suite([("one", "two")])
    tie = item_results("tie", plain, lambda item, order: PairwiseVerdict(winner="tie"))
    assert browsed([tie], {})["items"][0]["results"][0]["state"] == "wrong"


def test_panel_members_are_named() -> None:
    suite = plain_suite([("one", "two")])
    (item,) = suite.items
    single = item_results("panel", suite, gold_verdict)
    votes = [StoredVote(**dict(single.votes["item-0"][0]) | {"member": member}) for member in (1, 0)]
    settings = {"panel": {"members": [{"judge": "x"}, {"judge": "y"}]}}
    data = browsed([PanelResults.of("panel", suite, {item.item_id: votes})], settings)
    assert data["members"] == [["x", "y"]]
    assert [game["member"] for game in data["items"][0]["results"][0]["votes"]] == [0, 1]


def test_packing_is_deterministic_and_omits_token_ids() -> None:
    results = many_results(2, 2, 2, words=60)
    data = browsed(results, {})
    assert [*packed(items_json(results, {}))] == [*packed(items_json(results, {}))]
    assert not {"token_ids", "prompt_ids", "logprobs", "loss_mask"} & set(data["items"][0]["results"][0]["votes"][0])


@given(st.text())
def test_packed_text_contains_no_markup(text: str) -> None:
    assert "".join(packed([json.dumps([text, "\ud800"])])).isascii()
    assert "<" not in "".join(packed([json.dumps([text])]))


@settings(max_examples=20)
@given(st.lists(st.integers(1, 300_000), max_size=5), st.integers(0, 2**32))
def test_packed_parts_are_one_gzip_file(sizes: list[int], seed: int) -> None:
    random = Random(seed)
    parts = [random.randbytes(size // 2).hex() for size in sizes]
    chunks = list(packed(parts))
    assert gzip.decompress(base64.b64decode("".join(chunks), validate=True)).decode() == "".join(parts)
    assert len(chunks) > 1 or sum(sizes) < 300_000
