"""Names and values that are legal but odd: each reaches the job as it is, or the cluster file is refused. Names of jobs
differ wherever names of recipes do."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from launch_factories import KINDS, cluster, recipe

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import OWN_RAY_VARIABLES, OWN_VARIABLES, load_cluster
from judge_r1.training.launch.job import NAME_LENGTH, Job, plan
from judge_r1.training.launch.render import render
from judge_r1.training.recipe import load_recipe

NAMES = ["NO", "ON", "null", "y", "e1", "_1", "True", "http_proxy", "X" * 300]
VALUES = [
    "NO", "null", "1e3", "0x1", "12:30", "~", "2026-11-27", "-x", "--exclusive", "a b", " a ", "it's", 'say "no"',
    "a\\", "$HOME", "$(HOME)", "$$(HOME)", "${HOME}", "`id`", "a#b", "# a", "a,b", "a;b", "%j", "packjob", "a hetjob",
    "HetJob", "é 😀", "a\u2028b", "a\tb", "x" * 5000,
]  # fmt: skip
MEETING = [
    ("a/b", "a-b"), ("A", "a"), ("vollständig", "vollstandig"), ("案件", "判决"), ("x" * 60, "x" * 61), ("a+", "a-"),
    ("one--two", "one-two"), ("judge", "judge-"),
]  # fmt: skip
names = st.sampled_from(NAMES) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
lines = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=12)
values = st.sampled_from(VALUES) | lines
keys = st.sampled_from([*VALUES[:7], "nvidia.com/gpu"]) | lines
OWN = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


def small(kind: str, where: Path, /, **changed: Any) -> Job:
    """A job without a Ray cluster, whose script runs anywhere: one process of SFT."""
    plain = {"nodes": 1, "gpus_per_node": 1, "env": [], "setup": [], "venv": None, "retries": 0}
    plain |= {"folder": str(where)}
    return plan(recipe("sft"), cluster(kind, where, **(plain | changed)))


def kubernetes(value: str) -> str:
    """The value of a container's variable with Kubernetes' escapes replaced. A reference stays as it is here."""
    return re.sub(r"\$\$|\$\([^)]*\)", lambda match: "$" if match[0] == "$$" else "REFERENCE", value)


def job_environment(job: Job) -> dict[str, str]:
    """The variables that `judge-r1 train` sees: runs the script with those that the launcher gives it."""
    text, given = render(job), {"PATH": f"{job.cluster.folder}/bin:{os.environ['PATH']}"}
    read = {"ray": json.loads, "slurm": lambda _: None}.get(job.cluster.kind, yaml.safe_load)
    content: Any = read(text)
    if job.cluster.kind == "ray":
        given |= content["runtime_env"]["env_vars"]
        words = shlex.split(content["entrypoint"])
    elif job.cluster.kind == "kuberay":
        template = content["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]
        variables = template["spec"]["containers"][0].get("env", [])
        given |= {variable["name"]: kubernetes(variable["value"]) for variable in variables}
        words = ["bash", "-c", template["metadata"]["annotations"]["judge-r1/job"]]
    else:
        given |= (content or {}).get("envs", {})
        words = ["bash", "-c", content["run"] if content else text]
    binaries, seen = Path(job.cluster.folder) / "bin", Path(job.cluster.folder) / "seen"
    binaries.mkdir(exist_ok=True)
    program = binaries / "judge-r1"
    program.write_text(f"#!/bin/sh\nexec env -0 > '{seen}'\n")
    program.chmod(0o755)
    done = subprocess.run(words, env=given, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    entries = seen.read_bytes().decode().split("\0")[:-1]
    return dict(entry.split("=", 1) for entry in entries)


def sbatch_options(script: str) -> dict[str, str]:
    """The options of #SBATCH lines as sbatch reads them: quotes group, a backslash takes the next character as it is,
    # begins a comment, and a line with packjob or hetjob begins another job."""
    options = {}
    for line in script.split("\n"):
        if not line.startswith("#SBATCH"):
            continue
        assert not re.search("(pack|het)job", line, re.IGNORECASE), line
        words, quote, escaped = [""], "", False
        for character in line.removeprefix("#SBATCH"):
            if escaped or (character == quote and not escaped) or (character in "\"'" and not quote):
                if escaped:
                    words[-1] += character
                else:
                    quote = "" if quote else character
                escaped = False
            elif character == "\\":
                escaped = True
            elif not quote and character.isspace():
                words.append("")
            elif not quote and character == "#":
                break
            else:
                words[-1] += character
        assert not quote
        name, _, value = next(word for word in words if word).partition("=")
        options[name] = value
    return options


@pytest.mark.parametrize(("one", "other"), MEETING)
def test_recipes_with_other_names_are_other_jobs(one: str, other: str, tmp_path: Path) -> None:
    jobs = [plan(recipe(name=name), cluster("kuberay", tmp_path)) for name in (one, other)]
    for field in ("name", "recipe_file", "stop_file"):
        assert len({getattr(job, field) for job in jobs}) == 2
    for job in jobs:
        assert re.fullmatch(r"judge-r1(-[a-z0-9]+)+", job.name)
        assert len(job.name) <= NAME_LENGTH


def test_a_job_keeps_its_name(tmp_path: Path) -> None:
    """A second launch must find the run, the queue and the files of the first."""
    assert plan(recipe(), cluster("slurm", tmp_path)).name == "judge-r1-toy-1-82ac60c1"
    assert plan(recipe(name="案"), cluster("slurm", tmp_path)).name == "judge-r1-30fb1736"


@pytest.mark.parametrize("name", ["judge-r1-fc", "Judge-R1"])
def test_the_prefix_is_in_a_name_once(name: str, tmp_path: Path) -> None:
    found = plan(recipe(name=name), cluster("slurm", tmp_path)).name
    assert found.startswith(f"{name.lower()}-")
    assert found.count("judge-r1") == 1


@pytest.mark.parametrize("kind", KINDS)
@OWN
@given(given_settings=st.dictionaries(names, values, max_size=4))
@example(given_settings=dict(zip(NAMES, VALUES, strict=False)))
@example(given_settings={f"V{number}": value for number, value in enumerate(VALUES)})
def test_variables_reach_the_training(kind: str, given_settings: dict[str, str], tmp_path: Path) -> None:
    assume(not (OWN_VARIABLES | OWN_RAY_VARIABLES | {"PATH", "BASH_ENV", "ENV"}) & set(given_settings))
    if kind == "ray":  # which replaces $NAME, as the documentation says
        given_settings = {name: value for name, value in given_settings.items() if "$" not in value}
    assert given_settings.items() <= job_environment(small(kind, tmp_path, settings=given_settings)).items()


@pytest.mark.parametrize("kind", KINDS)
def test_variables_that_the_job_or_bash_sets_are_refused(kind: str, tmp_path: Path) -> None:
    """Names that do not reach the training are those that the cluster file refuses."""
    lost = []
    for name in [*sorted(OWN_VARIABLES), "LANG", "HOME", "OMP_NUM_THREADS"]:
        try:
            job = small(kind, tmp_path, settings={name: "odd"})
        except JudgeError:
            lost.append(name)
        else:
            assert job_environment(job)[name] == "odd"
    assert set(lost) == OWN_VARIABLES


@OWN
@given(
    mount=lines.filter(lambda text: not set(text) & set("':")), names=st.lists(names, unique=True, max_size=3),
    gpu=keys, rdma=keys, texts=st.lists(values, min_size=6, max_size=6),
)  # fmt: skip
@example(mount="a b", names=["NO", "ON"], gpu="1e3", rdma="null", texts=["~", "y", "0x1", "12:30", "NO", "2026-11-27"])
def test_a_rayjob_has_the_values_of_the_cluster_file(
    mount: str, names: list[str], gpu: str, rdma: str, texts: list[str], tmp_path: Path
) -> None:
    assume(len({"cpu", "memory", gpu, rdma}) == 4)
    assume(not OWN_VARIABLES & set(names))
    image, claim, secret, memory, label, toleration = texts
    made = small(
        "kuberay", tmp_path, folder=f"/{mount}", namespace="null", image=image, claim=claim, secret=secret, env=names,
        memory_per_node=memory, gpu_resource=gpu, rdma_resources={rdma: 2}, settings={},
        node_selector={label: toleration}, tolerations=[{"key": toleration, "value": label}],
    )  # fmt: skip
    content = yaml.safe_load(render(made))
    spec = content["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    [container] = spec["containers"]
    assert content["metadata"] == {"name": made.name, "namespace": "null"}
    assert container["image"] == image
    assert container["resources"]["limits"] == {"cpu": "64", "memory": memory, gpu: "1", rdma: "2"}
    found = [(entry["name"], entry["valueFrom"]["secretKeyRef"]) for entry in container["env"] if "valueFrom" in entry]
    assert found == [(name, {"name": secret, "key": name}) for name in names]
    assert container["volumeMounts"][0]["mountPath"] == f"/{mount}"
    assert container["lifecycle"]["preStop"]["exec"]["command"][-1] == f"/{mount}/{made.stop_file}"
    assert spec["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim
    assert (spec["nodeSelector"], spec["tolerations"]) == ({label: toleration}, [{"key": toleration, "value": label}])


@OWN
@given(mount=lines.filter(lambda text: not set(text) & set("'$")), names=st.lists(names, unique=True, max_size=3),
       texts=st.lists(values.filter(lambda text: "$" not in text), min_size=4, max_size=4))  # fmt: skip
@example(mount="NO", names=["NO", "ON", "null"], texts=["1e3", "~", "12:30", "0x1"])
def test_a_task_of_skypilot_has_the_values_of_the_cluster_file(
    mount: str, names: list[str], texts: list[str], tmp_path: Path
) -> None:
    assume(not (OWN_VARIABLES | OWN_RAY_VARIABLES) & set(names))
    accelerator, infra, image, volume = texts
    made = small("skypilot", tmp_path, folder=f"/{mount}", env=names, accelerator=accelerator, infra=infra, image=image,
                 volume=volume, settings={})  # fmt: skip
    content = yaml.safe_load(render(made))
    assert content["volumes"] == {f"/{mount}": volume}
    assert content.get("secrets", {}) == dict.fromkeys(names)
    resources = content["resources"]
    assert (resources["accelerators"], resources["infra"], resources["image_id"]) == (f"{accelerator}:1", infra, image)


@OWN
@given(mount=lines.filter(lambda text: "'" not in text), texts=st.lists(values, min_size=4, max_size=4))
@example(mount="my packjob", texts=['a "b', "a\\ b", "-x", "hetjob"])
def test_sbatch_reads_the_values_of_the_cluster_file(mount: str, texts: list[str], tmp_path: Path) -> None:
    memory, partition, account, qos = texts
    made = small("slurm", tmp_path, folder=f"/{mount}", memory_per_node=memory, partition=partition, account=account,
                 qos=qos, options=[], settings={})  # fmt: skip
    options = sbatch_options(render(made))
    read = [options[f"--{name}"] for name in ("mem", "partition", "account", "qos", "chdir", "job-name")]
    assert read == [memory, partition, account, qos, f"/{mount}", made.name]


def test_a_recipe_named_like_a_separator_of_sbatch_stays_one_job(tmp_path: Path) -> None:
    made = plan(recipe("sft", name="packjob/hetjob"), cluster("slurm", tmp_path))
    assert sbatch_options(render(made))["--job-name"] == made.name


NAMES_OF_RECIPES = ["NO", "1e3", "it's", "a b/$HOME", "案件", "-x", '"', "x" * 200, "a\\", "# a", "a: b", "`a`"]


@pytest.mark.parametrize(("name", "kind"), zip(NAMES_OF_RECIPES, KINDS * 3, strict=True))
def test_the_recipe_reaches_the_job(kind: str, name: str, tmp_path: Path) -> None:
    made = plan(recipe("sft", name=name), small(kind, tmp_path).cluster)
    job_environment(made)
    assert load_recipe(tmp_path / made.recipe_file) == made.recipe


def test_half_of_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "slurm.yaml"
    file.write_text('kind: slurm\nfolder: /a\ntime: "1"\nsettings: {A: "\\ud800"}\n')
    with pytest.raises(JudgeError):
        load_cluster(file)
