"""Held-out checklist pairs as a benchmark: the training prompt, both orders, and answers that cannot be read."""

import json
from pathlib import Path

import pytest
from fake_llm_server import FakeLLMServer
from hellobench_factories import BEST_AND_MID, make_judged_checkout

from data_builders.build import build
from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.checklist.pairs import load
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    root = make_judged_checkout(tmp_path / "HelloBench", 20, BEST_AND_MID)
    build("checklist-pairs-test", tmp_path / "test", path=root)
    return tmp_path / "test"


def compare(system: str, user: str, sample: int) -> str:
    """Prefers the text by `best`, except for chat, where it prefers A; it cannot decide on a number with a 3."""
    if "about travel number 3" in user:
        return "neither"
    first = user.index("By best") < user.index("By mid") or "about rewrite" in user
    return "So:\n" + json.dumps({"comparison": "A>B" if first else "A<B", "lower_items": [1]})


def accuracies(folder: Path, out: Path, subset: str | None = None) -> dict[str, float]:
    with (
        FakeLLMServer(compare) as server,
        Evaluation(load(folder, subset), out, resume=False, name="checklist-pairs") as evaluation,
    ):
        evaluation.run(lambda: make_panel(f"j=direct@{server.url}/v1#m", JudgeBuild("")))
        (row,) = evaluation.finish([])["rows"]
    return {name: group["accuracy"] for name, group in row["by_domain"].items()}


def test_accuracy_is_the_mean_of_both_orders(pairs: Path, tmp_path: Path) -> None:
    loaded = load(pairs, None)
    travel = [item for item in loaded.items if item.group == "open_ended_qa"]
    unread = sum("about travel number 3" in item.instruction for item in travel)
    found = accuracies(pairs, tmp_path / "eval")
    assert found["chat"] == 0.5  # always A: right in one of two orders
    assert found["open_ended_qa"] == pytest.approx(1 - unread / len(travel))
    assert set(accuracies(pairs, tmp_path / "chat", "chat")) == {"chat"}


def test_the_prompt_is_that_of_training_in_the_order_shown(pairs: Path) -> None:
    loaded = load(pairs, None)
    item = loaded.items[0]
    given, swapped = (loaded.task(item, order).prompt.chat()[1]["content"] for order in ((0, 1), (1, 0)))  # type: ignore[union-attr]
    first, second = item.texts
    assert given.index(first) < given.index(second)
    assert swapped.index(second) < swapped.index(first)
    assert "lower_items" in given


def test_bad_folders_are_one_sentence(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="poetry"):
        load(pairs, "poetry")
    (tmp_path / "pairs.jsonl").touch()
    with pytest.raises(BadBenchmark, match="has no pairs"):
        load(tmp_path, None)
    file = pairs / "pairs.jsonl"
    file.write_text(file.read_text() * 2)
    with pytest.raises(JudgeError, match="pair_id"):
        load(pairs, None)
