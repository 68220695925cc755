"""Routing of groups to replicas, with verl's own load balancer."""

from collections import Counter, defaultdict

import pytest
from verl_factories import compose, keys_of

from judge_r1.training.recipe import Recipe
from judge_r1.training.verl.agent_loop import parts_per_group, replica_count, routing_key


@pytest.mark.parametrize(
    ("groups", "replicas", "parts"),
    [(32, 16, 1), (64, 16, 1), (31, 16, 1), (12, 8, 2), (8, 16, 2), (2, 16, 8), (2, 2, 1), (5, 1, 1)],
)
def test_a_group_is_split_only_if_replicas_would_idle(groups: int, replicas: int, parts: int) -> None:
    assert parts_per_group(groups, 8, replicas) == parts


def test_verls_balancer_keeps_a_group_together_and_spreads_groups(recipe: Recipe) -> None:
    from verl.workers.rollout.router import GlobalRequestLoadBalancer

    replicas, groups, size = 4, 8, 8
    recipe = recipe.model_copy(
        update={"grpo": recipe.grpo.model_copy(update={"pairs_per_step": groups, "group_size": size})}
    )
    config = compose([*keys_of(recipe), f"trainer.n_gpus_per_node={replicas}"])
    assert replica_count(config) == replicas
    balancer = GlobalRequestLoadBalancer({f"replica {i}": None for i in range(replicas)})
    of_group: dict[int, set[str]] = defaultdict(set)
    load: Counter[str] = Counter()
    for session in range(size):  # all groups arrive at once, and take two turns
        for group in range(groups):
            for _turn in range(2):
                server, _ = balancer.acquire_server(routing_key(config, f"uid{group}", session))
                of_group[group].add(server)
                load[server] += 1
    assert {len(servers) for servers in of_group.values()} == {1}
    assert set(load.values()) == {groups * size * 2 // replicas}


def test_a_deterministic_run_has_an_id_per_episode(recipe: Recipe) -> None:
    """verl then passes the id to vLLM, where it must be unique among running requests."""
    config = compose([*keys_of(recipe), "actor_rollout_ref.rollout.full_determinism=true"])
    assert len({routing_key(config, "uid", session) for session in range(4)}) == 4


def test_an_update_of_verl_takes_episodes_as_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not whole groups, although verl 0.9.1 counts `ppo_mini_batch_size` in prompts."""
    from verl.trainer.ppo.v1 import replay_buffer

    monkeypatch.setattr(replay_buffer.tq, "kv_clear", lambda **_: None)  # the prompts' own entries: no queue runs
    buffer = replay_buffer.ReplayBuffer("sync", {}, None, "drop", {})
    ended = ["one_0_0", "two_1_0", "two_0_0", "one_1_0"]
    buffer.partitions["train"] = {key: {"status": "success"} for key in ended}
    buffer.prompt_global_steps["train"] = {"one": 1, "two": 1}
    uids, episodes, _ = buffer._select_prompt_uids("train", {"one", "two"}, 2)
    assert buffer._materialize_batch("train", uids, episodes).keys == ended
