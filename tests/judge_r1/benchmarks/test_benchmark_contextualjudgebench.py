from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import accuracy, results_of_verdicts, run_baseline, write

from judge_r1.benchmarks.contextualjudgebench import SPLITS, load
from judge_r1.core.records import evidence_of
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.tabular import BadTable
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
    benchmark = load(whole(tmp_path), None)
    assert len(benchmark.items) == 16
    assert {item.group for item in benchmark.items} == set(SPLITS)
    assert len(benchmark.texts) == 9
    question = benchmark.task(benchmark.items[0], (1, 0))
    assert isinstance(question, PairwiseTask)
    assert question.context == benchmark.texts[question.case_id or ""]
    assert question.reasoning_a == benchmark.items[0].candidates[1]
    assert {item.candidates["AB".index(item.gold)] for item in benchmark.items} == {"Anna signed"}
    assert {item.gold for item in benchmark.items} == {"A", "B"}


TINY = "budget.response_tokens=200,budget.max_searches=1,budget.top_k=1@bundled:tiny"


def test_agentic_judge_searches_its_own_context(tmp_path: Path) -> None:
    """The bundled tiny model searches and sees only passages of its own pair's context."""
    benchmark = load(whole(tmp_path), "faithfulness_qa")
    text = f"agentic:context=none,retriever=bm25,prompt=compact,{TINY}"
    (judge,) = make_panel(text, JudgeBuild("", texts=benchmark.texts)).members
    outputs = run_all(judge, benchmark.requests()[:1])
    assert sum(output.trajectory.searches for output in outputs) > 0
    for output in outputs:
        shown = evidence_of(output.trajectory.turns)
        assert all(passage.text in benchmark.texts[output.request.item.case_id or ""] for passage in shown)
        assert len(shown) == output.trajectory.searches


def test_both_orders_must_be_correct(tmp_path: Path) -> None:
    benchmark = load(whole(tmp_path), "conciseness_qa")
    right = results_of_verdicts(
        benchmark, lambda item, order: PairwiseVerdict(winner="AB"[order.index("AB".index(item.gold))])
    )
    assert (accuracy(right), benchmark.metrics(right)) == (1.0, {"given": 1.0})
    first = run_baseline("always-a", benchmark)
    assert accuracy(first) == 0
    assert benchmark.metrics(first) == {"given": sum(item.gold == "A" for item in benchmark.items) / 2}
    assert benchmark.metrics([]) == {"given": None}


def test_hub_and_local_files_are_equal(tmp_path: Path) -> None:
    """`datasets` reads the same folder in the layout of the hub."""
    benchmark, local = load(Path(f"hub:{whole(tmp_path)}"), None), load(tmp_path, None)
    assert list(benchmark.items) == list(local.items)
    assert benchmark.texts == local.texts
    assert {item.group for item in load(Path(f"hub:{tmp_path}"), "completeness_qa").items} == {"completeness_qa"}


def test_empty_context_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=r"line 1: column 'context' must not be empty"):
        load(write(tmp_path / "faithfulness_qa.jsonl", [pair(" ")]), None)
