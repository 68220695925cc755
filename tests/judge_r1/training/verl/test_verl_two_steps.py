"""verl as it is released, two GRPO steps on the processor with search in the loop."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import torch

from judge_r1.backends import Sampling
from judge_r1.backends.scripted import ScriptedBackend
from judge_r1.config import Recipe
from judge_r1.models import eos_ids, load_model, load_tokenizer
from judge_r1.pairs import PairSet
from judge_r1.play import Player
from judge_r1.records import Trajectory
from judge_r1.runs import Run, read_rows
from judge_r1.tokens import Codec
from judge_r1.training.sft import training_row
from judge_r1.training.verl.train import train_verl


@pytest.fixture(scope="module")
def guesser(recipe: Recipe, pairs: PairSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that searches once and then guesses: valid answers, so rewards differ within a group."""
    model, tokenizer = load_model(recipe.model), load_tokenizer(recipe.model)
    codec = Codec(tokenizer)
    lines, players = [], []
    for number in range(16):
        query = ["ana paid", "kara took", "liam signed"][number % 3]
        answer = f'{{"comparison": "A{"<>"[number % 2]}B", "violated_principles": [{2 + number // 2 % 2}]}}'
        lines.append([f"<search>{query}</search>", f"<answer>{answer}</answer>"])
        players.append(pairs.pairs[number % len(pairs.pairs)])
    player = Player(pairs, recipe.episode, codec, ScriptedBackend(codec, lines), eos_ids(recipe.model, tokenizer))
    rows = [training_row(t, tokenizer.eos_token_id) for t in player.play(players, Sampling())]
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row["input_ids"]) for row in rows], batch_first=True)
    labels = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row["labels"]) for row in rows], batch_first=True, padding_value=-100
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    model.train()
    for _ in range(150):
        optimizer.zero_grad()
        model(ids, labels=labels).loss.backward()
        optimizer.step()
    folder = tmp_path_factory.mktemp("guesser")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def left_behind(mark: str) -> list[str]:
    """Processes that still run with `mark` in their environment, by their command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name != str(os.getpid()) and mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:80])
        except OSError:
            continue
    return found


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor.float() for name, tensor in load_model(str(folder)).state_dict().items()}


@pytest.mark.timeout(1800)
def test_two_steps_of_verl(recipe: Recipe, guesser: Path, data_folder: Path, tmp_path: Path) -> None:
    two_steps(recipe, guesser, data_folder, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_ranks(recipe: Recipe, guesser: Path, data_folder: Path, tmp_path: Path) -> None:
    """Two ranks over gloo, each with a rollout server of its own: both play, and both get the new weights."""
    run = two_steps(recipe, guesser, data_folder, tmp_path, ranks=2)
    log = (run.folder / "logs" / "verl.log").read_text()
    for rank in (0, 1):
        answers = re.findall(rf"judge_r1_cpu_{rank}: (\d+) answers from the weights of step (\w+)", log)
        assert {step: int(count) > 0 for count, step in answers if step in "01"} == {"0": True, "1": True}


def two_steps(recipe: Recipe, guesser: Path, data_folder: Path, tmp_path: Path, ranks: int = 1) -> Run:
    recipe, mark = recipe.model_copy(update={"model": str(guesser)}), uuid4().hex
    run = Run(tmp_path / "run", recipe)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_R1_TEST_RUN", mark)
        train_verl(recipe, data_folder, run, cpu=True, gpus_per_node=ranks)

    rows: list[dict[str, Any]] = read_rows(run.folder / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2]
    for row in rows:
        assert row["rollout/episodes"] == 8
        assert row["rollout/infrastructure_failures"] == 0
        assert row["rollout/weights_behind"] == 0  # each step is sampled from the weights of the step before
        assert row["time/episode/generation"] > row["time/episode/search"] > 0
        assert row["rollout/reward/valid"] > 0
        assert row["rollout/reward/searches"] > 0
        # verl's reward is the driver's, and the trainer's log-probabilities are the sampler's
        assert row["critic/score/mean"] == pytest.approx(row["rollout/reward/r"], abs=1e-6)
        assert row["training/rollout_probs_diff_max"] < 1e-4
        # the masked tokens are the observations: verl counts all, we count the sampled
        assert row["response_length/mean"] > row["rollout/sampled_tokens"] > 0
    assert any(row["actor/grad_norm"] > 0 for row in rows)

    traces = [Trajectory.model_validate(t["trajectory"]) for t in read_rows(run.folder / "traces.jsonl")]
    assert len(traces) == 8  # a group of 4 in each of two steps
    observed = [trace for trace in traces if trace.searches]
    assert observed
    codec = Codec(load_tokenizer(str(guesser)))
    for trace in observed:
        environment = codec.decode([t for t, m in zip(trace.token_ids, trace.loss_mask, strict=True) if not m])
        assert environment.startswith("<information>")
        assert environment.endswith("</information>")

    old, new = weights(guesser), weights(run.model)
    assert old.keys() == new.keys()
    assert max(float((old[name] - new[name]).abs().max()) for name in old) > 1e-4
    assert json.loads((run.folder / "versions.json").read_text())["verl"] == "0.9.1"
    until = time.monotonic() + 30
    while left_behind(mark) and time.monotonic() < until:
        time.sleep(0.5)
    assert left_behind(mark) == []
    assert not os.path.exists("outputs")
    return run
