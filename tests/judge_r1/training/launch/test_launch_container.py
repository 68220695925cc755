"""Slurm jobs whose programs run in an image. Programs stand for Slurm and Apptainer: they record how they are called,
and run the command that follows."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from launch_factories import cluster, recipe
from test_launch_render import shell

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.job import plan
from judge_r1.training.launch.render import render

RUN_REST = """#!/bin/bash
printf '%s\\n' "$(basename "$0") $*" >> "$CALLS"
while [[ "$1" == -* || "$1" == exec || "$1" == *.sif ]]; do
  case "$1" in --pwd|--bind) shift ;; esac
  shift
done
exec "$@"
"""
PROGRAMS = {
    "srun": RUN_REST,
    "apptainer": RUN_REST,
    "scontrol": '#!/bin/bash\necho "scontrol $*" >> "$CALLS"\n[ "$1" != show ] || printf "node1\\nnode2\\n"\n',
    "python": '#!/bin/bash\nshift 3\nif [ $# -eq 0 ]; then echo 10.0.0.1; else exec "$@"; fi\n',
    "ray": """#!/bin/bash
echo "ray $*" >> "$CALLS"
[ "$1" = health-check ] || sleep 60
until grep -q "ray start" "$CALLS"; do sleep .1; done  # the head starts beside the check
""",
}
TRAIN = """#!/bin/bash
echo "judge-r1 $* in $PWD for $HF_HOME" >> "$CALLS"
[ -n "$WAITS" ] || exit 0
echo run > "$JUDGE_R1_STOP_FILE"
until grep -q stop "$JUDGE_R1_STOP_FILE"; do sleep .1; done
exit 75
"""


def job(tmp_path: Path, stage: str, /, **container: Any) -> str:
    """The script of a job whose folder is `tmp_path`, with the programs in `tmp_path/bin`."""
    (tmp_path / "bin").mkdir()
    for name, text in {**PROGRAMS, "judge-r1": TRAIN}.items():
        program = tmp_path / "bin" / name
        program.write_text(text)
        program.chmod(0o755)
    plain: dict[str, Any] = {"env": [], "setup": [], "venv": None, "retries": 0, "folder": str(tmp_path)}
    nodes = 2 if stage == "grpo" else 1
    gpus = 4 if stage == "grpo" else 1
    made = cluster("slurm", tmp_path, **plain, nodes=nodes, gpus_per_node=gpus, weights="/models", container=container)
    return render(plan(recipe(stage), made))


def started(script: str, tmp_path: Path, **more: str) -> subprocess.Popen[bytes]:
    variables = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "CALLS": str(tmp_path / "calls"), "WAITS": ""}
    slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[1-2]"}
    return subprocess.Popen(["bash", "-c", script], env={**variables, **slurm, **more}, start_new_session=True)


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().splitlines()


def test_pyxis_runs_every_program_in_the_image(tmp_path: Path) -> None:
    script = job(tmp_path, "grpo", runtime="pyxis", image="registry#judge-r1:1", mounts=["/scratch"])
    shell(script)
    assert started(script, tmp_path).wait(60) == 0
    found = calls(tmp_path)
    for program in ("ray start --block", "ray health-check", "judge-r1 train", "judge_r1.training.network"):
        lines = [line for line in found if line.startswith("srun") and program in line]
        assert lines
        for line in lines:
            assert "--container-image=registry#judge-r1:1 --container-name=judge-r1-7" in line
            assert f"--container-mounts={tmp_path}:{tmp_path},/models:/models,/scratch:/scratch" in line
            assert "RAY_ADDRESS" in line
    assert any(line.endswith(f"in {tmp_path} for /models") for line in found)


def test_apptainer_runs_every_program_in_the_image(tmp_path: Path) -> None:
    script = job(tmp_path, "grpo", runtime="apptainer", image="/shared/judge-r1.sif")
    shell(script)
    assert started(script, tmp_path).wait(60) == 0
    found = [line for line in calls(tmp_path) if line.startswith("apptainer")]
    inside = f"apptainer exec --nv --pwd {tmp_path} --bind {tmp_path} --bind /models /shared/judge-r1.sif "
    assert all(line.startswith(inside) for line in found)
    programs = {line.removeprefix(inside).split(" ")[0] for line in found}
    assert programs == {"python", "ray", "env", "judge-r1"}


@pytest.mark.parametrize("runtime", ["pyxis", "apptainer"])
def test_the_training_in_an_image_is_asked_to_save_by_its_file(runtime: str, tmp_path: Path) -> None:
    """srun would end the step on SIGTERM, and the checkpoint would be lost."""
    script = job(tmp_path, "sft", runtime=runtime, image="/shared/judge-r1.sif")
    process = started(script, tmp_path, WAITS="1")
    until = time.monotonic() + 60
    while not list((tmp_path / "launched").glob("*.stop")) and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGUSR1)
    assert process.wait(60) == 0
    assert calls(tmp_path)[-1] == "scontrol requeue 7"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"container": {"runtime": "docker", "image": "x"}}, "container.runtime"),
        ({"container": {"runtime": "pyxis", "image": "x"}}, "venv and container exclude each other"),
        (
            {"venv": None, "container": {"runtime": "pyxis", "image": "x", "mounts": ["/a:b"]}},
            "/a:b has a comma or colon",
        ),
        ({"partition": None}, "partition"),
        ({"time": None}, "time"),
        ({"umask": "9"}, "umask"),
    ],
)
def test_mistakes_are_one_line(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(JudgeError) as error:
        cluster("slurm", tmp_path, **changed)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
