"""Archives of uploads: what comes out is counted, whatever they declare."""

import zipfile
from pathlib import Path

import pytest
import zipfile_zstd  # noqa: F401  teaches zipfile the compression of Inspect's logs

from judge_r1.serving.unpacking import Share, UnpackBudget, UnpackingBusy, repack
from judge_r1.traces import BadTrace

KINDS = {"stored": 0, "deflate": 8, "bzip2": 12, "lzma": 14, "zstandard": 93}
TEXT = b"0123456789" * 300


def packed(path: Path, kind: int, *, declared: int | None = None) -> Path:
    """An archive of one entry that declares `declared` bytes, in both places where a zip file says so."""
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("header.json", TEXT)
    if declared is not None:
        data = bytearray(path.read_bytes())
        for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            at = data.index(mark) + offset
            data[at : at + 4] = declared.to_bytes(4, "little")
        path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_bytes_that_come_out_are_counted(kind: int, tmp_path: Path) -> None:
    archive, budget = packed(tmp_path / "a", kind), UnpackBudget(5_000)
    with budget.share(len(TEXT)) as share:
        repack(archive, tmp_path / "b", share)
        assert share.used == len(TEXT)
    assert zipfile.ZipFile(tmp_path / "b").read("header.json") == TEXT
    with pytest.raises(BadTrace, match="over 2999 bytes unpacked"), budget.share(len(TEXT) - 1) as share:
        repack(archive, tmp_path / "c", share)
    assert budget._used == 0


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_declared_size_is_not_believed(kind: int, tmp_path: Path) -> None:
    small, large = (packed(tmp_path / str(size), kind, declared=size) for size in (10, 2**20))
    with pytest.raises(BadTrace, match="damaged, or has more bytes than it declares"):
        repack(small, tmp_path / "b", Share(UnpackBudget(10**6), 10**6))
    share = Share(UnpackBudget(5_000), 5_000)
    repack(large, tmp_path / "c", share)
    assert share.used == len(TEXT)


def test_all_uploads_share_one_budget(tmp_path: Path) -> None:
    archive, budget = packed(tmp_path / "a", 8), UnpackBudget(5_000)
    with budget.share(4_000) as first:
        repack(archive, tmp_path / "b", first)
        with pytest.raises(UnpackingBusy, match="try again"), budget.share(4_000) as second:
            repack(archive, tmp_path / "c", second)
    with budget.share(4_000) as third:
        repack(archive, tmp_path / "d", third)
