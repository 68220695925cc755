"""The reward functions of docs/serve.md, run against a live server."""

import re
from pathlib import Path
from typing import Any

import pytest
from paths import REPO
from serving_fixture import InvalidJudge, LiveServer, service

DOCS = REPO / "docs" / "serve.md"


def from_docs(title: str, url: str) -> dict[str, Any]:
    match = re.search(rf'```python title="{title}"\n(.*?)```', DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert match
    names: dict[str, Any] = {}
    exec(match[1].replace("http://127.0.0.1:8000", url), names)
    return names


def test_the_trl_reward_function() -> None:
    with LiveServer(service("longer")) as server:
        reward = from_docs("TRL", server.url)["judged_reward"]
        assert reward(["p", "q", "p", "q"], ["a b", "x", "a", "y z"], extra=1) == [1.0, 0.0, 0.0, 1.0]
        chats = [[{"role": "user", "content": "p"}]] * 2
        completions = [[{"role": "assistant", "content": text}] for text in ("", "a b c")]
        assert reward(chats, completions) == [0.0, 1.0]
    with LiveServer(service(InvalidJudge("no_answer"))) as server:
        assert from_docs("TRL", server.url)["judged_reward"](["p", "p"], ["a", "b"]) == [None, None]


def test_trl_trains_on_the_scores(model_folder: Path, tmp_path: Path) -> None:
    """Two steps of TRL's trainer. The mean score of four completions compared with each other is one half."""
    trl = pytest.importorskip("trl", reason="TRL is not installed: pip install 'judge-r1[train]'")
    from datasets import Dataset

    with LiveServer(service("longer")) as server:
        args = trl.GRPOConfig(
            output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=4, num_generations=4,
            max_completion_length=12, logging_steps=1, save_strategy="no", report_to=[], use_cpu=True,
        )  # fmt: skip
        trainer = trl.GRPOTrainer(
            model=str(model_folder),
            reward_funcs=from_docs("TRL", server.url)["judged_reward"],
            args=args,
            train_dataset=Dataset.from_list([{"prompt": f"who paid {n}"} for n in range(4)]),
        )
        trainer.train()
    rows = [row for row in trainer.state.log_history if "reward" in row]
    assert [row["reward"] for row in rows] == pytest.approx([0.5, 0.5])
    assert all(row["reward_std"] > 0 and row["grad_norm"] > 0 for row in rows)


def test_the_verl_reward_function() -> None:
    with LiveServer(service("longer")) as server:
        score = from_docs("verl", server.url)["compute_score"]
        found = [score("x", text, "two words", {"question": "q"}) for text in ("", "two words", "these three words")]
        assert found == [0.0, 0.5, 1.0]
    with LiveServer(service(InvalidJudge("no_answer"))) as server, pytest.raises(RuntimeError, match="no valid answer"):
        from_docs("verl", server.url)["compute_score"]("x", "y", "z")
