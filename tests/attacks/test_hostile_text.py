"""Hostile texts against the sentence splitter, the retriever, the case store, the API and the readers of benchmarks.

The only allowed failures are the documented errors, and their message is one short line.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from hostile_text import BIDI, VALUES, hostile_texts, json_line, valid
from longjudgebench_factories import WEIGHTS, synthetic_checkout
from typer.testing import CliRunner

from judge_r1 import load_judge
from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.benchmarks.longjudgebench.subset import SETS
from judge_r1.cli import app
from judge_r1.core.case_store import CaseStore
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case
from judge_r1.core.text_check import BadText
from judge_r1.files.jsonl import write_jsonl
from judge_r1.judges.request import CustomPrompt
from retrieval.bm25 import BM25Index
from retrieval.errors import EmptyCase, EmptyQuery, InvalidText
from retrieval.passages import sentences, split_passages
from retrieval.retriever import Retriever

Attacks = Callable[[str, int], None]
SEED = 13
LONGEST = 5_000_000
"""Characters of the longest text in the long form: a million sentences."""
CONTROLS = {*map(chr, range(32)), *map(chr, range(127, 160))} - {"\n"}
SIZES = [pytest.param(2_000, id="short"), pytest.param(LONGEST, id="long", marks=pytest.mark.slow)]


@contextmanager
def only(*allowed: type[Exception]) -> Iterator[None]:
    """Accepts these errors, if their message is one short line of printable text."""
    try:
        yield
    except allowed as error:
        message = str(error)
        assert message.isprintable()
        assert 10 < len(message) < 1_000


@pytest.mark.parametrize("size", SIZES)
def test_splitter(size: int, attacks: Attacks) -> None:
    for kind, text in hostile_texts(SEED, size):
        started = time.process_time()
        passages = split_passages(text, 100)
        assert time.process_time() - started < 0.5 + len(text) * 2e-5, kind
        assert [passage.text for passage in passages] == [text[p.start : p.end] for p in passages]
        assert [passage.index for passage in passages] == list(range(len(passages)))
        spans, end = sentences(text), 0
        for start, stop in spans:
            assert end <= start < stop, kind
            assert not text[end:start].strip(), kind
            end = stop
        assert not text[end:].strip(), kind
        attacks("texts split into sentences and passages", 1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", ["bm25", "dense"])
def test_retriever(size: int, method: str, attacks: Attacks) -> None:
    """All texts are cases of one retriever, with hostile ids. A search returns passages of its own case only."""
    texts = dict(enumerate(text for _, text in hostile_texts(SEED, min(size, LONGEST // 10))))
    ids = [f"{number} {text[:50]}" for number, text in texts.items()]
    cases = dict(zip(ids, texts.values(), strict=True))
    retriever = Retriever(cases, method="bm25" if method == "bm25" else HashEmbedder(), max_cases=4)
    queries = [text for _, text in hostile_texts(SEED + 1, 200, per_kind=3)]
    for number, (case_id, text) in enumerate(cases.items()):
        for query in (queries[number % len(queries)], "Ana paid"):
            with only(EmptyCase, EmptyQuery, InvalidText):
                [hits] = retriever.search([(case_id, query)], 3)
                assert valid(text)
                assert valid(query)
                assert text.strip()
                assert query.strip()
                assert all(hit.passage.text == text[hit.passage.start : hit.passage.end] for hit in hits)
                assert all(math.isfinite(hit.score) for hit in hits)
                passages = split_passages(text)
                if method == "bm25":
                    assert [hits] == BM25Index(passages).search([query], 3)
                assert len(hits) == min(3, len(passages)) or (method == "bm25" and not hits)
            attacks(f"searches ({method})", 1)


@pytest.mark.slow  # loading E5 takes seconds
def test_retriever_with_e5(attacks: Attacks) -> None:
    texts = {f"{number}": text for number, (_, text) in enumerate(hostile_texts(SEED, 60, per_kind=2))}
    retriever = Retriever(texts)
    requests = [(case_id, text) for case_id, text in texts.items() if text.strip() and valid(text)]
    for (_, text), [hit] in zip(requests, retriever.search(requests, 1), strict=True):
        assert hit.passage.text == text[hit.passage.start : hit.passage.end]
        assert -1.01 < hit.score < 1.01
    for request in texts.items() - dict(requests).items():
        with pytest.raises((EmptyQuery, InvalidText)), only():
            retriever.search([request], 1)
    attacks("searches (E5)", len(texts))


@pytest.mark.parametrize("size", SIZES)
def test_case_store(size: int, attacks: Attacks) -> None:
    cases, stored = CaseStore(max_bytes=2**40), {}
    tenants = [text for _, text in hostile_texts(SEED + 2, 30, per_kind=2)]
    for number, (_, text) in enumerate(hostile_texts(SEED, size)):
        tenant = tenants[number % len(tenants)]
        with only(BadText):
            case_id = cases.put(text, tenant)
            assert valid(text)
            assert cases.get_owned(case_id, tenant) == text
            for other in {*tenants} - {tenant}:
                with pytest.raises(KeyError):
                    cases.get_owned(case_id, other)
            stored[case_id] = text
        attacks("texts stored for a tenant", 1)
    assert dict(cases) == stored
    assert cases.bytes == sum(len(text.encode()) for text in stored.values())


@pytest.mark.parametrize("size", SIZES)
def test_python_api(size: int, attacks: Attacks) -> None:
    judge = load_judge("longer")
    for _, text in hostile_texts(SEED, size):
        for field in ("context", "decision", "reasoning_a", "reasoning_b"):
            with only(JudgeError):
                result = judge(**{"reasoning_a": "It is so.", "reasoning_b": "No.", field: text})
                assert valid(text)
                assert result.winner in ("A", "B", "tie")
            attacks("texts given to the Python API", 1)


def test_search_command(tmp_path: Path, attacks: Attacks) -> None:
    queries = [text for _, text in hostile_texts(SEED + 1, 100, per_kind=2)]
    file = tmp_path / "cases.jsonl"
    for number, (kind, text) in enumerate(hostile_texts(SEED, 1_000, per_kind=3)):
        if not text.strip() or not valid(text):
            continue  # not a case
        write_jsonl(file, [Case.of(domain="legal", context=text, decision="d", reference="r", source="s", license="l")])
        arguments = ["search", str(file), "--retriever", "bm25", "--", queries[number % len(queries)]]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code in (0, 2), kind
        assert (result.exit_code == 0) == (result.stderr == ""), kind
        assert not {*result.stdout} & {*CONTROLS, *BIDI}, kind
        attacks("search commands", 1)


HHH = "###The instruction to evaluate:\ni\n\n###Response to evaluate:\n{}\n\n###Score Rubrics:\n[r]"
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "autoj": (
        "testdata_pairwise.jsonl", {"scenario": "s", "label": 0, "prompt": "p", "response 1": "a", "response 2": "b"},
    ),
    "contextualjudgebench": (
        "faithfulness_qa.jsonl",
        {"question": "q", "context": "c", "positive_response": "a", "negative_response": "b"},
    ),
    "hhh": (
        "hhh_alignment_eval.jsonl",
        {"source": "honest", "chosen_instruction": HHH.format("It is."), "rejected_instruction": HHH.format("No.")},
    ),
    "judgebench": (
        "data.jsonl",
        {"pair_id": "1", "source": "mmlu-pro", "question": "q", "response_model": "m", "response_A": "a",
         "response_B": "b", "label": "A>B"},
    ),
    "pandalm": (
        "testset-v1.jsonl",
        {"idx": 0, "motivation_app": "m", "instruction": "i", "input": "", "response1": "a", "response2": "b",
         "annotator1": 1, "annotator2": 1, "annotator3": 2},
    ),
    "rewardbench": (
        "filtered.jsonl", {"prompt": "p", "chosen": "a", "rejected": "b", "subset": "donotanswer", "id": 1},
    ),
    "rewardbench2": (
        "test.jsonl",
        {"id": "1", "prompt": "p", "subset": "Math", "num_correct": 1, "num_incorrect": 3, "chosen": ["a"],
         "rejected": ["b", "c", "d"]},
    ),
}  # fmt: skip
"""Benchmark -> its file and a valid row."""
SHOWN = {"prompt", "response 1", "response 2", "question", "positive_response", "negative_response", "instruction"}
SHOWN |= {"response_A", "response_B", "input", "response1", "response2", "chosen", "rejected"}
"""Fields that a judge reads without changes."""


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("size", SIZES)
def test_rows_of_benchmarks(name: str, size: int, tmp_path: Path, attacks: Attacks) -> None:
    """Every field of a row in turn has a hostile text or a value of another type."""
    file, row = ROWS[name]
    load, path = BENCHMARKS.get(name).load, tmp_path / file
    path.write_bytes(json_line(row, ascii_only=True))
    assert len(load(path, None).items) == 1
    values = [*VALUES, *(text for _, text in hostile_texts(SEED, min(size, LONGEST // 50), per_kind=3))]
    for field in row:
        for number, value in enumerate(values):
            path.write_bytes(json_line(row | {field: value}, ascii_only=number % 2 == 0))
            with only(JudgeError):
                benchmark = load(path, None)
                benchmark.requests()
                texts = [text for item in benchmark.items for text in (item.item_id, item.instruction, *item.texts)]
                assert all(map(valid, texts))
                assert field not in SHOWN or not isinstance(value, str) or any(value.strip() in text for text in texts)
            if number % 8 == 0:
                with only(JudgeError):
                    assert not load(path, "unknown").items
            attacks("values in rows of benchmarks", 1)


@pytest.mark.parametrize("size", SIZES)
def test_files_of_longjudgebench(size: int, tmp_path: Path, attacks: Attacks) -> None:
    """Every value in the first line of every file in turn is a hostile text or a value of another type. The short form
    makes every 16th of these attacks."""
    root, load = synthetic_checkout(tmp_path), BENCHMARKS.get("longjudgebench").load
    values = [*VALUES, *(text for _, text in hostile_texts(SEED, min(size, 20_000), per_kind=2))]
    number = 0
    for path in sorted([*root.glob("ground_truth/*.jsonl"), *root.glob("data_standardized/*.jsonl")]):
        original = path.read_bytes()
        first, rest = original.split(b"\n", 1)
        dataset = next(name for name in SETS if path.name.startswith(name))
        for place in places(json.loads(first)):
            for value in values:
                number += 1
                if size < LONGEST and number % 16:
                    continue
                row = replaced(json.loads(first), place, value)
                path.write_bytes(json_line(row, ascii_only=number % 32 < 16) + rest)
                with only(JudgeError):
                    benchmark = load(root, f"{dataset},search=true" if number % 64 < 32 else dataset)
                    benchmark.baselines(benchmark.items)
                    assert all(valid(text) for request in benchmark.requests() for text in request.item.texts)
                attacks("values in files of LongJudgeBench", 1)
        path.write_bytes(original)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value inside a JSON value, as keys and indices."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in below:
        yield (*above, key)
        yield from places(part, (*above, key))


def replaced(row: Any, place: tuple[Any, ...], value: Any) -> Any:
    holder = row
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return row


PREDICTIONS: dict[str, tuple[Path, str | None, dict[str, Any]]] = {
    "longjudgebench": (
        Path("LJB"),
        "wp_bench",
        {"data_id": "p0", "response_a": "good0", "response_b": "bad0", "judge_result": {"preferred_response": "A"}},
    ),
    "judgebench": (
        Path(ROWS["judgebench"][0]),
        None,
        ROWS["judgebench"][1] | {"judge_name": "j", "judgments": [{"decision": "A>B"}, {"decision": None}]},
    ),
    "llmbar": (
        Path("dataset.jsonl"),
        "Natural",
        {
            "input": "i",
            "output_1": "a",
            "output_2": "b",
            "label": 1,
            "results": [{"swap = False": {"winner": "1"}, "swap = True": {"winner": None}}],
        },
    ),
    "pandalm": (Path(ROWS["pandalm"][0]), None, {"idx": 0, "judge_result": "Tie"}),
}
"""Benchmark -> its data, the subset, and a valid row of a judge's published outputs."""


@pytest.mark.parametrize("name", PREDICTIONS)
def test_published_outputs(name: str, tmp_path: Path, attacks: Attacks) -> None:
    """Every value in a row of published outputs in turn is a hostile text or a value of another type."""
    path, subset, row = PREDICTIONS[name]
    score, file = BENCHMARKS.get(name).predictions, tmp_path / "outputs.jsonl"
    assert score is not None
    if name == "longjudgebench":
        synthetic_checkout(tmp_path / path)
    else:
        (tmp_path / path).write_bytes(json_line(ROWS[name][1] if name in ROWS else row, ascii_only=True))
    file.write_bytes(json_line(row, ascii_only=True))
    assert score(tmp_path / path, file, subset)
    values = [*VALUES, *(text for _, text in hostile_texts(SEED, 2_000, per_kind=2))]
    for place in places(row):
        for number, value in enumerate(values):
            changed = replaced(json.loads(json.dumps(row)), place, value)
            file.write_bytes(json_line(changed, ascii_only=number % 2 == 0))
            with only(JudgeError):
                results = score(tmp_path / path, file, subset)
                assert all(0 <= result.score <= 1 for result in results)
            attacks("values in published outputs", 1)


@pytest.mark.parametrize(
    "subset", [*SETS, "deepresearch_bench,setting=rubric", "realdr,setting=rubric", "surge,paper=true"]
)
def test_answers_to_longjudgebench(subset: str, tmp_path: Path, attacks: Attacks) -> None:
    """An answer is parsed or invalid, whatever its text."""
    request = BENCHMARKS.get("longjudgebench").load(synthetic_checkout(tmp_path), subset).requests()[0]
    assert isinstance(request.task, CustomPrompt)
    texts = [text for _, text in hostile_texts(SEED, 2_000)]
    keys = ("overall_score", "A", "preferred_response", "verdict", "score", *WEIGHTS)
    texts += [json.dumps({key: value}) for key in keys for value in VALUES]
    for text in texts:
        assert request.task.read(text) is not None
        attacks("answers of judges", 1)
