"""Each check of an environment fails when what it checks is broken."""

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from gpu_environment import PACKAGES, gpu_environment
from paths import RECIPES, REPO
from typer.testing import CliRunner

from data_builders.build import write_pairs
from judge_r1.cli import app
from judge_r1.models.shape import shape_of
from judge_r1.training.cost_estimate import checkpoint_bytes
from judge_r1.training.preflight import packages
from judge_r1.training.preflight.packages import GPU_CHECKS, needed, node_checks
from judge_r1.training.recipe import load_recipe
from judge_r1.training.verl.node_probe import run_checks

NO_FILES: dict[str, Any] = {"packages": list(GPU_CHECKS), "gpu_packages": [], "files": []}


def problems(request: dict[str, Any], environment: dict[str, str]) -> list[str]:
    command = [sys.executable, "-m", "judge_r1.training.preflight", json.dumps(request)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=REPO)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def hidden(package: str) -> None:
    """The tests of missing packages need an environment without them."""
    try:
        version(package)
    except PackageNotFoundError:
        return
    pytest.skip(f"{package} is installed here")


def test_a_complete_gpu_machine_has_no_problems(tmp_path: Path) -> None:
    assert problems(NO_FILES, gpu_environment(tmp_path)) == []


def test_what_a_gpu_machine_lacks_is_named(tmp_path: Path) -> None:
    for package in PACKAGES:
        hidden(package)
    lacking = gpu_environment(tmp_path / "lacking", driver="570.172.08", packages={})
    sentences = (
        "torch is built for CUDA 13.0, which needs the NVIDIA driver 580 or newer, not 570",
        "flash-attn is not installed, and verl attends with it: use the env",
        "vllm is not installed, and verl samples with it",
        "deepspeed is not installed, and recipes with zero2 or zero3 need it",
    )
    for found, sentence in zip(problems(NO_FILES, lacking), sentences, strict=True):
        assert found.startswith(sentence)
    why = "flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2"
    (found,) = problems(NO_FILES, gpu_environment(tmp_path / "broken", flash_attn=f"raise ImportError({why!r})"))
    assert found.startswith(f"flash-attn 2.8.3 cannot be imported ({why}): compile it")


def test_doctor_dry_run_and_train_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden("vllm")
    write_pairs(mini_pairs(2), tmp_path / "data")
    driver = "torch is built for CUDA 13.0, which needs the NVIDIA driver 580 or newer, not 570.172.08"
    out, words = tmp_path / "run", ["train", str(RECIPES / "mini" / "grpo.yaml"), "grpo.engine=verl", "start=null"]
    words += ["model=bundled:tiny", f"data.train={tmp_path / 'data'}", "--out", str(out)]
    monkeypatch.setattr(packages, "torch_cuda", lambda: "13.0")
    monkeypatch.setattr(packages, "driver_version", lambda: "570.172.08")
    monkeypatch.setattr(packages, "CHECKS", packages.CHECKS | {"flash-attn": lambda: None})
    doctor, dry, train = (
        CliRunner().invoke(app, command, env={"COLUMNS": "200"})
        for command in (["doctor"], [*words, "--dry-run"], words)
    )
    assert (dry.exit_code, train.exit_code) == (0, 2), dry.output + train.output
    for sentence in (driver, "vllm is not installed, and verl samples"):
        assert sentence in doctor.stdout
        assert any(sentence in line for line in dry.stdout.splitlines() if line.startswith("#"))
        assert sentence in train.stderr
    assert not out.exists()  # nothing is written


def test_the_checks_of_a_recipe() -> None:
    grpo, sft = load_recipe(RECIPES / "paper" / "grpo-21k.yaml"), load_recipe(RECIPES / "paper" / "sft-21k.yaml")
    assert needed(grpo, gpu=True) == ["driver", "flash-attn", "vllm"]
    assert needed(grpo, gpu=False) == []
    assert needed(sft, gpu=True) == ["driver", "deepspeed"]
    assert needed(sft, gpu=False) == ["deepspeed"]


def test_a_node_checks_the_model_the_embedder_and_the_disk(tmp_path: Path) -> None:
    recipe = load_recipe(RECIPES / "paper" / "judge-r1-search.yaml")
    checks = node_checks(recipe, tmp_path / "run")
    wanted = checkpoint_bytes(recipe, shape_of(recipe.model))
    assert wanted == pytest.approx(262e9, rel=0.01)  # two checkpoints of 98 GB, best weights of 33, two models of 16
    assert checks["files"] == [
        ("tokenizer", ["Qwen/Qwen3-8B"]), ("weights", ["Qwen/Qwen3-8B"]), ("embedder", ["intfloat/e5-base-v2"]),
        ("disk", [str(tmp_path / "run"), wanted]),
    ]  # fmt: skip
    saved = tmp_path / "run" / "checkpoints" / "global_step_50"
    saved.mkdir(parents=True)
    (saved / "shard").write_bytes(b"x" * 1000)
    assert ("disk", [str(tmp_path / "run"), wanted - 1000]) in node_checks(recipe, tmp_path / "run")["files"]
    no_search = load_recipe(RECIPES / "paper" / "grpo-21k.yaml")
    assert "embedder" not in dict(node_checks(no_search, tmp_path)["files"])
    dpo = load_recipe(RECIPES / "mini" / "dpo.yaml", ["dpo.form=reasoning", "episode.search=true"])
    assert dpo.episode.effective_budget.max_searches  # DPO on reasonings runs no episode
    assert "embedder" not in dict(node_checks(dpo, tmp_path)["files"])


def test_files_that_a_node_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request runs as on a node of the cluster: in a process that `run_checks` starts."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    (tmp_path / "empty").mkdir()
    files = [
        ("tokenizer", ["Qwen/Qwen3-8B"]), ("weights", ["Qwen/Qwen3-8B"]), ("weights", [str(tmp_path / "empty")]),
        ("embedder", ["intfloat/e5-base-v2"]), ("disk", [str(tmp_path), 10**18]),
        ("tokenizer", ["bundled:tiny"]), ("embedder", ["bm25"]), ("weights", ["bundled:tiny"]),
        ("disk", [str(tmp_path), 1]),
    ]  # fmt: skip
    found = run_checks({"packages": [], "gpu_packages": list(GPU_CHECKS), "files": files}, 120)
    assert len(found) == 5, found
    assert found[0].startswith("tokenizer of 'Qwen/Qwen3-8B' cannot be loaded")
    assert found[0].endswith("; HF_HUB_OFFLINE is set, so it must be in the hub's cache")
    assert f"Qwen/Qwen3-8B is not in the hub's cache {tmp_path / 'hf'}" in found[1]
    assert "HF_HUB_OFFLINE forbids to fetch it: run `hf download Qwen/Qwen3-8B`" in found[1]
    assert found[2] == f"the model folder {tmp_path / 'empty'} has no *.safetensors: copy the whole model"
    assert found[3].startswith("embedder 'intfloat/e5-base-v2' cannot be loaded")
    assert f"{tmp_path} has " in found[4]
    assert "checkpoints need about 1000000000 GB" in found[4]


def test_an_unreachable_hub_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    (found,) = run_checks({"packages": [], "gpu_packages": [], "files": [("weights", ["Qwen/Qwen3-8B"])]}, 120)
    assert "and the hub cannot be used (" in found
    assert found.endswith("and set HF_HUB_OFFLINE=1")


def test_checks_that_hang_or_crash_are_a_sentence(tmp_path: Path) -> None:
    assert run_checks(NO_FILES, 0.01) == ["its checks did not end in 0 s: is its storage slow?"]
    (found,) = run_checks({"packages": ["none"], "gpu_packages": [], "files": []}, 120)
    assert found == "its checks failed: KeyError: 'none'"
