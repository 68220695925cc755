"""The comparison with another revision: a row has both sides and their ratio, and no worktree stays behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bench import compare


@pytest.mark.skipif(not (compare.ROOT / ".git").exists(), reason="the comparison needs the git repository")
@pytest.mark.parametrize("row", ["start-up", pytest.param("worker", marks=pytest.mark.slow)])
def test_a_row_compares_both_sides(row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["compare", "HEAD", "--rows", row, "--repeats", "1", "--out", str(tmp_path)])
    compare.main()
    [found] = json.loads((tmp_path / "compare.json").read_text())["rows"]
    assert found["times"] == pytest.approx(found["there"] / found["here"])
    assert 0 < found["lowest"] <= found["times"] <= found["highest"]


@pytest.mark.skipif(not (compare.ROOT / ".git").exists(), reason="the comparison needs the git repository")
def test_the_worktree_of_the_revision_is_removed() -> None:
    with compare.checkout("HEAD") as tree:
        assert (tree / "judge_r1" / "cli").is_dir()
    listed = subprocess.run(
        ["git", "-C", str(compare.ROOT), "worktree", "list"], capture_output=True, text=True, check=True
    )
    assert str(tree) not in listed.stdout
    assert not tree.exists()


def test_a_failed_measurement_says_why() -> None:
    with pytest.raises(SystemExit, match="no number here"):
        compare.run(compare.ROOT, "raise ValueError('no number here')")


def test_a_module_that_the_revision_lacks_is_not_found_elsewhere(tmp_path: Path) -> None:
    """The finder of setuptools 84.2.1 for editable installs would find it in the installed checkout."""
    (tmp_path / "judge_r1").mkdir()
    (tmp_path / "judge_r1" / "__init__.py").touch()
    with pytest.raises(SystemExit, match=r"No module named 'judge_r1\.core'"):
        compare.run(tmp_path, "import judge_r1.core")
