import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case
from judge_r1.files.jsonl import AtomicFiles, BadRecord, dump_line, read_jsonl, write_json, write_jsonl

CASE = json.loads(dump_line(make_case()))


def write_lines(path: Path, *lines: str | dict[str, Any]) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


@given(st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip))
def test_any_text_round_trips(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    case = make_case(text)
    write_jsonl(path, [case, case])
    assert list(read_jsonl(path, Case)) == [case, case]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": ""}, "field context"),
        ({"context": " \n"}, "field context: must not be blank"),
        ({"context": None}, "field context"),
        ({"domain": "Law <think>"}, "field domain"),
        ({"schema": 2}, "field schema"),
        ({"extra": 1}, "field extra"),
        ({"decision": "dismiss"}, "does not match its content"),
    ],
)
def test_a_wrong_record_names_file_line_and_field(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = write_lines(tmp_path / "cases.jsonl", CASE, "", CASE | change)
    with pytest.raises(BadRecord, match="line 3") as error:
        list(read_jsonl(path, Case))
    assert str(error.value).startswith(f"{path}, line 3: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "cases.jsonl", {k: v for k, v in CASE.items() if k != "reference"})
    with pytest.raises(BadRecord, match="line 1: field reference: Field required"):
        list(read_jsonl(path, Case))


@pytest.mark.parametrize(
    "line", [b'{"schema": 1,', b"nonsense", b"[]", b"\xff\xfe", b'{"domain": "\xe2\x82"}', b"\x00"]
)
def test_invalid_json_or_utf8_names_file_and_line(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(json.dumps(CASE).encode() + b"\r\n" + line + b"\n")
    with pytest.raises(BadRecord, match=r"cases\.jsonl, line 2: "):
        list(read_jsonl(path, Case))


def test_records_before_the_bad_line_are_read_first(tmp_path: Path) -> None:
    found = read_jsonl(write_lines(tmp_path / "cases.jsonl", CASE, "{"), Case)
    assert next(found).case_id == CASE["case_id"]
    with pytest.raises(BadRecord, match="line 2"):
        next(found)


def test_repeated_ids_name_both_lines(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "cases.jsonl", CASE, "", CASE)
    with pytest.raises(BadRecord, match=rf"line 3: case_id {CASE['case_id']} is already on line 1"):
        list(read_jsonl(path, Case, unique="case_id"))
    assert len(list(read_jsonl(path, Case))) == 2


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_an_unreadable_file_raises(tmp_path: Path, name: str) -> None:
    with pytest.raises(JudgeError, match="cannot be read"):
        list(read_jsonl(tmp_path / name, Case))


def test_an_exception_while_writing_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    write_jsonl(path, [make_case()])
    before = path.read_bytes()

    def failing() -> Iterator[Case]:
        yield make_case("other.")
        raise KeyError("the source broke")

    with pytest.raises(KeyError):
        write_jsonl(path, failing())
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["cases.jsonl"]


def test_nan_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"loss": float("nan")})
    assert not list(tmp_path.iterdir())


def test_a_path_inside_a_file_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file" / "a.json", tmp_path / "file" / "b" / "a.json"):
        with pytest.raises(JudgeError, match="could not be written"):
            write_json(path, {})


DISK = """
import resource, sys
from pathlib import Path
from judge_r1.core.errors import JudgeError
from judge_r1.files.jsonl import write_atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_atomic(Path(sys.argv[1]), ("0123456789" * 10 + "\\n" for _ in range(1000)))
except JudgeError as error:
    print(error)
    sys.exit(3)
"""


@pytest.mark.parametrize("old", [None, "the old file\n"])
def test_a_write_error_keeps_the_old_file(tmp_path: Path, old: str | None) -> None:
    """The process may write 20,000 bytes and tries 101,000: a real error of the operating system."""
    path = tmp_path / "pairs.jsonl"
    if old:
        path.write_text(old)
    done = subprocess.run([sys.executable, "-c", DISK, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert f"{path} could not be written" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == (["pairs.jsonl"] if old else [])
    assert not old or path.read_text() == old


def test_lines_are_utf8_and_keys_in_order_of_declaration() -> None:
    line = dump_line(make_pair(make_case("é “x” 34.")))
    assert line.endswith("\n")
    assert line.startswith('{"schema": 1, "pair_id": ')
    assert "é “x”" in dump_line(make_case("é “x” 34."))


def test_several_files_are_replaced_together(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "one", tmp_path / "two"
    one.parent.mkdir()
    one.write_text("old")
    with pytest.raises(KeyError), AtomicFiles(one, two) as out:
        out.write(tmp_path / "none of them", "half")
    assert (one.read_text(), two.exists()) == ("old", False)
    with AtomicFiles(one, two) as out:
        for part in "ab":
            out.write(one, part)
            out.write(two, part.upper())
    assert (one.read_text(), two.read_text()) == ("ab", "AB")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "one", "two"]
