from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, decided, play, write

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.contextualjudgebench import SPLITS, load
from judge_r1.core.records import evidence_of
from judge_r1.core.tabular import BadTable
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeBuild, run_all
from judge_r1.judges.panel import make_panel


def pair(context: str, **more: Any) -> dict[str, Any]:
    return {
        "question_id": "from somewhere",
        "question": "Who signed?",
        "context": context,
        "positive_response": "Anna signed",
        "negative_response": "Nobody did so",
        **more,
    }


def whole(folder: Path) -> Path:
    for split in SPLITS:
        pairs = [pair(f"In May Anna signed it. {split}"), pair("Ben left. He wrote no letter.")]
        write(folder / "data" / f"{split}-00000-of-00001.parquet", pairs)
    return folder


def test_context_is_the_searchable_case(tmp_path: Path) -> None:
    suite = load(whole(tmp_path), None)
    assert len(suite.items) == 16
    assert {item.group for item in suite.items} == set(SPLITS)
    assert len(suite.texts) == 9
    question = suite.task(suite.items[0], (1, 0))
    assert isinstance(question, PairwiseTask)
    assert question.context == suite.texts[question.case_id or ""]
    assert question.reasoning_a == suite.items[0].candidates[1]
    assert {item.candidates["AB".index(item.gold)] for item in suite.items} == {"Anna signed"}
    assert {item.gold for item in suite.items} == {"A", "B"}


def test_retriever_finds_passages_of_the_context(tmp_path: Path) -> None:
    from retrieval.retriever import Retriever

    suite = load(whole(tmp_path), "faithfulness_qa")
    retriever = Retriever(suite.texts, method="bm25", passage_words=20)
    first, second = (item.case_id or "" for item in suite.items)
    assert retriever.search([(first, "who signed"), (second, "letter")], 1)[0][0].passage.text.startswith("In May Anna")
    assert "letter" in retriever.search([(second, "signed letter")], 1)[0][0].passage.text


TINY = "budget.response_tokens=200,budget.max_searches=1,budget.top_k=1@bundled:tiny"


def test_agentic_judge_searches_its_own_context(tmp_path: Path) -> None:
    """The tiny model that ships with the package, greedy: it searches, and is shown its own pair's context alone."""
    suite = load(whole(tmp_path), "faithfulness_qa")
    text = f"agentic:context=none,retriever=bm25,prompt=compact,{TINY}"
    (judge,) = make_panel(text, JudgeBuild("", texts=suite.texts)).members
    played = run_all(judge, suite.requests()[:1])
    assert sum(game.trajectory.searches for game in played) > 0
    for game in played:
        shown = evidence_of(game.trajectory.turns)
        assert all(passage.text in suite.texts[game.request.item.case_id or ""] for passage in shown)
        assert len(shown) == game.trajectory.searches


def test_both_orders_must_be_correct(tmp_path: Path) -> None:
    suite = load(whole(tmp_path), "conciseness_qa")
    right = decided(suite, lambda item, order: PairwiseVerdict(winner="AB"[order.index("AB".index(item.gold))]))
    assert (accuracy(right), suite.metrics(right)) == (1.0, {"given": 1.0})
    first = play("always-a", suite)
    assert accuracy(first) == 0
    assert suite.metrics(first) == {"given": sum(item.gold == "A" for item in suite.items) / 2}
    assert suite.metrics([]) == {"given": None}


def test_single_split_has_equal_items(tmp_path: Path) -> None:
    every = {item.item_id: item for item in load(whole(tmp_path), None).items}
    for split in SPLITS:
        assert all(every[item.item_id] == item for item in load(tmp_path, split).items)
    alone = tmp_path / "data" / "refusal_answerable-00000-of-00001.parquet"
    assert {item.group for item in load(alone, None).items} == {"refusal_answerable"}
    with pytest.raises(BadBenchmark, match="no subset 'refusal'"):
        load(tmp_path, "refusal")


def test_hub_and_local_files_are_equal(tmp_path: Path) -> None:
    """The folder as it lies on the hub, read by `datasets`."""
    suite, local = load(Path(f"hub:{whole(tmp_path)}"), None), load(tmp_path, None)
    assert list(suite.items) == list(local.items)
    assert suite.texts == local.texts
    assert {item.group for item in load(Path(f"hub:{tmp_path}"), "completeness_qa").items} == {"completeness_qa"}


def test_empty_context_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"line 1: column 'context' must not be empty"):
        load(write(tmp_path / "faithfulness_qa.jsonl", [pair(" ")]), None)
