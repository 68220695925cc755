"""Promise 5, training: after kill -9 at any moment, the same command resumes and gives the same weights as an
uninterrupted run."""

import random
import signal
import time
from pathlib import Path

import pytest
import torch
from command_server import TRAINING, start
from factories import mini_pairs
from paths import RECIPES
from transformers import AutoModelForCausalLM

from data_builders.build import write_pairs
from judge_r1.cli import app
from judge_r1.files.run_log import read_rows

GRPO = RECIPES / "mini" / "grpo.yaml"
STEPS = 6
CHANGES = [
    "model=bundled:tiny", f"grpo.steps={STEPS}", "grpo.pairs_per_step=2", "grpo.group_size=2",
    "grpo.micro_batch_size=2", "grpo.updates_per_step=1", "episode.budget.response_tokens=8", "save_every=2",
]  # fmt: skip


def arguments(data: Path, out: Path) -> list[str]:
    return ["train", str(GRPO), f"data.train={data}", *CHANGES, "--out", str(out)]


def log(out: Path) -> Path:
    return out.with_suffix(".log")


def progress(out: Path) -> int:
    """Steps logged so far."""
    metrics = out / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0


@pytest.mark.timeout(900)
def test_killed_training_ends_with_the_same_weights(tmp_path: Path) -> None:
    """Kills before the first checkpoint, after a random step, and before the last step."""
    write_pairs(mini_pairs(3), tmp_path / "data")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    app(arguments(tmp_path / "data", whole), standalone_mode=False)
    command = arguments(tmp_path / "data", killed)
    for step in (1, random.Random(0).randint(2, STEPS - 2), STEPS - 1):
        process = start(*command, log=log(killed), modules=TRAINING)
        deadline = time.monotonic() + 300
        while progress(killed) < step and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        assert process.poll() is None, "the run ended before it was killed"
        process.kill()
        assert process.wait(180) == -signal.SIGKILL
        assert not (killed / "model").exists()
    assert start(*command, log=log(killed), modules=TRAINING).wait(300) == 0, log(killed).read_text()[-2000:]

    models = [AutoModelForCausalLM.from_pretrained(folder / "model").state_dict() for folder in (whole, killed)]
    assert all(torch.equal(tensor, models[1][name]) for name, tensor in models[0].items())
    for name in ("metrics.jsonl", "traces.jsonl"):
        rows = [[row["step"] for row in read_rows(folder / name)] for folder in (whole, killed)]
        assert rows[0] == rows[1]
    assert read_rows(whole / "traces.jsonl") == read_rows(killed / "traces.jsonl")
