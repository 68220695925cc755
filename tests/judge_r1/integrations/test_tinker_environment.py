"""tinker-cookbook: its own rollout loop runs our environments with a policy that replays recorded samples."""

import asyncio
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from recorded_rollouts import Rollout, assert_of_its_case, gold_answer, rollouts, write_pairs

from judge_r1.core.errors import JudgeError
from judge_r1.episode.config import EpisodeConfig, with_options
from judge_r1.files.pair_set import PairSet
from judge_r1.integrations.episodes import SearchFailed

pytest.importorskip("tinker_cookbook", reason="tinker-cookbook is not installed: pip install 'judge-r1[tinker]'")
OPTIONS = ("context=none", "retriever=bm25", "budget.max_searches=2", "budget.top_k=2", "budget.response_tokens=100")
CONFIG = with_options(EpisodeConfig(), OPTIONS)


@pytest.fixture(scope="module")
def built(data: PairSet, model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The dataset as the trainer builds it."""
    from judge_r1.integrations.tinker_dataset import JudgeDatasetBuilder

    folder = write_pairs(tmp_path_factory.mktemp("pairs"), data)
    builder = JudgeDatasetBuilder(
        data=folder, model_name=str(model_folder), batch_size=4, group_size=2, episode=OPTIONS, seed=1
    )
    dataset, test_set = asyncio.run(builder())
    assert test_set is None
    return dataset


def group_of(built: Any, pair_id: str, size: int = 1) -> Any:
    found = next(one for n in range(len(built)) for one in built.get_batch(n) if one.pair_id == pair_id)
    return dataclasses.replace(pickle.loads(pickle.dumps(found)), group_size=size)


def run(group: Any, samples: list[list[int]], stops: list[Any] | None = None, **strategy: Any) -> Any:
    """The trajectory group of a policy that says these samples in each episode."""
    from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
    from tinker_cookbook.rl.rollouts import do_group_rollout

    class Replay(TokenCompleter):  # type: ignore[misc]
        async def __call__(self, model_input: Any, stop: Any, *, max_tokens: int | None = None) -> Any:
            if stops is not None:
                stops.append(stop)
            return TokensWithLogprobs(list(left.pop(0)), None)

    left = [list(sample) for sample in samples]
    return asyncio.run(do_group_rollout(group, Replay(), **strategy))


def test_rewards_are_those_of_our_driver_and_tokens_only_grow(built: Any, data: PairSet) -> None:
    recorded = rollouts(data, CONFIG)
    assert {"answer", "no_answer", "turn_budget", "unclosed_think"} <= {one.ended for one in recorded}
    for one in recorded:
        found = run(group_of(built, one.pair_id), one.samples)
        [trajectory], [reward] = found.trajectories_G, found.get_total_rewards()
        assert reward == one.reward["r"]
        assert trajectory.transitions[-1].metrics == one.reward
        assert [transition.ac.tokens for transition in trajectory.transitions] == one.samples
        seen = [transition.ob.to_ints() for transition in trajectory.transitions] + [trajectory.final_ob.to_ints()]
        for before, sample, after in zip(seen, one.samples, seen[1:], strict=False):
            assert after[: len(before) + len(sample)] == before + sample


def test_its_training_data_holds_exactly_the_sampled_tokens(built: Any, data: PairSet) -> None:
    from tinker_cookbook.rl.data_processing import trajectory_to_data

    one = next(one for one in rollouts(data, CONFIG, 0) if len(one.samples) > 1 and one.ended == "answer")
    [trajectory] = run(group_of(built, one.pair_id), one.samples).trajectories_G
    for transition in trajectory.transitions:
        transition.ac.maybe_logprobs = [-0.5] * len(transition.ac.tokens)
    [datum] = trajectory_to_data(trajectory, 1.0)  # one episode is one sequence
    targets, mask = (datum.loss_fn_inputs[name].to_numpy() for name in ("target_tokens", "mask"))
    sampled = [token for sample in one.samples for token in sample]
    assert [int(token) for token, kept in zip(targets, mask, strict=True) if kept] == sampled


def test_the_gold_judgment_scores_one(built: Any, data: PairSet) -> None:
    from judge_r1.integrations.tinker_dataset import tokenizer_of

    stops: list[Any] = []
    for pair in data.pairs:
        group = group_of(built, pair.pair_id, 2)
        texts = ["<search>who paid</search>"] * 2
        texts += [f"<answer>{json.dumps(gold_answer(data, pair.pair_id))}</answer>"] * 2
        samples = [tokenizer_of(group.model_name).encode_policy_text(text) for text in texts]
        assert run(group, samples, stops).get_total_rewards() == [1.0, 1.0]
    end = tokenizer_of(group.model_name).hf.eos_token
    assert all(stop == ["</search>", "</answer>", end] for stop in stops)


def test_concurrent_searches_stay_in_their_case(built: Any, data: PairSet) -> None:
    from judge_r1.integrations.tinker_dataset import JudgeEnv, tokenizer_of

    roomy = with_options(CONFIG, ["budget.response_tokens=10000"])

    async def search(pair: Any, other: Any) -> None:
        group = dataclasses.replace(group_of(built, pair.pair_id), config=roomy)
        [env] = await group.make_envs()
        assert isinstance(env, JudgeEnv)
        query = f"<search>{other.context}</search>"  # another case's own words
        result = await env.step(tokenizer_of(group.model_name).encode_policy_text(query))
        assert not result.episode_done
        assert_of_its_case(data, pair, env._machine.turns[-1].passages)

    async def all_of_them() -> None:
        await asyncio.gather(*(search(pair, other) for pair in data.pairs for other in data.cases.values()))

    asyncio.run(all_of_them())


def test_samples_past_the_turn_are_an_error(built: Any, data: PairSet) -> None:
    group = group_of(built, data.pairs[0].pair_id)
    with pytest.raises(JudgeError, match=r"set max_tokens to budget\.response_tokens 100"):
        run(group, [[5] * 101])


def test_a_sample_at_the_token_limit_ends_the_episode(built: Any, data: PairSet) -> None:
    async def stepped(action: list[int], extra: Any) -> Any:
        [env] = await group_of(built, data.pairs[0].pair_id).make_envs()
        return await env.step(action, extra=extra)

    cut = asyncio.run(stepped([5], {"stop_reason": "length"}))
    assert (cut.episode_done, cut.reward, cut.metrics["valid"]) == (True, 0.0, 0.0)
    assert asyncio.run(stepped([], None)).episode_done
    assert not asyncio.run(stepped([5], {"stop_reason": "stop"})).episode_done


def test_a_failed_search_is_retried_by_its_strategy(built: Any, data: PairSet, monkeypatch: pytest.MonkeyPatch) -> None:
    from tinker_cookbook.rl.rollout_strategy import RetryOnFailure

    from judge_r1.integrations import tinker_dataset

    one: Rollout = next(one for one in rollouts(data, CONFIG, 0) if len(one.samples) > 1 and one.ended == "answer")
    opened, left = tinker_dataset.JudgeEnv.__init__, [1]

    def broken_once(env: Any, group: Any) -> None:
        opened(env, group)
        if left:
            left.pop()
            env._search = lambda query: 1 / 0

    monkeypatch.setattr(tinker_dataset.JudgeEnv, "__init__", broken_once)
    group = group_of(built, one.pair_id)
    with pytest.raises(SearchFailed, match="search_error"):
        run(group, one.samples)
    left.append(1)
    found = run(group, [one.samples[0], *one.samples], strategy=RetryOnFailure(max_retries=1))
    assert found.get_total_rewards() == [one.reward["r"]]
    assert [error.error_type for error in found.rollout_errors] == ["SearchFailed"]


def test_batches_hold_every_pair_once(built: Any, data: PairSet) -> None:
    batches = [built.get_batch(n) for n in range(len(built))]
    assert [len(batch) for batch in batches] == [4, 2]
    assert sorted(one.pair_id for batch in batches for one in batch) == sorted(data.ids)
