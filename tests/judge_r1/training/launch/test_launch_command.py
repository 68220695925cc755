"""`judge-r1 launch`: what it prints, writes and calls."""

import os
from pathlib import Path

import pytest
from launch_factories import KINDS, REPOSITORY, job, recipe
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.training.launch.render import render
from judge_r1.training.launch.submit import SubmitFailed, command, send
from judge_r1.training.recipe import dump_recipe


def toy(tmp_path: Path) -> str:
    file = tmp_path / "toy.yaml"
    file.write_text(dump_recipe(recipe()))
    return str(file)


@pytest.mark.parametrize("kind", KINDS)
def test_dry_run_prints_and_writes_nothing(kind: str, tmp_path: Path) -> None:
    shipped = str(REPOSITORY / "clusters" / f"{kind}.yaml")
    arguments = ["launch", toy(tmp_path), "--cluster", shipped, "--out", str(tmp_path / "out"), "--dry-run"]
    done = CliRunner().invoke(app, [*arguments, "grpo.pairs_per_step=16"])
    assert done.exit_code == 0, done.output
    assert "pairs_per_step: 16" in done.stdout
    assert "would be submitted with:" in done.stderr
    assert not (tmp_path / "out").exists()


def launcher(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    """A program of that name at the front of PATH, which writes down how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f'#!/bin/bash\nprintf "%s\\n" "$@" > {folder}/called\n{body}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("WANDB_API_KEY", "the value")
    return folder / "called"


def test_slurm_is_sent_with_sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = launcher("sbatch", tmp_path, monkeypatch, "echo 41")
    file = tmp_path / "x.sbatch"
    assert send(job("slurm", tmp_path), file) == "41; follow it with: tail -F /shared/judge r1/judge-r1-41.log"
    assert called.read_text().split("\n")[:-1] == ["--parsable", str(file)]


def test_secrets_go_to_skypilot_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = launcher("sky", tmp_path, monkeypatch, "echo Managed job 3")
    send(job("skypilot", tmp_path), tmp_path / "x.yaml")
    assert "the value" not in called.read_text()
    assert "--secret\nWANDB_API_KEY\n" in called.read_text()


def test_a_rayjob_that_is_there_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher("kubectl", tmp_path, monkeypatch, 'echo "Error from server (AlreadyExists): exists" >&2; exit 1')
    with pytest.raises(SubmitFailed, match="delete rayjob judge-r1-toy-1` and launch again: the run resumes"):
        send(job("kuberay", tmp_path), tmp_path / "x.yaml")


def test_a_launcher_that_refuses_or_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher("sbatch", tmp_path, monkeypatch, 'echo "sbatch: error: invalid partition" >&2; exit 1')
    with pytest.raises(SubmitFailed, match="failed: sbatch: error: invalid partition"):
        send(job("slurm", tmp_path), tmp_path / "x.sbatch")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SubmitFailed, match="sbatch is not installed: run `sbatch --parsable"):
        send(job("slurm", tmp_path), tmp_path / "x.sbatch")


def test_what_is_shown_for_ray_is_what_is_sent(tmp_path: Path) -> None:
    made = job("ray", tmp_path)
    assert command(made, Path("x.json"))[-3:] == ["http://head:8265/api/jobs/", "--json", "@x.json"]
    assert '"$WANDB_API_KEY"' in render(made)
