"""The wheel alone, without a clone, runs the commands with the shipped recipes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import REPO

PACKAGES = ("judge_r1", "data_builders", "retrieval")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed wheel, built from the tracked and new files of the repository."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in tracked("."):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, source / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target / "wheel"), str(source)]
    subprocess.run(wheel, check=True, capture_output=True, timeout=300)
    [file] = (target / "wheel").glob("*.whl")
    install = [*pip, "install", "--no-deps", "--no-index", "--target", str(target / "site"), str(file)]
    subprocess.run(install, check=True, capture_output=True, timeout=300)
    return target / "site"


def tracked(*paths: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *paths]
    names = subprocess.run(command, cwd=REPO, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in names if (REPO / name).is_file()]


def run(site: Path, folder: Path, *arguments: str, seconds: int = 300) -> str:
    """The output of `judge-r1` with the installed wheel, run in `folder`."""
    environment = os.environ | {"PYTHONPATH": str(site)}
    code = "import sys, judge_r1.cli; assert judge_r1.__file__.startswith(sys.argv.pop(1)); judge_r1.cli.main()"
    command = [sys.executable, "-c", code, str(site), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_every_file_of_the_packages_and_the_recipes(installed: Path) -> None:
    files = [*tracked(*PACKAGES), *(f"judge_r1/{name}" for name in tracked("recipes"))]
    assert [name for name in files if not (installed / name).is_file()] == []


@pytest.mark.parametrize("recipe", ["mini/warmup", "recipes/mini/grpo.yaml"])
def test_train_finds_shipped_recipes(installed: Path, tmp_path: Path, recipe: str) -> None:
    output = run(installed, tmp_path, "train", recipe, "--dry-run")
    assert output.startswith(f"name: mini-{Path(recipe).stem}\n")


@pytest.mark.slow
def test_demo(installed: Path, tmp_path: Path) -> None:
    run(installed, tmp_path, "demo", "--small", "--out", "demo", seconds=900)
    assert (tmp_path / "demo" / "report.html").is_file()
