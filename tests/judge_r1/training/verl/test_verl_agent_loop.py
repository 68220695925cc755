"""The episode under verl's real AgentLoopWorker and reward manager, with a scripted server."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from verl_factories import compose, keys_of

from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import Judgment, ScoresVerdict
from judge_r1.episode.machine import Episode
from judge_r1.episode.questions import PARTNER_FAILED, ScoreQuestion, Side
from judge_r1.episode.rollout import pair_prompt_ids
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.pair_set import PairSet
from judge_r1.files.run_log import read_rows
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe
from retrieval.errors import SearchTimeout

RIGHT = '<answer>{"comparison": "%s", "violated_principles": [2]}</answer>'
NO_REPLY = "(the server does not answer)"


class ScriptedServer:
    """Replies with one line after the other and records the requests."""

    def __init__(self, tokenizer: SafeTokenizer, lines: Sequence[str | Exception]) -> None:
        self.tokenizer, self.lines = tokenizer, list(lines)
        self.requests: list[dict[str, Any]] = []
        self.request_ids: list[str] = []
        self.extra_fields: dict[str, Any] = {"global_steps": 3}

    async def generate(self, request_id: str, **request: Any) -> Any:
        from verl.workers.rollout.replica import TokenOutput

        self.requests.append(request)
        self.request_ids.append(request_id)
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        if line == NO_REPLY:
            await asyncio.sleep(60)
        ids = self.tokenizer.encode_trusted(line)
        return TokenOutput(token_ids=ids, log_probs=[-0.25] * len(ids), extra_fields=self.extra_fields)


class AgentLoopFixture:
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
        self.config = compose(keys_of(recipe))  # composed once for all tests
        self.config.actor_rollout_ref.rollout.agent.agent_loop_config_path = str(home / "agent_loops.yaml")

    def run(
        self, pair: ReasoningPair, lines: Sequence[str | Exception], **extra_fields: Any
    ) -> tuple[Any, ScriptedServer]:
        """Run one episode of `pair`, in a group of its own and a batch of one."""
        server = ScriptedServer(self.tokenizer, lines)
        server.extra_fields |= extra_fields
        return self.generate(server, [pair]), server

    def generate(self, server: ScriptedServer, pairs: Sequence[ReasoningPair]) -> Any:
        """Run an episode of each pair, in one batch. Those of one pair are a group."""
        from verl import DataProto
        from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
        from verl.trainer.ppo.reward import load_reward_manager

        rows = [
            {
                "uid": f"group of {pair.pair_id}",
                "raw_prompt": [{"role": "user", "content": "not what the model sees"}],
                "agent_name": "judge_r1",
                "extra_info": {"index": 0, "pair_id": pair.pair_id, "case_id": pair.case_id, "split": "train"},
                "data_source": "judge_r1/mini",
                "reward_model": {"style": "rule", "ground_truth": "never read"},
                "global_steps": 1,
                "session_id": pairs[:at].count(pair),
            }
            for at, pair in enumerate(pairs)
        ]
        columns = {name: np.fromiter((row[name] for row in rows), object, count=len(rows)) for name in rows[0]}

        async def generate() -> Any:
            manager = load_reward_manager(self.config, self.tokenizer.hf)  # must be created in the running event loop
            rewards = SimpleNamespace(compute_score=SimpleNamespace(remote=manager.run_single))
            worker = AgentLoopWorker(self.config, server, reward_loop_worker_handles=[rewards])
            batch = DataProto.from_dict(tensors={"dummy": torch.zeros(len(rows), 1)}, non_tensors=columns)
            return await worker.generate_sequences(batch)

        return asyncio.run(generate())

    def rollouts(self) -> list[dict[str, Any]]:
        return [row for path in sorted((self.home / "rollouts").glob("*.jsonl")) for row in read_rows(path)]


@pytest.fixture
def agent_loop(recipe: Recipe, pairs: PairSet, data_folder: Path, tmp_path: Path) -> AgentLoopFixture:
    return AgentLoopFixture(recipe, pairs, data_folder, tmp_path)


def parts(agent_loop: AgentLoopFixture, out: Any) -> tuple[str, str]:
    """The decoded response tokens with mask 1, and those with mask 0."""
    responses, mask = out.batch["responses"][0], out.batch["response_mask"][0].bool()
    real = out.batch["attention_mask"][0][-len(responses) :].bool()
    return agent_loop.tokenizer.decode(responses[mask].tolist()), agent_loop.tokenizer.decode(
        responses[real & ~mask].tolist()
    )


def test_an_episode_has_ids_mask_logprobs_and_reward(agent_loop: AgentLoopFixture) -> None:
    pair = agent_loop.pairs.pairs[0]
    word = agent_loop.pairs.cases[pair.case_id].context.split()[0]
    lines = [f"<search>{word}</search>", RIGHT % pair.gold.comparison]
    out, server = agent_loop.run(pair, lines)
    sampled, observed = parts(agent_loop, out)
    assert sampled == agent_loop.tokenizer.decode(agent_loop.tokenizer.encode_trusted("".join(lines)))
    assert observed.startswith("<information>")
    assert word in observed
    assert float(out.batch["rm_scores"].sum()) == 1.0
    extra = {key: out.non_tensor_batch[key][0] for key in ("acc", "valid", "searches", "evidence_hit_defined")}
    assert extra == {"acc": 1.0, "valid": 1.0, "searches": 1.0, "evidence_hit_defined": 1.0}
    assert out.non_tensor_batch["__num_turns__"][0] == 4

    [row] = agent_loop.rollouts()
    trajectory = Trajectory.model_validate(row["trajectory"])
    # the second request continues the exact ids of the first turn and its observation
    assert server.requests[0]["prompt_ids"] == list(trajectory.prompt_ids)
    first = len(server.requests[1]["prompt_ids"]) - len(trajectory.prompt_ids)
    assert server.requests[1]["prompt_ids"] == [*trajectory.prompt_ids, *trajectory.token_ids[:first]]
    assert trajectory.judgment is not None
    assert pair.reasoning_a in agent_loop.tokenizer.decode(trajectory.prompt_ids)
    logprobs = out.batch["rollout_log_probs"][0]
    assert set(logprobs[out.batch["response_mask"][0].bool()].tolist()) == {-0.25}


def test_sampling_parameters_of_the_requests(agent_loop: AgentLoopFixture) -> None:
    _, server = agent_loop.run(agent_loop.pairs.pairs[0], ["<think>no end"] * 9)
    params = [request["sampling_params"] for request in server.requests]
    assert params[0]["stop"] == ["</search>", "</answer>"]
    assert params[0]["include_stop_str_in_output"] is True
    assert params[0]["max_tokens"] == 32
    assert params[1]["max_tokens"] < 32  # a stop string inside an open think continues the turn
    assert len({param["seed"] for param in params}) == len(params)


def test_a_prompt_is_encoded_once_per_group_and_off_the_event_loop(
    agent_loop: AgentLoopFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_r1.training.verl.agent_loop import load_shared

    threads: list[threading.Thread] = []
    encode = SafeTokenizer.prompt_ids

    def counted(*args: Any, **kwargs: Any) -> list[int]:
        threads.append(threading.current_thread())
        return encode(*args, **kwargs)

    monkeypatch.setattr(SafeTokenizer, "prompt_ids", counted)
    home, pair = agent_loop.home, agent_loop.pairs.pairs[0]
    shared = load_shared(str(home / "recipe.yaml"), str(agent_loop.data_folder), str(home / "rollouts"))

    async def group() -> list[Episode]:
        return await asyncio.gather(*(shared.new_episode(pair, agent_loop.pairs) for _ in range(4)))

    episodes = asyncio.run(group())
    assert len({id(episode) for episode in episodes}) == 4
    assert {episode.prompt_ids for episode in episodes} == {
        tuple(pair_prompt_ids(pair, agent_loop.pairs, shared.recipe.episode, agent_loop.tokenizer))
    }
    (thread, _expected_prompt) = threads
    assert thread is not threading.main_thread()


def test_all_turns_of_a_group_have_one_routing_key(agent_loop: AgentLoopFixture) -> None:
    pair = agent_loop.pairs.pairs[0]
    _, server = agent_loop.run(pair, ["<search>ana</search>", RIGHT % pair.gold.comparison])
    assert server.request_ids == [f"group of {pair.pair_id}-0"] * 2


def test_a_turn_continued_with_new_weights_has_two_versions(agent_loop: AgentLoopFixture) -> None:
    """verl's asynchronous client reports the last version as `global_steps`, and both ends."""
    pair = agent_loop.pairs.pairs[0]
    fields = {"min_global_steps": 2, "max_global_steps": 3, "num_cached_tokens": 5}
    out, _ = agent_loop.run(pair, [RIGHT % pair.gold.comparison], **fields)
    assert (out.non_tensor_batch["min_global_steps"][0], out.non_tensor_batch["max_global_steps"][0]) == (2, 3)
    [row] = agent_loop.rollouts()
    assert row["weights"] == [2, 3]
    prompt = pair_prompt_ids(
        pair, agent_loop.pairs, load_recipe(agent_loop.home / "recipe.yaml").episode, agent_loop.tokenizer
    )
    assert row["cache"] == [5, len(prompt)]


def test_a_wrong_comparison_scores_a_third(agent_loop: AgentLoopFixture) -> None:
    pair = agent_loop.pairs.pairs[1]
    wrong = "A<B" if pair.gold.comparison == "A>B" else "A>B"
    out, _ = agent_loop.run(pair, [RIGHT % wrong])
    assert float(out.batch["rm_scores"].sum()) == pytest.approx(1 / 3, abs=2e-6)  # R1 = -2, R2 = 1
    assert out.non_tensor_batch["acc"][0] == 0.0


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        ([RuntimeError("the server is gone")], "infrastructure_generation_error"),
        (["<think>a</think>", NO_REPLY], "infrastructure_generation_timeout"),
        ([""], "infrastructure_generation_error"),
    ],
)
def test_a_failed_episode_is_masked_and_counted(
    agent_loop: AgentLoopFixture, lines: list[str | Exception], ended: str
) -> None:
    out, _ = agent_loop.run(agent_loop.pairs.pairs[0], lines)
    assert int(out.batch["response_mask"].sum()) == 0
    assert out.non_tensor_batch["infrastructure_failure"][0] == 1.0
    [row] = agent_loop.rollouts()
    assert row["ended"] == ended


def test_an_episode_with_a_failed_search_is_masked(
    agent_loop: AgentLoopFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge_r1.training.verl import agent_loop as module

    def failing_search(*_: Any) -> None:
        raise ConnectionError("no retriever")

    monkeypatch.setattr(module.CaseSearcher, "search", failing_search)
    out, _ = agent_loop.run(agent_loop.pairs.pairs[0], ["<search>ana</search>"])
    assert int(out.batch["response_mask"].sum()) == 0
    assert agent_loop.rollouts()[0]["ended"] == "infrastructure_search_error"


def test_one_of_five_searches_that_times_out_leaves_its_group_alone(
    agent_loop: AgentLoopFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """verl's own metrics (0.9.1) count its episode as a score of 0, and as none that was aborted."""
    from verl.trainer.ppo.core_algos import get_adv_estimator_fn
    from verl.trainer.ppo.metric_utils import compute_data_metrics

    from judge_r1.training.verl import agent_loop as module
    from judge_r1.training.verl.rollout_log import RolloutReader

    pair, searches, answers = agent_loop.pairs.pairs[0], count(1), count()
    search = module.CaseSearcher.search

    def third_is_late(self: Any, *request: Any) -> Any:
        if next(searches) == 3:
            raise SearchTimeout("no answer in time")
        return search(self, *request)

    class Searching(ScriptedServer):
        async def generate(self, request_id: str, **request: Any) -> Any:
            seen = self.tokenizer.decode(request["prompt_ids"])
            answer = RIGHT % (pair.gold.comparison if next(answers) % 2 else "none")
            self.lines = [answer if "</information>" in seen else "<search>ana</search>"]
            return await super().generate(request_id, **request)

    monkeypatch.setattr(module.CaseSearcher, "search", third_is_late)
    out = agent_loop.generate(Searching(agent_loop.tokenizer, []), [pair] * 5)
    batch = out.batch
    [lost] = [at for at, tokens in enumerate(batch["response_mask"].sum(1).tolist()) if not tokens]
    batch["token_level_scores"] = batch["token_level_rewards"] = batch["rm_scores"]
    advantages, _ = get_adv_estimator_fn("judge_r1_grpo")(
        token_level_rewards=batch["rm_scores"], response_mask=batch["response_mask"], index=np.array(["one group"] * 5)
    )
    batch["advantages"] = batch["returns"] = advantages
    found = [float(row[row.abs().argmax()]) for row in advantages]
    assert found.pop(lost) == 0
    assert sorted(found) == pytest.approx([-0.866, -0.866, 0.866, 0.866], abs=1e-3)
    verls = compute_data_metrics(out, use_critic=False)
    means, _ = RolloutReader(agent_loop.home / "rollouts", agent_loop.pairs.by_id()).step(1, 5)
    assert (means["rollout/reward/r"], means["rollout/infrastructure_failures"]) == (0.5, 0.2)
    assert (verls["critic/score/mean"], verls["response/aborted_ratio"]) == (pytest.approx(0.4), 0)


def test_rollouts_become_metrics_and_traces(agent_loop: AgentLoopFixture) -> None:
    from judge_r1.training.verl.rollout_log import RolloutReader

    pair, other = agent_loop.pairs.pairs[:2]
    agent_loop.run(pair, [RIGHT % pair.gold.comparison])
    agent_loop.run(other, [RuntimeError("gone")])
    reader = RolloutReader(agent_loop.home / "rollouts", agent_loop.pairs.by_id())
    means, traces = reader.step(1, 1)
    assert means["rollout/episodes"] == 2
    assert means["rollout/infrastructure_failures"] == 0.5
    assert means["rollout/reward/r"] == 1.0  # the failed episode does not count as 0
    assert means["rollout/sampled_tokens"] == len(agent_loop.tokenizer.encode_trusted(RIGHT % "A>B"))
    assert [trace["pair_id"] for trace in traces] == [pair.pair_id]
    assert reader.step(2, 1) == ({"rollout/episodes": 0.0}, [])


def test_a_pair_that_a_step_holds_twice_is_scored_by_row(recipe: Recipe, pairs: PairSet, data_folder: Path) -> None:
    from judge_r1.training.verl.agent_loop import Shared
    from judge_r1.training.verl.rollout_log import RolloutLog

    tokenizer = SafeTokenizer(load_tokenizer(recipe.model))
    shared = Shared(recipe, data_folder, tokenizer, frozenset(), RolloutLog(data_folder, 0))

    def scored(side: Side, row: int, score: float, deadline_s: float = 30.0) -> Coroutine[Any, Any, Trajectory]:
        judgment = Judgment(verdict=ScoresVerdict(scores=(score,)))
        trajectory = Trajectory.without_ids("answer", (), judgment)
        return shared.scored(ScoreQuestion(pairs.pairs[0], side), trajectory, (1, row), 0, deadline_s)

    async def step() -> list[Trajectory]:
        references = [scored("reference", row, score) for row, score in enumerate((8.0, 2.0))]
        flawed = [scored("flawed", row, score) for row, score in enumerate((3.0, 9.0))]
        return await asyncio.gather(*references, *flawed)

    assert [(found.reward or {})["R1"] for found in asyncio.run(step())] == [2, -2, 2, -2]

    async def late() -> list[Trajectory]:
        return [await scored("flawed", 2, 5.0, 0.01), await scored("reference", 2, 8.0, 0.01)]

    alone, second = asyncio.run(late())
    assert alone.ended == PARTNER_FAILED
    assert (second.reward or {})["R1"] == 2
    assert not shared._pair_scores
