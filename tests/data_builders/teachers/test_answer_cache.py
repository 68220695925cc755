import asyncio
import sqlite3
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from teacher_factories import request_for, run

import data_builders.teachers.answer_cache as cache_module
from data_builders.teachers import TeacherError, TeacherReply
from data_builders.teachers.answer_cache import Cache, Entry, request_key

OPEN_AND_WRITE = """
import sys
from pathlib import Path
from data_builders.teachers import TeacherReply
from data_builders.teachers.answer_cache import Cache, Entry

with Cache(Path(sys.argv[1])) as cache:
    for n in range(40):
        answer = TeacherReply(text=sys.argv[2], input_tokens=1, output_tokens=1, finished=True, model="m")
        cache.put_all([Entry(str(n), "t", answer)])
"""


def answer(text: str = "x") -> TeacherReply:
    return TeacherReply(text=text, input_tokens=3, output_tokens=2, finished=True, model="m")


def python(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_first_answer_wins(tmp_path: Path) -> None:
    async def work(cache: Cache) -> list[TeacherReply]:
        return await asyncio.gather(*(cache.put(Entry("k", "t", answer(str(n)))) for n in range(5)))

    with Cache(tmp_path / "c.sqlite") as cache:
        assert {answer.text for answer in run(work(cache))} == {"0"}
        assert run(cache.put(Entry("k", "t", answer("late")))).text == "0"


def test_cancelled_tasks_lose_no_answer(tmp_path: Path) -> None:
    """A build that fails cancels its tasks while their answers, which were paid for, wait to be stored."""
    path, keys = tmp_path / "c.sqlite", [str(number) for number in range(60)]

    async def work(cache: Cache) -> None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        tasks = [asyncio.create_task(cache.put(Entry(key, "t", answer(key)))) for key in keys]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        other.execute("ROLLBACK")
        other.close()

    with Cache(path) as cache:
        run(work(cache))
    with Cache(path) as cache:
        assert [cache.get(key) for key in keys] == [answer(key) for key in keys]


@given(st.text(max_size=5), st.text(max_size=5))
def test_keys_depend_on_the_teacher_and_the_whole_request(one: str, other: str) -> None:
    request = request_for("q", system=one)
    assert (request_key("t", request) == request_key("t", request_for("q", system=other))) == (_nfc(one) == _nfc(other))
    others = [
        request_key("u", request),
        *(
            request_key("t", request.model_copy(update=c))
            for c in ({"sample": 1}, {"max_tokens": 9}, {"temperature": 0.1})
        ),
    ]
    assert len({request_key("t", request), *others}) == 5


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def test_processes_can_create_and_share_a_file_concurrently(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    writers = [python(OPEN_AND_WRITE, path, name) for name in "abc"]
    for writer in writers:
        assert writer.wait(60) == 0, writer.stderr.read() if writer.stderr else ""
    with Cache(path) as cache:
        assert cache.tokens("t").calls == 40


def test_a_permanently_locked_file_is_a_one_line_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_BUSY_S", 0.2)
    path = tmp_path / "c.sqlite"
    with Cache(path) as cache:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TeacherError, match="in use by another process"):
            run(cache.put(Entry("k", "t", answer())))
        assert cache.get("k") is None
        with pytest.raises(TeacherError, match="in use by another process"):
            Cache(path)
        other.execute("ROLLBACK")
        other.close()
        assert run(cache.put(Entry("k", "t", answer()))) == answer()


@pytest.mark.parametrize("kind", ["text", "other", "newer", "folder"])
def test_an_invalid_cache_file_is_a_one_line_error_and_unchanged(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "c.sqlite"
    if kind == "text":
        path.write_text("precious notes, long enough to be mistaken for a header of some kind\n" * 20)
    elif kind == "other":
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE precious (x)")
    elif kind == "newer":
        with Cache(path) as cache:
            cache.put_all([Entry("k", "t", answer())])
        with sqlite3.connect(path) as newer:
            newer.execute("PRAGMA user_version = 2")
    else:
        path.mkdir()
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(TeacherError, match=r"c\.sqlite") as caught:
        Cache(path)
    assert "\n" not in str(caught.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_full_disk_is_a_one_line_error_and_the_file_stays_valid(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        run(cache.put(Entry("k", "t", answer())))
        cache._write.execute("PRAGMA max_page_count = 8")
        with pytest.raises(TeacherError, match="full"):
            cache.put_all([Entry(str(n), "t", answer("x" * 4000)) for n in range(100)])
        assert cache.get("3") is None
        assert cache.get("k") == answer()
        cache._write.execute("PRAGMA max_page_count = 100000")
        assert run(cache.put(Entry("after", "t", answer()))) == answer()
