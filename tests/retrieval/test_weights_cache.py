import threading
import time
from pathlib import Path

import pytest

from retrieval.weights_cache import build_once, cache_dir


def test_cache_folder_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_R1_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.setenv("JUDGE_R1_CACHE", "~/weights")
    assert cache_dir() == Path.home() / "weights"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_folder_is_built_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, built = tmp_path / "cache" / "model", []

    def build(folder: Path) -> None:
        assert not target.exists()
        built.append(folder)
        (folder / "weights").write_text("x")

    assert build_once(target, build) == build_once(target, build) == target
    assert len(built) == 1
    assert names(target.parent) == ["model"]
    assert capsys.readouterr().err == f"preparing {target}, once\n"


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise RuntimeError("no memory left")

    with pytest.raises(RuntimeError, match="no memory left"):
        build_once(tmp_path / "model", build)
    assert names(tmp_path) == []


def test_leftovers_of_a_killed_build_are_ignored(tmp_path: Path) -> None:
    left = tmp_path / ".model.partial"
    left.mkdir()
    (left / "half").write_text("x")
    build_once(tmp_path / "model", lambda folder: (folder / "weights").touch())
    assert names(tmp_path / "model") == ["weights"]
    assert names(tmp_path) == ["model"]


def test_concurrent_callers_build_once(tmp_path: Path) -> None:
    target, built, found = tmp_path / "model", [], []

    def build(folder: Path) -> None:
        built.append(folder)
        time.sleep(0.3)
        (folder / "weights").write_text("x")

    def race() -> None:
        found.append((build_once(target, build) / "weights").read_text())

    threads = [threading.Thread(target=race) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["x", "x"]
    assert len(built) == 1
    assert names(tmp_path) == ["model"]
