"""SkyRL's environment, made by the real skyrl_gym and stepped as its generator does."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from recorded_rollouts import TINY, assert_of_its_case, rollouts, write_pairs

from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.files.pair_set import PairSet
from judge_r1.integrations.episodes import SearchFailed
from judge_r1.models.hub import load_tokenizer

skyrl_gym = pytest.importorskip("skyrl_gym", reason="SkyRL is not installed: pip install 'judge-r1[skyrl]'")

CONFIG = EpisodeConfig(context="none", retriever="bm25", budget=Budget(max_searches=2, top_k=2, response_tokens=100))


@pytest.fixture(autouse=True, scope="module")
def registered(data: PairSet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    from judge_r1.integrations.skyrl_environment import register_judge

    register_judge(write_pairs(tmp_path_factory.mktemp("pairs"), data), CONFIG.model_dump())
    yield
    skyrl_gym.envs.deregister("judge_r1")


def made(pair_id: str, **extras: Any) -> Any:
    return skyrl_gym.make("judge_r1", env_config={}, extras={"pair_id": pair_id} | extras)


def run(env: Any, samples: list[str]) -> tuple[float, list[str]]:
    """The sum of the rewards and the observations of an episode, as SkyRL's generator adds them up."""
    prompt, _ = env.init([{"role": "user", "content": "unused"}])
    assert prompt[-1]["content"] == "unused"
    reward, shown = 0.0, []
    for sample in samples:
        output = env.step(sample)
        reward += output["reward"]
        shown += [message["content"] for message in output["observations"]]
        if output["done"]:
            break
    env.close()
    return reward, shown


def test_rewards_and_observations_are_those_of_our_driver(data: PairSet) -> None:
    tokenizer = load_tokenizer(TINY)
    recorded = rollouts(data, CONFIG)
    ends = {one.ended for one in recorded}
    assert {"answer", "no_answer", "turn_budget"} <= ends
    assert {"unclosed_think", "unclosed_search"} & ends
    assert 1.0 in {one.reward["r"] for one in recorded}
    for one in recorded:
        env = made(one.pair_id)
        ids = [[token for token in sample if token != tokenizer.eos_token_id] for sample in one.samples]
        reward, shown = run(env, [tokenizer.decode(sample) for sample in ids])
        assert (reward, shown) == (one.reward["r"], one.searched)
        assert env.get_metrics() == one.reward


def test_concurrent_searches_stay_in_their_case(data: PairSet) -> None:
    contexts = [case.context for case in data.cases.values()]

    def search(number: int) -> None:
        pair = data.pairs[number % len(data.pairs)]
        other = contexts[number // len(data.pairs) % len(contexts)]
        env = made(pair.pair_id)
        env.step(f"<search>{other[:2000]}</search>")  # another case's own words
        assert_of_its_case(data, pair, env._episode.machine.turns[-1].passages)

    with ThreadPoolExecutor(8) as pool:  # SkyRL steps in threads
        list(pool.map(search, range(36)))


def test_budgets_and_turns_end_an_episode(data: PairSet) -> None:
    pair = data.pairs[0]
    reward, shown = run(made(pair.pair_id), ["<search>who paid</search>"] * 3 + ["no more"])
    assert ["1 searches left" in shown[0], "0 searches left" in shown[1], "no searches left" in shown[2]] == [True] * 3
    assert reward == 0.0
    env = made(pair.pair_id, max_turns=1)  # what the generator sets
    assert env.step("<search>who paid</search>") == {"observations": [], "reward": 0.0, "done": True, "metadata": {}}


def test_a_failed_search_is_no_reward(data: PairSet, monkeypatch: pytest.MonkeyPatch) -> None:
    env = made(data.pairs[0].pair_id)
    monkeypatch.setattr(env._episode, "_search", lambda query: 1 / 0)
    with pytest.raises(SearchFailed, match="search_error"):
        env.step("<search>who paid</search>")


def test_rows_have_the_columns_that_skyrl_reads(data: PairSet) -> None:
    from judge_r1.integrations.skyrl_environment import rows_of

    [first, *_] = rows_of(data, CONFIG)
    assert first["env_class"] == "judge_r1"
    assert first["pair_id"] == data.pairs[0].pair_id
    assert "<search>" in first["prompt"][0]["content"]
