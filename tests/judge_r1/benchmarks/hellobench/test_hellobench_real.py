"""HelloBench's released judgements and weights: table cells, deviations, weights, and the fit's rank (real data)."""

import gzip
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from command_server import run
from fake_llm_server import FakeLLMServer
from hellobench_factories import scripted_answer
from hellobench_tables import DEVIATIONS, TABLES_2_AND_4

from judge_r1.benchmarks.hellobench import load
from judge_r1.benchmarks.hellobench.files import TASKS, Weights, read_weights
from judge_r1.benchmarks.hellobench.tables import task_score
from judge_r1.core.checklist import weighted_score
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel
from judge_r1.statistics.checklist_weights import fit_weights

pytestmark = pytest.mark.real_data
FITTED_ON = ("claude35", "llama31_8b", "qwen2_7b", "gpt4o_0806")
RANK_DEFICIENT = {"book": (6, 7), "curriculum_development": (5, 6), "explanation": (5, 6)}
Scores = dict[tuple[str, str, str], list[float]]


@pytest.fixture(scope="module")
def folder(real_data: Path) -> Path:
    return real_data / "hellobench"


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, object]]:
    with gzip.open(folder / "hellobench_gpt4o_checklist_scores.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def scores(folder: Path, rows: list[dict[str, object]]) -> Scores:
    """The scores in [0, 1] by (experiment, model, file)."""
    return scored(rows, read_weights(folder / "weighted_scores.txt"))


def scored(rows: list[dict[str, object]], weights: Weights) -> Scores:
    found: Scores = defaultdict(list)
    for row in rows:
        items = [level / 4 for level in row["q"]]
        score = weighted_score(weights.of(row["category"], len(items)), items)
        found[row["exp"], row["model"], row["file"]].append(score)
    return dict(found)


def cell(scores: Scores, *key: str) -> float:
    value = task_score(scores[key])
    assert value is not None
    return round(value, 2)


def test_cells_of_tables_2_and_4(scores: Scores) -> None:
    equal = 0
    for model, cells in TABLES_2_AND_4.items():
        experiment = "main" if ("main", model, "chat") in scores else "longcontext"
        for task, paper in zip(TASKS, cells[:5], strict=True):
            found = cell(scores, experiment, model, task)
            assert found == DEVIATIONS.get((model, task), paper), (model, task)
            equal += found == paper
    assert (equal, len(DEVIATIONS)) == (109, 21)


def test_released_weights_are_recovered_except_where_the_rank_is_too_low(
    folder: Path, rows: list[dict[str, object]]
) -> None:
    """y = Xw with the released weights on the scale of the overall score; the fit must return them."""
    weights = read_weights(folder / "weighted_scores.txt").values
    assert weights is not None
    designs = defaultdict(list)
    for row in rows:
        if row["exp"] == "main" and row["model"] in FITTED_ON:
            designs[row["category"]].append([level / 4 for level in row["q"]])
    deficient = {}
    for category, x in designs.items():
        target = np.array(weights[category])
        found = fit_weights(x, list(np.array(x) @ target / 10))
        if found.identified:
            assert np.abs(np.array(found.weights) - target).max() < 1e-9, category
        else:
            deficient[category] = found.rank, len(target)
            assert "do not determine the weights" in found.warnings[0]
    assert (len(designs), deficient) == (38, RANK_DEFICIENT)


def test_a_scripted_judge_on_the_real_responses(folder: Path, tmp_path: Path) -> None:
    """From the original files to the report, with GPT-4o's published answers as gold."""
    subset = f"system=gpt4o_0806,chat,summarization,gold={folder / 'results' / 'judgements' / 'main_exp'}"
    loaded = load(folder, subset)
    assert Counter(item.group for item in loaded.items) == {"chat": 20, "summarization": 8}
    out = tmp_path / "eval"
    with (
        FakeLLMServer(scripted_answer) as server,
        Evaluation(loaded, out, resume=False, name="hellobench") as evaluation,
    ):
        for spec in ("call=checklist", "search=checklist:form=search,retriever=bm25,queries=1"):
            evaluation.run(lambda spec=spec: make_panel(f"{spec}@{server.url}/v1#m", JudgeBuild("")))
        call, search = evaluation.finish([("search", "call")])["rows"]
    assert (call["n"], call["valid_rate"], search["valid_rate"]) == (28, 1.0, 1.0)
    questions = sum(len(item.gold["scores"]) for item in loaded.items)
    assert (call["usage"]["calls"], search["usage"]["calls"]) == (28, 2 * questions)
    assert 0 < call["extra"]["exact"] < 1  # agreement with GPT-4o
    assert "Systems (search)" in (out / "report.html").read_text(encoding="utf-8")
    votes = [json.loads(line)["votes"][0]["verdict"] for line in (out / "outcomes.jsonl").read_text().splitlines()]
    texts = {item.item_id: item.texts[0] for item in loaded.items}
    searched = [vote for vote in votes if vote["cited"]]
    words = re.compile(r"\b(good|new|used|made|found|time)s?\b", re.IGNORECASE)
    assert len(searched) == sum(bool(words.search(item.texts[0])) for item in loaded.items)  # BM25 finds no others
    assert all(0 <= start < end for vote in searched for start, end in vote["cited"].values())
    assert max(end for vote in searched for _, end in vote["cited"].values()) <= max(map(len, texts.values()))


@pytest.mark.slow
def test_a_small_model_writes_and_judges_the_real_instructions(folder: Path, tmp_path: Path) -> None:
    """From the original instructions to the report, with one model that is no judge of use."""
    model, writer, out = "bundled:smollm2-135m", tmp_path / "writer", tmp_path / "eval"
    made = run("generate", "--model", model, "--path", folder, "--subset", "story_writing", "--limit", 2,
               "--max-tokens", 40, "--out", writer)  # fmt: skip
    assert made.returncode == 0, made.stderr
    judged = run("eval", "--benchmark", "hellobench", "--path", folder, "--subset", f"responses={writer}", "--judge",
                 f"judge=checklist:decoding=constrained@{model}", "--out", out)  # fmt: skip
    assert judged.returncode == 0, judged.stderr
    summary = json.loads((out / "summary.json").read_text())
    (row,) = summary["rows"]
    system = row["tables"]["Systems"]["writer"]
    assert (system["n"], system["invalid"], row["valid_rate"]) == (2, 0, 1.0)
    assert -300 <= system["S HTG"] <= 100
    assert 0 < system["WC HTG"] <= 40
    assert summary["pinned"]["weights"].startswith("weighted_scores.txt ")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Systems (judge)" in page
    assert "gpt4o_0806 (published)" in page
