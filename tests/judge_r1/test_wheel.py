"""The wheel alone, without a clone, runs the commands with the shipped recipes."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docs_endpoint import answer
from fake_judge_endpoint import JudgeServer
from paths import REPO

PACKAGES = ("judge_r1", "data_builders", "retrieval")
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the tracked and new files of the repository."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked("."):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, source / name)
    command = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    [file] = target.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed wheel."""
    site = tmp_path_factory.mktemp("installed") / "site"
    command = [*PIP, "install", "--no-compile", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return site


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
    files = [*tracked(*PACKAGES), *(f"judge_r1/{name}" for name in tracked("recipes", "clusters", "examples"))]
    assert [name for name in files if not (installed / name).is_file()] == []


def test_train_finds_shipped_recipes(installed: Path, tmp_path: Path) -> None:
    """One that extends another, by a name that `test_find_recipe` spells in other ways."""
    assert run(installed, tmp_path, "train", "mini/grpo", "--dry-run").startswith("name: mini/grpo\n")


@pytest.mark.slow
def test_demo(installed: Path, tmp_path: Path) -> None:
    run(installed, tmp_path, "demo", "--small", "--out", "demo", seconds=900)
    assert (tmp_path / "demo" / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_fresh_environment_judges_evaluates_and_serves(wheel: Path, tmp_path: Path) -> None:
    """With the extra serve alone, from the package index, in a folder without a clone: less than 700 MB without torch,
    also for a judge at an endpoint that searches by meaning. With -s it prints the size and the seconds."""
    uv, bin_ = Path(sys.executable).parent / "uv", tmp_path / "venv" / "bin"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    work = tmp_path / "work"
    work.mkdir()

    def call(*command: object, seconds: int = 300) -> str:
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, timeout=seconds)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call(uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    started = time.monotonic()
    into = (uv, "pip", "install", "--quiet", "--python", bin_ / "python")
    call(*into, f"judge-r1[serve] @ {wheel.as_uri()}", seconds=1500)
    seconds = time.monotonic() - started
    sizes = {path: path.stat().st_size for path in (tmp_path / "venv").rglob("*") if path.is_file()}
    print(f"[serve]: {sum(sizes.values()) / 1e6:.0f} MB, installed in {seconds:.0f} s")
    assert sum(sizes.values()) < 700e6
    assert not [*(tmp_path / "venv").glob("lib/*/site-packages/torch")]
    judge_r1 = bin_ / "judge-r1"
    assert "serve" in call(judge_r1, "--help")
    pair = {"reasoning_a": "one two", "reasoning_b": "one"}
    judged = f"import judge_r1; print(judge_r1.load_judge('longer')(**{pair}).winner)"
    assert call(bin_ / "python", "-c", judged) == "A\n"
    call(judge_r1, "build", "mini", "--out", "pairs", "limit=6")
    panel = "panel:orders=2(evidence|random)"
    call(judge_r1, "eval", "--judge", "longer", "--judge", panel, "--path", "pairs", "--out", "eval")
    rows = json.loads((work / "eval" / "summary.json").read_text())["rows"]
    assert {row["name"] for row in rows} == {"longer", panel, "evidence"}
    texts = {"context": "Ana paid 34 crowns on Monday. " * 60, "decision": "Ben owes 34 crowns.", **pair}

    def served(judge: str) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [judge_r1, "serve", "--judge", judge, "--port", str(port)],
            cwd=work, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            for _ in range(600):
                if server.poll() is None and not socket.socket().connect_ex(("127.0.0.1", port)):
                    break
                time.sleep(0.5)
            client = f"from judge_r1.client import Client; found = Client('http://127.0.0.1:{port}')"
            return call(bin_ / "python", "-c", f"{client}.judge(**{texts}); print(found.winner, found.searches)")
        finally:
            server.terminate()
            assert server.wait(60) == 0

    assert served("panel(longer|longer)") == "A 0\n"
    with JudgeServer(answer) as endpoint:
        assert served(f"agentic:retriever=bundled:e5-small@{endpoint.url}#m") == "A 1\n"
    assert call(bin_ / "python", "-c", "import judge_r1; print(judge_r1.__file__)").startswith(str(tmp_path / "venv"))
