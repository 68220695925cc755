"""Kills the building of an index at any moment: the next call leaves the same bytes as an uninterrupted one."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from factories import make_case
from hash_embedder import HashEmbedder
from process_faults import forked, forked_together, killed_at_each_operation, short_and_long

from judge_r1.core.errors import ExitStatus, StorageFull
from judge_r1.episode.case_retriever import INDEX_FOLDER, fill_index
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import CaseTexts, open_cases
from retrieval.retriever import Retriever

Attacks = Callable[[str, int], None]
STEP, LONG_STEP = 3, 1


def fill(folder: Path) -> None:
    texts = CaseTexts(open_cases(folder))
    fill_index(Retriever(texts, method=HashEmbedder(), passage_words=5, store=folder / INDEX_FOLDER), texts)


def contents(folder: Path) -> dict[str, bytes]:
    """The visible files of the index."""
    files = sorted((folder / INDEX_FOLDER).rglob("*"))
    return {path.name: path.read_bytes() for path in files if path.is_file() and not path.name.startswith(".")}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    cases = [make_case(" ".join(f"ana paid {100 * n + i}." for i in range(n % 5 + 1))) for n in range(50)]
    write_jsonl(tmp_path / "data" / "cases.jsonl", cases)
    return tmp_path / "data"


@pytest.fixture
def whole(data: Path) -> dict[str, bytes]:
    fill(data)
    files = contents(data)
    shutil.rmtree(data / INDEX_FOLDER)
    assert len(files) == 5  # the manifest and four shards
    return files


@pytest.mark.parametrize("step", short_and_long(STEP, LONG_STEP))
def test_kills_before_file_operations(step: int, data: Path, whole: dict[str, bytes], attacks: Attacks) -> None:
    kills = 0
    for _ in killed_at_each_operation(lambda: fill(data), data, step=step):
        kills += 1
        assert contents(data).items() <= whole.items()
        fill(data)
        assert contents(data) == whole
        assert not list((data / INDEX_FOLDER).rglob(".*"))
        shutil.rmtree(data / INDEX_FOLDER)
    assert kills
    attacks("kill -9 before a file operation of an index", kills)


def test_two_builders_leave_one_index(data: Path, whole: dict[str, bytes], attacks: Attacks) -> None:
    results = forked_together([lambda: fill(data)] * 3)
    assert [result.returncode for result in results] == [0, 0, 0]
    assert contents(data) == whole
    attacks("builders of one index at once", 3)


def test_a_full_disk_keeps_what_is_complete(
    data: Path, whole: dict[str, bytes], small_disk: Callable[[int], Path], attacks: Attacks
) -> None:
    disk = small_disk(6 * 4096)
    (data / INDEX_FOLDER).symlink_to(disk)

    def work() -> None:
        with pytest.raises(StorageFull, match="complete parts of the index are kept") as error:
            fill(data)
        raise SystemExit(error.value.exit_status)

    assert forked(work).returncode == ExitStatus.IO_ERROR
    attacks("full disk", 1)
    found = contents(data)
    assert found.items() < whole.items()
    (data / INDEX_FOLDER).unlink()
    shutil.copytree(disk, data / INDEX_FOLDER)
    fill(data)
    assert contents(data) == whole
