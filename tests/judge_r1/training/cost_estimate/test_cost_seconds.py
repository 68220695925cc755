"""Estimates of seconds and of memory on a GPU, compared with sums by hand."""

from pathlib import Path

import pytest
from paths import RECIPES

from judge_r1.models.shape import shape_of
from judge_r1.training.checkpoint_manifest import write_manifest
from judge_r1.training.cost_estimate import (
    GIB,
    GPUS,
    VLLM_ACTIVE,
    Lengths,
    Machine,
    Stage,
    capacity,
    checkpoint_bytes,
    detected,
    forward_flops,
    lengths,
    memory,
    sampling,
    step_seconds,
)
from judge_r1.training.pipeline import report
from judge_r1.training.recipe import dump_recipe, load_recipe
from judge_r1.training.stage_graph import stage_runs

PAPER = RECIPES / "paper"
SHAPE = shape_of("Qwen/Qwen3-8B")
P = SHAPE.parameters
H100 = GPUS["H100"]


def test_the_report_of_a_toy_and_of_a_stopped_run(tmp_path: Path) -> None:
    recipe = load_recipe(
        RECIPES / "haystack" / "grpo.yaml", ["start=null", "model=bundled:haystack", "grpo.updates_per_step=2"]
    )
    saved = tmp_path / "checkpoints" / "checkpoint-40"
    saved.mkdir(parents=True)
    write_manifest(saved)
    text = "\n".join(report([(recipe, tmp_path)], "command", 1))
    assert "continues after step 20;" in text
    assert "not possible" not in text
    assert "model: 819k parameters (" in text
    assert "disk: 0.023 GB for checkpoints and model" in text
    (tmp_path / "recipe.yaml").write_text(dump_recipe(recipe.model_copy(update={"seed": 1})))
    (tmp_path / "versions.json").write_text("{}")
    refused = f"not possible: {tmp_path} holds a run of another recipe, with seed 1 instead of 0"
    assert refused in "\n".join(report([(recipe, tmp_path)], "command", 1))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")  # a finished run
    text = "\n".join(report([(recipe, tmp_path)], "command", 1))
    assert refused in text
    assert "this stage is skipped" not in text


@pytest.mark.parametrize(("engine", "together", "where"), [("trl", 2, "as here"), ("verl", 4, "if verl did")])
def test_the_update_is_counted_with_a_prompt_for_a_group_and_for_each_episode(
    tmp_path: Path, engine: str, together: int, where: str
) -> None:
    changes = [f"grpo.engine={engine}", "start=null", "grpo.group_size=4", "grpo.micro_batch_size=2"]
    recipe = load_recipe(PAPER / "judge-r1-warm-fc-search.yaml", [*changes, "grpo.pairs_per_step=2"])
    one = lengths(recipe, recipe.episode.prompt_tokens, 0.5)
    prompt = forward_flops(SHAPE, one.prompt)
    rest = forward_flops(SHAPE, one.sampled + one.observed, one.prompt)
    each, once = 4 * 8 * (prompt + rest), 4 * 8 * (prompt / together + rest)
    line = next(line for line in "".join(report([(recipe, tmp_path)], "", 1)).splitlines() if "update: " in line)
    assert f"{each:.3g} floating-point operations" in line
    assert f"{once:.3g} ({each / once:.1f} x fewer) with one for {together} of a group, {where}" in line


def test_forward_flops_of_a_token_and_of_its_attention() -> None:
    weights = P - 151_936 * 4096
    assert forward_flops(SHAPE, 1, 0) == pytest.approx(2 * weights, rel=1e-3)
    attention = forward_flops(SHAPE, 1000, 500) - 2 * weights * 1000
    assert attention == pytest.approx(4 * 36 * 32 * 128 * (1000 * 500 + 1000**2 / 2))
    whole = forward_flops(SHAPE, 1500)
    assert whole == pytest.approx(forward_flops(SHAPE, 500) + forward_flops(SHAPE, 1000, 500))  # a cached prefix


def test_lengths_follow_the_budget() -> None:
    search, plain = load_recipe(PAPER / "judge-r1-search.yaml"), load_recipe(PAPER / "grpo-21k.yaml")
    assert lengths(search, 9000, 1.0) == Lengths(9000, 4000, 3000)
    assert sum(lengths(search, 9000, 0.5)) == 12_500
    assert lengths(plain, 9000, 1.0) == Lengths(9000, 1000, 0)


def test_the_stages_of_a_grpo_step() -> None:
    recipe, one = load_recipe(PAPER / "grpo-21k.yaml"), Lengths(10_000, 1000, 0)
    stages = {stage.name: stage for stage in step_seconds(recipe, SHAPE, Machine(H100, 8, 1), one)}
    flops = 8 * 0.4 * 989e12
    forward = 320 * forward_flops(SHAPE, 11_000) / flops
    assert stages["log-probabilities"].seconds == pytest.approx(forward)
    assert stages["update"].seconds == pytest.approx(4 * forward)
    assert stages["update"].limit == "compute"
    assert stages["rollout: prefill"].seconds == pytest.approx(64 * forward_flops(SHAPE, 10_000) / flops)
    fit = (0.5 * 79.2 * GIB - VLLM_ACTIVE - 2 * P) / ((10_000 / 5 + 1000) * 144 * 1024)
    assert fit > 40  # all 40 episodes of a GPU decode together
    read = (2 * P + 40 * 10_500 * 144 * 1024) / (0.6 * 3350e9)
    assert stages["rollout: decode"].seconds == pytest.approx(1000 * read)
    assert stages["rollout: decode"].limit == "memory bandwidth"
    gathered = 7 / 8 * 4 * P / (0.75 * 450e9)
    assert stages["weight sync"].seconds == pytest.approx(gathered + 4 * P / (0.6 * 3350e9))


def test_episodes_that_do_not_fit_wait() -> None:
    recipe = load_recipe(PAPER / "judge-r1-search.yaml")
    fit = capacity(recipe, SHAPE, H100, 12_500, 7000)
    assert fit == pytest.approx((0.5 * 79.2 * GIB - VLLM_ACTIVE - 2 * P) / (9500 * 144 * 1024))
    assert 10 < fit < 20
    eight, sixteen = (
        next(
            s
            for s in step_seconds(recipe, SHAPE, Machine(H100, 8, nodes), Lengths(12_500, 4000, 3000))
            if "dec" in s.name
        )
        for nodes in (1, 2)
    )
    assert eight.seconds == pytest.approx(2 * sixteen.seconds)  # the same batch, twice as often


def test_a_slow_network_between_machines_limits_the_update() -> None:
    recipe, one = load_recipe(PAPER / "grpo-21k.yaml"), Lengths(500, 100, 0)
    slow = H100._replace(network=1.25)  # 10 Gbit/s
    stages = {stage.name: stage for stage in step_seconds(recipe, SHAPE, Machine(slow, 8, 2), one)}
    assert stages["update"].limit == "network"
    assert stages["update"].seconds == pytest.approx(10 * 15 / 16 * 8 * P / (0.75 * 10e9))  # 10 micro-batches of 2
    hybrid = load_recipe(RECIPES / "options" / "slow-network.yaml")
    inside = {stage.name: stage for stage in step_seconds(hybrid, SHAPE, Machine(slow, 8, 2), one)}
    assert inside["update"].seconds < stages["update"].seconds / 10


def test_verls_own_keys_change_the_estimate() -> None:
    one, machine = Lengths(10_000, 1000, 0), Machine(H100, 8, 2)
    bypass = load_recipe(RECIPES / "options" / "bypass-old-logprobs.yaml")
    assert "log-probabilities" not in {stage.name for stage in step_seconds(bypass, SHAPE, machine, one)}
    large, shape = load_recipe(RECIPES / "options" / "qwen3-32b.yaml"), shape_of("Qwen/Qwen3-32B")
    assert capacity(large, shape, H100, 10_000, 7000) > 0  # over four GPUs
    alone = load_recipe(RECIPES / "paper" / "judge-r1-warm-fc-search.yaml")
    assert capacity(alone, shape, H100, 10_000, 7000) == 0
    key = "grpo.verl.actor_rollout_ref.actor.ulysses_sequence_parallel_size"
    split = load_recipe(RECIPES / "options" / "long-context.yaml")  # four GPUs share the tokens
    whole = load_recipe(RECIPES / "options" / "long-context.yaml", [f"{key}=1"])
    parts, all_parts = (memory(recipe, SHAPE, 16, 39_000) for recipe in (split, whole))
    assert 4 * parts["logits"] == pytest.approx(all_parts["logits"])
    assert 4 * parts["activations"] == pytest.approx(all_parts["activations"])


@pytest.mark.parametrize("value", ["high", -1, 0, True])
def test_a_value_that_is_no_positive_number_counts_as_the_default(value: object) -> None:
    name = PAPER / "grpo-21k.yaml"
    odd = load_recipe(name, [f"grpo.verl.actor_rollout_ref.rollout.gpu_memory_utilization={value}"])
    assert sampling(odd, SHAPE, H100, 8) == sampling(load_recipe(name), SHAPE, H100, 8)


def test_memory_counts_gathered_layers_and_the_sleeping_vllm() -> None:
    recipe = load_recipe(PAPER / "grpo-21k.yaml")
    parts = memory(recipe, SHAPE, 16, 13_500)
    table, layer = 151_936 * 4096, (P - 2 * 151_936 * 4096) / 36
    assert parts["gathered"] == pytest.approx((2 * (2 * layer + 2 * table) + 2 * (layer + table)) / GIB)
    assert parts["vllm_asleep"] == 2
    assert memory(recipe, SHAPE, 1, 13_500)["gathered"] == 0
    assert sampling(recipe, SHAPE, H100, 16) == pytest.approx(
        {"weights": 4 * P / 16 / GIB, "optimiser": 8 * P / 16 / GIB, "embedders": 0, "vllm": 39.6}
    )


def test_embedders_take_memory_of_the_first_gpu_only_if_they_are_on_it() -> None:
    file, e5 = PAPER / "judge-r1-search.yaml", 4 * 109_500_000 / GIB
    assert memory(load_recipe(file), SHAPE, 16, 1000)["embedders"] == 0  # on the processor
    on_gpu = load_recipe(file, ["episode.retriever_device=cuda"])
    assert memory(on_gpu, SHAPE, 16, 1000)["embedders"] == pytest.approx(8 * (e5 + 0.5))
    assert sampling(on_gpu, SHAPE, H100, 16)["embedders"] == pytest.approx(8 * (e5 + 0.5))
    trl = load_recipe(file, ["grpo.engine=trl"])
    assert memory(trl, SHAPE, 1, 1000)["embedders"] == pytest.approx(e5)
    assert memory(load_recipe(file, ["episode.retriever=bm25", "grpo.engine=trl"]), SHAPE, 1, 1000)["embedders"] == 0
    assert memory(load_recipe(PAPER / "grpo-21k.yaml", ["grpo.engine=trl"]), SHAPE, 1, 1000)["embedders"] == 0


def test_dpo_has_two_sequences_and_a_reference() -> None:
    one, machine = Lengths(5000, 500, 0), Machine(H100, 8, 1)
    dpo, sft = load_recipe(PAPER / "dpo-21k.yaml"), load_recipe(PAPER / "sft-21k.yaml")
    (update,) = step_seconds(sft, SHAPE, machine, one)
    reference, both = step_seconds(dpo, SHAPE, machine, one)
    assert both.seconds == pytest.approx(2 * update.seconds)
    assert reference.seconds == pytest.approx(both.seconds / 4)


def test_the_report_names_the_bottleneck_and_marks_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = load_recipe(PAPER / "judge-r1-warm-fc-search.yaml")
    runs = stage_runs(recipe, PAPER / "no-run")
    text = "\n".join(report(runs, "command", 8, 2, GPUS["A100"]))
    assert "seconds per step on 2 x 8 A100 (ESTIMATED from peak speeds; typical, and at most):" in text
    assert "bottleneck: update" in text
    assert "disk: 262 GB for checkpoints and model" in text
    assert "hours for 800 steps (ESTIMATED): " in text
    assert "too much for A100 (79)" in text  # on one GPU
    assert "rollout: search " in text
    assert "assumed: prompts of 12,500 tokens, 50% of the response budget and of the searches" in text
    assert detected() is None


def test_without_a_gpu_the_step_is_estimated_for_two_machines_with_eight() -> None:
    runs = stage_runs(load_recipe(PAPER / "judge-r1-warm-fc-search.yaml"), PAPER / "no-run")
    text = "\n".join(report(runs, "command", 1))
    assert "seconds per step on 2 x 8 H100 (ESTIMATED" in text
    assert "this one has no GPU of the table; change it with --gpu" in text
    assert "add --gpu H100" in text  # the SFT that it starts from
    assert "GPU of the table" not in "\n".join(report(runs, "command", 8, 2, H100))


def test_searches_are_divided_among_the_processes_and_cost_what_their_embedder_costs() -> None:
    file, one, machine = PAPER / "judge-r1-search.yaml", Lengths(9000, 2000, 1500), Machine(H100, 8, 2)

    def search(*options: str, on: Machine = machine) -> Stage:
        stages = step_seconds(load_recipe(file, options), SHAPE, on, one)
        return next(stage for stage in stages if stage.name == "rollout: search")

    e5 = 0.0125 * 109.5 / 33.4
    assert search() == Stage("rollout: search", pytest.approx(320 * 1.5 * (e5 + 1e-4) / 16), "processor")
    assert search(on=Machine(H100, 8, 1)).seconds == pytest.approx(2 * search().seconds)
    assert search("episode.retriever=bm25").seconds == pytest.approx(320 * 1.5 * 1e-4 / 16)
    assert search("episode.retriever=bundled:e5-small").seconds == pytest.approx(320 * 1.5 * 0.0126 / 16)
    on_gpu = search("episode.retriever_device=cuda")
    assert (on_gpu.limit, on_gpu.seconds) == ("compute", pytest.approx(320 * 1.5 * 1e-4 / 16, rel=0.1))
    plain = step_seconds(load_recipe(PAPER / "grpo-21k.yaml"), SHAPE, machine, Lengths(9000, 1000, 0))
    assert "rollout: search" not in {stage.name for stage in plain}


def test_dev_pairs_keep_the_best_weights_and_a_second_model() -> None:
    plain = load_recipe(PAPER / "grpo-21k.yaml", ["data.dev=null"])
    dev = load_recipe(PAPER / "grpo-21k.yaml", ["data.dev=runs/lrbench/dev"])
    assert checkpoint_bytes(plain, SHAPE) == (2 * 12 + 2) * P
    assert checkpoint_bytes(dev, SHAPE) == (2 * 12 + 2 + 4 + 2) * P
