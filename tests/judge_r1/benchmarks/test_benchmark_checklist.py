"""Own texts with an own rubric file."""

import json
from pathlib import Path

import pytest
from fake_llm_server import FakeLLMServer
from hellobench_factories import scripted_answer, write_lines

from judge_r1.benchmarks.checklist import load
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel

RUBRIC = [{"question": "Is it right?", "weight": 3}, {"question": "Does it err?", "weight": -2}]
ROWS = [
    {"id": "1", "instruction": "Write.", "response": "A good text.", "overall": 4},
    {"id": "2", "instruction": "Write.", "response": "Dull.", "overall": 6},
    {"id": "3", "instruction": "Say.", "response": "Dull again.", "overall": 7},
]


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    (tmp_path / "rubric.json").write_text(json.dumps(RUBRIC))
    return tmp_path / "rubric.json"


def test_weighted_positive_and_negative_criteria(rubric: Path, tmp_path: Path) -> None:
    loaded = load(write_lines(tmp_path / "texts.jsonl", ROWS), str(rubric))
    assert len({item.cluster_id for item in loaded.items}) == 2  # instructions
    with FakeLLMServer(scripted_answer) as server, Evaluation(loaded, tmp_path / "out", resume=False) as evaluation:
        evaluation.run(lambda: make_panel(f"j=checklist@{server.url}/v1#m", JudgeBuild("")))
        (row,) = evaluation.finish([])["rows"]
    results = [json.loads(line) for line in (tmp_path / "out" / "outcomes.jsonl").read_text().splitlines()]
    assert [result["score"] for result in results] == [pytest.approx(1 / 3), 0.5, 0.5]  # (3 - 2)/3, and 1.5/3
    assert row["tables"]["Spearman correlation with human scores"]["judge"]["rho"] == pytest.approx(0.866, abs=1e-3)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["pinned"]["weights"].startswith("rubric.json ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"overall": 11}, "line 1: column 'overall' holds '11', and must hold numbers from 0 to 10"),
        ({"response": " "}, "line 1: column 'response' must not be blank"),
        ({"id": "2"}, "line 2: column 'id' repeats 'all/2'"),
        ({"instruction": 3}, "line 1: column 'instruction' must hold text"),
    ],
)
def test_bad_rows_name_the_line(change: dict[str, object], message: str, rubric: Path, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "texts.jsonl", [ROWS[0] | change, *ROWS[1:]])
    with pytest.raises(JudgeError, match=message):
        load(file, str(rubric))


def test_a_rubric_is_needed(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="checklist needs your criteria: give --subset FILE"):
        load(write_lines(tmp_path / "texts.jsonl", ROWS), None)
