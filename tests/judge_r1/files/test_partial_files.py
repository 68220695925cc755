"""Temporary files of killed processes are removed; those in use stay."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.errors import JudgeError
from judge_r1.files.jsonl import write_json
from judge_r1.files.partial_files import file_name, file_names, open_partial, remove_partial_files, staged_folder

WRITE = """
import sys
from pathlib import Path
from judge_r1.core.errors import JudgeError
from judge_r1.files.jsonl import AtomicFiles
with AtomicFiles(Path(sys.argv[1])) as files:
    print("open", flush=True)
    sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_next_write_in_a_folder_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, tmp_path / "pairs.jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    [partial] = names(tmp_path)
    assert partial.startswith(f".pairs.jsonl.{process.pid}-")
    write_json(tmp_path / "other.json", {})
    assert names(tmp_path) == [partial, "other.json"], "the file of a running process stays"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert partial in names(tmp_path)
    write_json(tmp_path / "other.json", {})
    assert names(tmp_path) == ["other.json"]


@pytest.mark.parametrize("process", [4_194_305, os.getpid(), 1], ids=["ended", "this one", "another one"])
def test_the_lock_and_not_the_number_of_the_process_decides(tmp_path: Path, process: int) -> None:
    """A container numbers its processes anew, so the number of a killed process may belong to another one."""
    (tmp_path / f".pairs.jsonl.{process}-00ff00.partial").write_text("half")
    remove_partial_files(tmp_path)
    assert names(tmp_path) == []


def test_an_open_partial_file_is_hidden_and_new(tmp_path: Path) -> None:
    with open_partial(tmp_path / "a" / "x") as one, open_partial(tmp_path / "a" / "x") as two:
        assert one.name != two.name
        assert all(Path(file.name).name.startswith(".x.") for file in (one, two))


def test_staged_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("1")
    (tmp_path / ".staged.partial").mkdir()
    (tmp_path / ".staged.partial" / "left").write_text("by a killed process")
    with pytest.raises(JudgeError), staged_folder(tmp_path) as staging:
        write_json(staging / "old" / "is a file", write_json(staging / "old", 2))
    assert (names(tmp_path), (tmp_path / "old").read_text()) == (["old"], "1")
    with staged_folder(tmp_path) as staging:
        write_json(staging / "old", 2)
        write_json(staging / "sub" / "new", 3)
        assert (tmp_path / "old").read_text() == "1"
    assert (names(tmp_path), (tmp_path / "old").read_text()) == (["old", "sub"], "2\n")
    assert names(tmp_path / "sub") == ["new"]


TEXTS = st.sampled_from(["a b", "a_b", "a/b", "A b", "案件", ".", "..", "", "_"]) | st.text(max_size=4)


@given(st.lists(TEXTS, unique=True))
def test_different_texts_have_different_file_names(texts: list[str]) -> None:
    names = file_names(texts)
    assert list(names) == texts
    assert len(set(names.values())) == len(texts)
    for text, name in names.items():
        assert name not in ("", ".", "..")
        assert "/" not in name
        assert name == file_name(text) or name.startswith(f"{file_name(text)}-")


def test_a_text_that_is_a_file_name_keeps_it() -> None:
    assert file_names(["gpt 4", "other 5"]) == {"gpt 4": "gpt_4", "other 5": "other_5"}
    names = file_names(["gpt/4", "gpt_4"])
    assert names["gpt_4"] == "gpt_4"
    assert names["gpt/4"].startswith("gpt_4-")
