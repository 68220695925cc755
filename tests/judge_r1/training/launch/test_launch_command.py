"""`judge-r1 launch`: its output, its files and the launchers it calls."""

import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from launch_factories import KINDS, REPOSITORY, cluster, job, recipe
from test_launch_render import scripts, shell
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.training.launch.render import render
from judge_r1.training.launch.submit import SubmitFailed, command, send
from judge_r1.training.recipe import dump_recipe


def recipe_file(tmp_path: Path) -> str:
    file = tmp_path / "recipe.yaml"
    file.write_text(dump_recipe(recipe()))
    return str(file)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_prints_the_job_and_writes_nothing(kind: str, tmp_path: Path) -> None:
    shipped = str(REPOSITORY / "clusters" / f"{kind}.yaml")
    arguments = ["launch", recipe_file(tmp_path), "--cluster", shipped, "--out", str(tmp_path / "out"), "--dry-run"]
    done = CliRunner().invoke(app, [*arguments, "grpo.pairs_per_step=16"])
    assert done.exit_code == 0, done.output
    assert "pairs_per_step: 16" in done.stdout
    assert "would be submitted with:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_data_that_a_visible_folder_lacks_are_named(tmp_path: Path) -> None:
    seen, unseen = tmp_path / "shared", tmp_path / "elsewhere"
    (seen / "runs/dev").mkdir(parents=True)
    start = recipe("sft", name="warm", data={"train": "runs/warm-data"})
    file = tmp_path / "recipe.yaml"
    file.write_text(dump_recipe(recipe(data={"train": "runs/data", "dev": "runs/dev"}, start=start, model="m")))

    def printed(folder: Path) -> str:
        cluster("slurm", tmp_path, folder=str(folder))
        done = CliRunner().invoke(app, ["launch", str(file), "--cluster", str(tmp_path / "slurm.yaml"), "--dry-run"])
        assert done.exit_code == 0, done.output
        return done.stderr

    assert f"runs/data does not exist yet in {seen}\n" in printed(seen)
    assert f"runs/warm-data does not exist yet in {seen}\n" in printed(seen)
    assert "runs/dev" not in printed(seen)
    assert "does not exist" not in printed(unseen)


def launcher(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    """Put a program of that name first on PATH. It records its arguments in the file that is returned."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f'#!/bin/bash\nprintf "%s\\n" "$@" > {folder}/called\n{body}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("WANDB_API_KEY", "the value")
    return folder / "called"


def test_slurm_jobs_are_submitted_with_sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = launcher("sbatch", tmp_path, monkeypatch, "echo 41")
    file = tmp_path / "x.sbatch"
    assert send(job("slurm", tmp_path), file) == "41; follow it with: tail -F '/shared/judge r1/judge-r1-41.log'"
    assert called.read_text().split("\n")[:-1] == ["--parsable", str(file)]


def test_skypilot_receives_secrets_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = launcher("sky", tmp_path, monkeypatch, "echo Managed job 3")
    send(job("skypilot", tmp_path), tmp_path / "x.yaml")
    assert "the value" not in called.read_text()
    assert "--secret\nWANDB_API_KEY\n" in called.read_text()


def test_an_existing_rayjob_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher("kubectl", tmp_path, monkeypatch, 'echo "Error from server (AlreadyExists): exists" >&2; exit 1')
    with pytest.raises(SubmitFailed, match="delete rayjob judge-r1-toy-1-82ac60c1` and launch again: the run resumes"):
        send(job("kuberay", tmp_path), tmp_path / "x.yaml")


def test_a_launcher_that_fails_or_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher("sbatch", tmp_path, monkeypatch, 'echo "sbatch: error: invalid partition" >&2; exit 1')
    with pytest.raises(SubmitFailed, match="failed: sbatch: error: invalid partition"):
        send(job("slurm", tmp_path), tmp_path / "x.sbatch")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SubmitFailed, match="sbatch is not installed: run `sbatch --parsable"):
        send(job("slurm", tmp_path), tmp_path / "x.sbatch")


def test_the_shown_ray_command_has_no_secret(tmp_path: Path) -> None:
    ray_job = job("ray", tmp_path)
    assert command(ray_job, Path("x.json"))[-3:] == ["http://head:8265/api/jobs/", "--json", "@x.json"]
    assert '"$WANDB_API_KEY"' in render(ray_job)


JUDGE = ("--judge", "agentic@vllm:runs/a/model")


def launched(tmp_path: Path, kind: str, name: str, *options: str) -> Any:
    file = tmp_path / f"{kind}.yaml"
    cluster(kind, tmp_path)
    return CliRunner().invoke(app, ["launch", name, "--cluster", str(file), "--dry-run", "--", *options])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "options", "gpus"),
    [
        ("index", ("runs/a",), 1),
        ("eval", (*JUDGE, "--benchmark", "casebook", "--out", "runs/eval"), 4),
        ("serve", (*JUDGE, "--host", "0.0.0.0", "--keys", "keys.json"), 4),
    ],
)
def test_other_commands_run_on_one_machine_of_each_cluster(
    kind: str, name: str, options: tuple[str, ...], gpus: int, tmp_path: Path
) -> None:
    done = launched(tmp_path, kind, name, *options)
    assert done.exit_code == 0, done.output
    [script] = scripts(done.stdout, kind)
    shell(script)
    words = shlex.join(["judge-r1", name, *options])
    assert f"{words}{' --resume' if name == 'eval' else ''} " in script.replace("\n", " ")
    assert ("serving at http://$(hostname):8000" in script) == (name == "serve")
    assert ("--data-parallel-size 4" in done.stdout) == (gpus == 4)
    assert f"asks for {gpus} GPU" in done.stderr
    assert "cat > launched" not in script


def test_a_job_of_a_command_has_a_name_of_its_own(tmp_path: Path) -> None:
    first, second = (launched(tmp_path, "slurm", "index", folder).stdout for folder in ("runs/a", "runs/A"))
    assert first.splitlines()[1] != second.splitlines()[1]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("serve", JUDGE, "no other machine reaches --host 127.0.0.1: add --host 0.0.0.0 and --keys FILE"),
        ("serve", (*JUDGE, "--host", "0.0.0.0"), "without --keys anyone may use it"),
        ("eval", JUDGE, "Missing option '--out'"),
        ("eval", ("--jugde", "x", "--out", "y"), "No such option: --jugde"),
        ("export", (), "export"),
    ],
)
def test_options_are_checked_before_the_job_is_sent(
    name: str, options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = launched(tmp_path, "slurm", name, *options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_a_missing_account_is_said(tmp_path: Path) -> None:
    assert "names no account" in launched(tmp_path, "slurm", "index", "runs/a").stderr
    cluster("slurm", tmp_path, account="team")
    arguments = ["launch", "index", "--cluster", str(tmp_path / "slurm.yaml"), "--dry-run", "--", "runs/a"]
    assert "account" not in CliRunner().invoke(app, arguments).stderr
