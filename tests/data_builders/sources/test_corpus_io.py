"""Finding, loading and cleaning corpus files. Errors are one line and name file and field."""

import gzip
import lzma
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.sources import SOURCES
from data_builders.sources.corpus_io import SourceError, clean, corpus_folder, numbered, read_bytes, read_json, take
from judge_r1.core.errors import JudgeError


@given(st.text(st.characters(), max_size=60))
def test_clean_text_is_stable_nfc_and_without_control_characters(text: str) -> None:
    cleaned = clean(text)
    assert cleaned == clean(cleaned) == unicodedata.normalize("NFC", cleaned)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in cleaned.replace("\n", "").replace("\t", ""))
    cleaned.encode("utf-8")


def test_clean_keeps_ordinary_text() -> None:
    text = "- p < 0.05,  “quoted”\n\n  - 5 × 6 cm\twide; e\u0301"
    assert clean(f"\ufeff{text}\x07\r\n") == text.replace("e\u0301", "é")
    assert clean("a\r\nb\rc") == "a\nb\nc"


def test_clean_removes_invisible_characters() -> None:
    unseen = [*range(0x09), *range(0x0B, 0x0D), *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0)]
    for code in [*unseen, 0x200B, 0xFEFF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF]:
        assert clean(f"a{chr(code)}b") == "ab", hex(code)
    for code in (0x0D, 0x85, 0x2028, 0x2029):
        assert clean(f"a{chr(code)}b") == "a\nb", hex(code)


def test_both_the_corpus_folder_and_its_parent_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "corpus" / "data").mkdir(parents=True)
    for path in (tmp_path, tmp_path / "corpus"):
        assert corpus_folder(path, "toy", "corpus", "data") == tmp_path / "corpus"


@pytest.mark.parametrize("name", ["medrbench", "echr", "elife", "f1000rd"])
def test_a_missing_folder_is_reported(name: str, tmp_path: Path) -> None:
    source = SOURCES.get(name)
    assert source.operators == "text"
    with pytest.raises(SourceError, match="path=PATH"):
        next(source.read(None, None, 0, Counter()))
    with pytest.raises(SourceError, match=r"nowhere is not a folder"):
        next(source.read(tmp_path / "nowhere", None, 0, Counter()))
    with pytest.raises(SourceError, match=r"does not exist; path must be"):
        next(source.read(tmp_path, None, 0, Counter()))


def test_files_are_decompressed_by_suffix(tmp_path: Path) -> None:
    for name, data in (("a", b"x"), ("a.gz", gzip.compress(b"x")), ("a.xz", lzma.compress(b"x"))):
        (tmp_path / name).write_bytes(data)
        assert read_bytes(tmp_path / name) == b"x"


@pytest.mark.parametrize(
    ("name", "data"), [("a.gz", b"plain"), ("a.gz", gzip.compress(b"x" * 99, mtime=0)[:-9]), ("a.xz", b"?")]
)
def test_a_damaged_archive_is_reported(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match=name):
        read_bytes(tmp_path / name)


@pytest.mark.parametrize(
    ("data", "message"),
    [(b'{"a": ', "it ends in the middle of a value.*column 6"), (b"[1]", "object, not list"), (b"\xff", "JSON")],
)
def test_malformed_json_is_reported(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(data)
    with pytest.raises(SourceError, match=rf"bad\.json.*{message}"):
        read_json(tmp_path / "bad.json")


def test_take_reports_missing_fields_and_wrong_types() -> None:
    record = {"a": {"b": "text"}}
    assert take(record, "a.b", str, "here") == "text"
    with pytest.raises(SourceError, match=r"here: field a\.c is missing"):
        take(record, "a.c.d", str, "here")
    with pytest.raises(JudgeError, match=r"here: field a\.b must be list, not str"):
        take(record, "a.b", list, "here")


def test_steps_are_numbered_lines() -> None:
    assert numbered(["First.", "Second."]) == "1. First.\n2. Second."
