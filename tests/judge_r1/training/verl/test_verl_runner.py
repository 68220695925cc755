"""Runs of verl's trainer: its command, its data, and the metrics read from its log."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.files.run_log import read_rows
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.data.training_pairs import check_data, pair_order
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import Diverged, RunFolder
from judge_r1.training.verl.log_follower import LogFollower
from judge_r1.training.verl.rollout_log import RolloutLog, RolloutReader, new_lines
from judge_r1.training.verl.runner import in_training_order, prepare
from judge_r1.training.verl.supervisor import VerlFailed


@pytest.fixture
def run(recipe: Recipe, tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run", recipe)


def trajectory(ended: str = "answer") -> Trajectory:
    parts = {"r": 0.5, "R1": 2.0, "R2": -1.0, "F1": 0.0, "precision": 0.0, "recall": 0.0, "valid": 1.0, "searches": 1.0}
    return Trajectory(
        prompt_ids=(1,), token_ids=(2, 3), loss_mask=(1, 0), logprobs=(-1.0, 0.0), turns=(), judgment=None,
        ended=ended, reward=parts,
    )  # fmt: skip


class VerlLog:
    """Writes the files of verl and a worker, and follows them."""

    def __init__(self, run: RunFolder, recipe: Recipe, pairs: PairSet) -> None:
        folder = run.folder / "verl"
        self.pairs, self.metrics = pairs, folder / "metrics.jsonl"
        self.worker = RolloutLog(folder / "rollouts")
        self.follower = LogFollower(run, folder, RolloutReader(folder / "rollouts", pairs.by_id()), recipe)

    def write_episode(self, step: int, number: int) -> None:
        pair, behind = self.pairs.pairs[number // 4], int(number == 1)
        seconds = {"generation": 2.0 * number, "search": 0.5}
        versions = (step - 1 - behind, step - 1)
        self.worker.write(step, number % 4, pair, trajectory(), seconds=seconds, weights=versions)

    def step(self, step: int, episodes: int = 8, norm: float | None = 0.5, more: Mapping[str, int] = {}) -> None:
        for number in range(episodes):
            self.write_episode(step, number)
        data = {"actor/grad_norm": norm, "critic/score/mean": 0.5, "a/text": "left out", **more}
        with self.metrics.open("a") as file:
            file.write(json.dumps({"step": step, "data": data}) + "\n")
        self.follower.update()


def test_a_step_of_verl_becomes_a_metrics_row(run: RunFolder, recipe: Recipe, pairs: PairSet) -> None:
    log = VerlLog(run, recipe, pairs)
    log.follower.update()  # nothing yet
    log.step(1)
    log.step(2)
    log.follower.update()
    rows = read_rows(run.folder / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2]
    assert rows[1]["rollout/episodes"] == 8
    assert rows[1]["rollout/sampled_tokens"] == 1
    assert rows[1]["verl/critic/score/mean"] == rows[1]["rollout/reward/r"] == 0.5
    assert not any("a/text" in key for key in rows[1])
    assert (rows[1]["time/episode/generation"], rows[1]["time/search"]) == (7.0, 0.5)
    assert rows[1]["rollout/weights_behind"] == 1.0
    traces = read_rows(run.folder / "traces.jsonl")
    assert [(t["step"], t["pair_id"]) for t in traces] == [
        (s, pairs.pairs[0].pair_id) for s in (1, 2) for _ in range(4)
    ]
    assert Trajectory.model_validate(traces[0]["trajectory"]) == trajectory()


def test_missing_episodes_stop_the_run(run: RunFolder, recipe: Recipe, pairs: PairSet) -> None:
    with pytest.raises(VerlFailed, match="step 1: 7 of 8 episodes came back"):
        VerlLog(run, recipe, pairs).step(1, episodes=7)


def test_a_gradient_norm_that_is_not_a_number_stops_the_run(run: RunFolder, recipe: Recipe, pairs: PairSet) -> None:
    with pytest.raises(Diverged, match="step 1"):
        VerlLog(run, recipe, pairs).step(1, norm=None)


def test_an_incomplete_line_is_read_later(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert new_lines(path, 0) == ([], 0)
    path.write_text("one\u2028still one\ntw", encoding="utf-8")
    lines, offset = new_lines(path, 0)
    assert lines == ["one\u2028still one"]
    assert new_lines(path, offset) == ([], offset)
    with path.open("a") as file:
        file.write("o\n")
    assert new_lines(path, offset)[0] == ["two"]


def test_command_and_files_for_verl(run: RunFolder, recipe: Recipe, pairs: PairSet, data_folder: Path) -> None:
    stale = run.folder / "verl" / "rollouts" / "old.jsonl"
    stale.parent.mkdir(parents=True)
    stale.touch()
    command = prepare(recipe, pairs, data_folder, run, gpus=1, cpu=True)
    assert command[:3] == [sys.executable, "-m", "verl.trainer.main_ppo"]
    assert not stale.exists()
    [loop] = yaml.safe_load((run.folder / "verl" / "agent_loops.yaml").read_text())
    assert loop["name"] == "judge_r1"
    assert load_recipe(Path(loop["recipe"])) == recipe
    assert all(Path(loop[key]).is_absolute() for key in ("recipe", "data", "rollouts"))


def test_verl_and_trl_use_the_same_order_of_pairs(recipe: Recipe, pairs: PairSet) -> None:
    """verl's dataset and sampler read the file in the order of TRL's rows, over four epochs of six pairs."""
    from torchdata.stateful_dataloader import StatefulDataLoader
    from verl.trainer.ppo.utils import create_rl_dataset, create_rl_sampler
    from verl.utils.dataset.rl_dataset import collate_fn
    from verl_factories import compose, keys_of

    from judge_r1.training.verl.dataset import write_parquet

    recipe = recipe.model_copy(update={"grpo": recipe.grpo.model_copy(update={"steps": 10})})
    file = recipe.data.train / "order.parquet"
    write_parquet(in_training_order(recipe, pairs), file)
    config = compose(keys_of(recipe)).data
    dataset = create_rl_dataset(str(file), config, load_tokenizer(recipe.model), None)
    loader = StatefulDataLoader(
        dataset, 2, collate_fn=collate_fn, drop_last=True, sampler=create_rl_sampler(config, dataset)
    )
    ids = [row["pair_id"] for batch in loader for row in batch["extra_info"]]
    assert ids[:20] == [pairs.pairs[i].pair_id for i in pair_order(pairs, 20, recipe.seed)]
    assert len(ids) == 24


def test_a_prompt_that_is_too_long_is_refused_before_training(recipe: Recipe, pairs: PairSet) -> None:
    tokenizer = SafeTokenizer(load_tokenizer(recipe.model))
    check_data(recipe, pairs, tokenizer)
    episode = recipe.episode.model_copy(update={"prompt_tokens": 20})
    with pytest.raises(PromptTooLong, match="over prompt_tokens 20"):
        check_data(recipe.model_copy(update={"episode": episode}), pairs, tokenizer)


def test_too_few_pairs_are_refused(recipe: Recipe, pairs: PairSet) -> None:
    grpo = recipe.grpo.model_copy(update={"pairs_per_step": 64})
    with pytest.raises(JudgeError, match="6 pairs are too few for one step"):
        check_data(recipe.model_copy(update={"grpo": grpo}), pairs, SafeTokenizer(load_tokenizer(recipe.model)))
