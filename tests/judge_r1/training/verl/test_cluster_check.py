"""verl on several nodes: its keys, and the checks of the cluster before training."""

from pathlib import Path

import pytest
from verl_factories import compose, keys_of

from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import PairSet
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe
from judge_r1.training.resources import Resources
from judge_r1.training.verl.cluster_check import Machines, NodeReport, NodesMissing, NotShared, check_reports
from judge_r1.training.verl.rollout_log import RolloutReader
from judge_r1.training.verl.runner import verl_variables


def keys(recipe: Recipe, *, cpu: bool, variables: dict[str, str] | None, gpus: int = 4, nodes: int = 2) -> list[str]:
    return keys_of(recipe, cpu=cpu, gpus=gpus, nodes=nodes, cluster_variables=variables)


def test_keys_for_a_running_ray_cluster(recipe: Recipe) -> None:
    config = compose(keys(recipe, cpu=False, variables=verl_variables(Path("/runs/a"), cpu=False)))
    assert (config.trainer.nnodes, config.trainer.n_gpus_per_node) == (2, 4)
    assert config.ray_kwargs.ray_init.num_cpus is None
    assert set(config.ray_kwargs.ray_init) == {"num_cpus", "runtime_env"}
    variables = config.ray_kwargs.ray_init.runtime_env.env_vars
    assert variables.VERL_USE_EXTERNAL_MODULES == "judge_r1.training.verl.advantage"
    assert variables.VERL_FILE_LOGGER_PATH == "/runs/a/metrics.jsonl"


def test_keys_for_a_running_ray_cluster_on_cpu(recipe: Recipe) -> None:
    config = compose(keys(recipe, cpu=True, variables=verl_variables(Path("/runs/a"), cpu=True), gpus=1))
    assert config.ray_kwargs.ray_init.runtime_env.env_vars.VERL_PLATFORM == "cpu"
    assert "num_gpus" not in config.ray_kwargs.ray_init
    assert config.actor_rollout_ref.rollout.agent.num_workers == 2


def test_batches_divide_among_all_nodes(recipe: Recipe) -> None:
    assert "trainer.nnodes=2" in keys(recipe, cpu=False, variables={})
    with pytest.raises(JudgeError, match="8 episodes of one update do not divide among 16 accelerators"):
        keys(recipe, cpu=False, variables={}, gpus=8)


def report(host: str, *missing: str, cuda: bool = True) -> NodeReport:
    return NodeReport(host, missing, cuda)


def test_reports_of_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    two, run = Machines(2, 8), Path("/runs/a")
    assert check_reports(two, [report("a"), report("b")], run, 2)
    assert not check_reports(two, [report("a", cuda=False), report("b", cuda=False)], run, 2)
    with pytest.raises(NotShared, match="torch finds no GPU on b, but finds one"):
        check_reports(two, [report("a"), report("b", cuda=False)], run, 2)
    with pytest.raises(NotShared, match=r"node b does not see /runs/a/\.seen-1: the run"):
        check_reports(two, [report("a"), report("b", "/runs/a/.seen-1")], run, 2)
    with pytest.raises(NotShared, match="node b has no judge_r1"):
        check_reports(two, [report("a"), report("b", "judge_r1")], run, 2)
    old = NodeReport("b", (), True, {"torch": "2.11.0", "vllm": None}, ("vllm is not installed",))
    new = NodeReport("a", (), True, {"torch": "2.11.0", "vllm": "0.24.0"})
    with pytest.raises(NotShared) as error:
        check_reports(two, [new, old], run, 2)
    assert str(error.value).splitlines() == [
        "vllm is not installed on node b, and 0.24.0 on node a: all nodes need the same versions "
        "(requirements/gpu.txt)",
        "node b: vllm is not installed",
    ]
    with pytest.raises(NodesMissing, match=r"RAY_ADDRESS=head:6379 did not have 2 nodes .*: 1 answered$"):
        check_reports(two, [report("a")], run, 1)
    with pytest.raises(NodesMissing, match="1 answered; 2 are up, but their GPUs are in use"):
        check_reports(two, [report("a")], run, 2)
    assert (NodesMissing.exit_status, NotShared.exit_status) == (75, 2)


def test_several_nodes_need_a_running_ray_cluster(
    recipe: Recipe, data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    grpo = recipe.grpo.model_copy(update={"engine": "verl"})
    with pytest.raises(JudgeError, match="2 nodes need a running Ray cluster, and RAY_ADDRESS is not set"):
        run_recipe(recipe.model_copy(update={"grpo": grpo}), tmp_path / "a", Resources(nodes=2))
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(JudgeError, match=r"grpo\.engine trl trains on one GPU; verl uses several nodes"):
        run_recipe(recipe, tmp_path / "b", Resources(nodes=2))


def test_the_reader_waits_for_files_of_other_nodes(
    pairs: PairSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = (
        '{"step": 1, "group": "g", "session": 0, "pair_id": "%s", "ended": "answer", "reward": %s, '
        '"sampled_tokens": 3, "seconds": {"generation": 1.0, "search": 0.0}, "weights": [0, 0], "cache": null}\n'
    )
    reward = '{"r": 1.0, "R1": 2.0, "R2": 1.0, "F1": 1.0}'
    line = row % (pairs.pairs[0].pair_id, reward)
    (tmp_path / "first_node.jsonl").write_text(line)
    waits: list[float] = []

    def write_on_third_wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            (tmp_path / "second_node.jsonl").write_text(line.replace('"session": 0', '"session": 1'))

    monkeypatch.setattr("judge_r1.training.verl.rollout_log.time.sleep", write_on_third_wait)
    assert RolloutReader(tmp_path, pairs.by_id()).step(1, 2)[0]["rollout/episodes"] == 1
    assert RolloutReader(tmp_path, pairs.by_id(), wait_seconds=60).step(1, 2)[0]["rollout/episodes"] == 2
    assert len(waits) == 3
