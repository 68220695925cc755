"""Our episode under verl's real AgentLoopWorker and reward manager, with a server that says what it is told."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from verl_factories import compose, keys_of

from judge_r1.core.jsonl import write_atomic
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.run_log import read_rows
from judge_r1.episode.machine import Episode
from judge_r1.episode.rollout import pair_prompt_ids
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.recipe import Recipe, dump_recipe

RIGHT = '<answer>{"comparison": "%s", "violated_principles": [2]}</answer>'
SILENT = "(the server does not answer)"


class ScriptedServer:
    """Says one line after the other; keeps what it was asked."""

    def __init__(self, tokenizer: SafeTokenizer, lines: Sequence[str | Exception]) -> None:
        self.tokenizer, self.lines = tokenizer, list(lines)
        self.asked: list[dict[str, Any]] = []

    async def generate(self, request_id: str, **asked: Any) -> Any:
        from verl.workers.rollout.replica import TokenOutput

        self.asked.append(asked)
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        if line == SILENT:
            await asyncio.sleep(60)
        ids = self.tokenizer.encode_trusted(line)
        return TokenOutput(token_ids=ids, log_probs=[-0.25] * len(ids), extra_fields={"global_steps": 3})


class Room:
    """A data folder, a recipe and the agent loop's file, as `train_verl` writes them."""

    def __init__(self, recipe: Recipe, pairs: PairSet, data_folder: Path, home: Path) -> None:
        self.pairs, self.data_folder, self.home = pairs, data_folder, home
        self.tokenizer = SafeTokenizer(load_tokenizer(recipe.model))
        write_atomic(home / "recipe.yaml", [dump_recipe(recipe)])
        loop = {
            "name": "judge_r1",
            "_target_": "judge_r1.training.verl.agent_loop.JudgeAgentLoop",
            "recipe": str(home / "recipe.yaml"),
            "data": str(data_folder),
            "rollouts": str(home / "rollouts"),
            "generation_seconds": 2.0,
            "search_seconds": 60.0,
        }
        write_atomic(home / "agent_loops.yaml", [yaml.safe_dump([loop])])
        self.config = compose(keys_of(recipe, folder=home))

    def play(self, pair: ReasoningPair, lines: Sequence[str | Exception]) -> tuple[Any, ScriptedServer]:
        """One episode of `pair` as verl's batch of one."""
        from verl import DataProto
        from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
        from verl.trainer.ppo.reward import load_reward_manager

        server = ScriptedServer(self.tokenizer, lines)
        row = {
            "raw_prompt": [{"role": "user", "content": "not what the model sees"}],
            "agent_name": "judge_r1",
            "extra_info": {"index": 0, "pair_id": pair.pair_id, "case_id": pair.case_id, "split": "train"},
            "data_source": "judge_r1/mini",
            "reward_model": {"style": "rule", "ground_truth": "never read"},
            "global_steps": 1,
        }
        columns = {name: np.fromiter([value], dtype=object, count=1) for name, value in row.items()}

        async def go() -> Any:
            manager = load_reward_manager(self.config, self.tokenizer.hf)  # belongs to the running loop
            rewards = SimpleNamespace(compute_score=SimpleNamespace(remote=manager.run_single))
            worker = AgentLoopWorker(self.config, server, reward_loop_worker_handles=[rewards])
            batch = DataProto.from_dict(tensors={"dummy": torch.zeros(1, 1)}, non_tensors=columns)
            return await worker.generate_sequences(batch)

        return asyncio.run(go()), server

    def written(self) -> list[dict[str, Any]]:
        return [row for path in sorted((self.home / "rollouts").glob("*.jsonl")) for row in read_rows(path)]


@pytest.fixture
def room(recipe: Recipe, pairs: PairSet, data_folder: Path, tmp_path: Path) -> Room:
    return Room(recipe, pairs, data_folder, tmp_path)


def parts(room: Room, out: Any) -> tuple[str, str]:
    """What stands in the response with mask 1, and with mask 0."""
    responses, mask = out.batch["responses"][0], out.batch["response_mask"][0].bool()
    real = out.batch["attention_mask"][0][-len(responses) :].bool()
    return room.tokenizer.decode(responses[mask].tolist()), room.tokenizer.decode(responses[real & ~mask].tolist())


def test_ids_mask_and_reward(room: Room) -> None:
    pair = room.pairs.pairs[0]
    who = room.pairs.cases[pair.case_id].context.split()[0]
    lines = [f"<search>{who}</search>", RIGHT % pair.gold.comparison]
    out, server = room.play(pair, lines)
    sampled, observed = parts(room, out)
    assert sampled == room.tokenizer.decode(room.tokenizer.encode_trusted("".join(lines)))
    assert observed.startswith("<information>")
    assert who in observed
    assert float(out.batch["rm_scores"].sum()) == 1.0
    extra = {key: out.non_tensor_batch[key][0] for key in ("acc", "valid", "searches", "evidence_hit_defined")}
    assert extra == {"acc": 1.0, "valid": 1.0, "searches": 1.0, "evidence_hit_defined": 1.0}
    assert out.non_tensor_batch["__num_turns__"][0] == 4

    [row] = room.written()
    trajectory = Trajectory.model_validate(row["trajectory"])
    # token in, token out: the second turn continues exactly the ids of the first and its observation
    assert server.asked[0]["prompt_ids"] == list(trajectory.prompt_ids)
    first = len(server.asked[1]["prompt_ids"]) - len(trajectory.prompt_ids)
    assert server.asked[1]["prompt_ids"] == [*trajectory.prompt_ids, *trajectory.token_ids[:first]]
    assert trajectory.judgment is not None
    assert pair.reasoning_a in room.tokenizer.decode(trajectory.prompt_ids)
    logprobs = out.batch["rollout_log_probs"][0]
    assert set(logprobs[out.batch["response_mask"][0].bool()].tolist()) == {-0.25}


def test_limits_asked_of_the_server(room: Room) -> None:
    _, server = room.play(room.pairs.pairs[0], ["<think>no end"] * 9)
    params = [asked["sampling_params"] for asked in server.asked]
    assert params[0]["stop"] == ["</search>", "</answer>"]
    assert params[0]["include_stop_str_in_output"] is True
    assert params[0]["max_tokens"] == 32
    assert params[1]["max_tokens"] < 32  # the turn goes on: a stop string inside an open think ends nothing
    assert len({param["seed"] for param in params}) == len(params)


def test_a_prompt_is_encoded_once_per_group_and_off_the_event_loop(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_r1.training.verl.agent_loop import load_shared

    threads: list[threading.Thread] = []
    encode = SafeTokenizer.prompt_ids

    def counted(*args: Any, **kwargs: Any) -> list[int]:
        threads.append(threading.current_thread())
        return encode(*args, **kwargs)

    monkeypatch.setattr(SafeTokenizer, "prompt_ids", counted)
    home, pair = room.home, room.pairs.pairs[0]
    shared = load_shared(str(home / "recipe.yaml"), str(room.data_folder), str(home / "rollouts"))

    async def group() -> list[Episode]:
        return await asyncio.gather(*(shared.new_episode(pair) for _ in range(4)))

    episodes = asyncio.run(group())
    assert len({id(episode) for episode in episodes}) == 4
    assert {episode.prompt_ids for episode in episodes} == {
        tuple(pair_prompt_ids(pair, room.pairs, shared.recipe.episode, room.tokenizer))
    }
    (thread, _of_the_comparison) = threads
    assert thread is not threading.main_thread()


def test_wrong_answer_scores_less(room: Room) -> None:
    pair = room.pairs.pairs[1]
    wrong = "A<B" if pair.gold.comparison == "A>B" else "A>B"
    out, _ = room.play(pair, [RIGHT % wrong])
    assert float(out.batch["rm_scores"].sum()) == pytest.approx(1 / 3, abs=2e-6)  # R1 = -2, R2 = 1
    assert out.non_tensor_batch["acc"][0] == 0.0


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        ([RuntimeError("the server is gone")], "infrastructure_generation_error"),
        (["<think>a</think>", SILENT], "infrastructure_generation_timeout"),
        ([""], "infrastructure_generation_error"),
    ],
)
def test_lost_episode_is_masked_and_counted(room: Room, lines: list[str | Exception], ended: str) -> None:
    out, _ = room.play(room.pairs.pairs[0], lines)
    assert int(out.batch["response_mask"].sum()) == 0
    assert out.non_tensor_batch["infrastructure_failure"][0] == 1.0
    [row] = room.written()
    assert row["ended"] == ended


def test_failed_search_is_masked(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_r1.training.verl import agent_loop

    def broken(*_: Any) -> None:
        raise ConnectionError("no retriever")

    monkeypatch.setattr(agent_loop, "case_search", broken)
    out, _ = room.play(room.pairs.pairs[0], ["<search>ana</search>"])
    assert int(out.batch["response_mask"].sum()) == 0
    assert room.written()[0]["ended"] == "infrastructure_search_error"


def test_rows_become_metrics_and_traces(room: Room) -> None:
    from judge_r1.training.verl.rollout_log import RolloutReader

    pair, other = room.pairs.pairs[:2]
    room.play(pair, [RIGHT % pair.gold.comparison])
    room.play(other, [RuntimeError("gone")])
    reader = RolloutReader(room.home / "rollouts", room.pairs.by_id())
    means, traces = reader.step(1, 1)
    assert means["rollout/episodes"] == 2
    assert means["rollout/infrastructure_failures"] == 0.5
    assert means["rollout/reward/r"] == 1.0  # the lost episode is no zero
    assert means["rollout/sampled_tokens"] == len(room.tokenizer.encode_trusted(RIGHT % "A>B"))
    assert [trace["pair_id"] for trace in traces] == [pair.pair_id]
    assert reader.step(2, 1) == ({"rollout/episodes": 0.0}, [])
