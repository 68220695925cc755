"""A build with a teacher ends after its first items if nothing of them is accepted, whatever it builds."""

import re
from pathlib import Path

import pytest
from fake_llm_server import FakeLLMServer, answer_batch
from source_factories import write_rows
from sources.test_pilot import FACTS, ROW, folder

from data_builders import teacher_session
from data_builders.generators.base import BuildPlan
from data_builders.teacher_session import SessionOptions
from data_builders.teachers.budget import Spending
from judge_r1.core.errors import JudgeError

FORM = (
    r"chat:toy gave (\d+) answers for 2 (\w+), and no ([\w ]+) is accepted\. Reasons:(?:\n +\d+  .+)+\n"
    r"One of its answers, to the request for .+:(?:\n  \| .*)+\nWhat to do: .+\. To build anyway, add --no-early-stop"
)


def junk(system: str, user: str, sample: int) -> str:
    return "As a model I cannot help with that."


def plan(name: str, path: Path, **fields: bool) -> BuildPlan:
    if name == "pilot":
        rows = [ROW | {"case_id": f"001-{n}", "facts": f"{FACTS}\n- It was letter {n}."} for n in range(1, 6)]
        return BuildPlan("pilot", folder(path, rows), **fields)
    file = path / "documents.jsonl"
    rows = [{"id": str(number), "context": f"The mill {number} is old. " * 200} for number in range(5)]
    return BuildPlan(name, write_rows(file, rows), variants=1, **fields)


@pytest.mark.parametrize(
    ("name", "calls", "items", "noun"),
    [
        ("conversations", 2 * 2 * 3, "documents", "conversation pair"),
        ("pilot", 2 * 3, "cases", "pair"),
    ],
)
def test_stop_after_two_items(name: str, calls: int, items: str, noun: str, tmp_path: Path) -> None:
    options = SessionOptions(tmp_path / "answers.sqlite")
    with FakeLLMServer(junk) as server:
        with pytest.raises(JudgeError) as error:
            teacher_session.build(plan(name, tmp_path), tmp_path / "out", server.chat, None, options, Spending())
        found = re.fullmatch(FORM, str(error.value))
        assert found, str(error.value)
        assert found.groups() == (str(calls), items, noun)
        assert server.served.total() == calls
        whole = plan(name, tmp_path, early_stop=False)
        with pytest.raises(JudgeError, match=f"gave {calls // 2 * 5} answers"):
            teacher_session.build(whole, tmp_path / "out", server.chat, None, options, Spending())


@pytest.mark.parametrize("name", ["pilot", "mini"])
def test_a_batch_in_vain_is_the_last_one(name: str, tmp_path: Path) -> None:
    """The first batch holds the first requests of all items. None of its answers can be used: no second one is made."""
    (corpus := tmp_path / "corpus").mkdir()
    first, second, results = (tmp_path / f"{part}.jsonl" for part in ("first", "second", "results"))
    built = BuildPlan("mini", variants=1, limit=4) if name == "mini" else plan(name, corpus)
    spec, out = "chat@http://127.0.0.1:1/v1#toy", tmp_path / "out"
    options = SessionOptions(tmp_path / "answers.sqlite", batch_export=first)
    assert "requests are in" in teacher_session.build(built, out, spec, None, options, Spending()).message
    answer_batch(junk, first, results)
    options = SessionOptions(options.cache, batch_export=second, batch_import=results)
    with pytest.raises(JudgeError, match=r"(?s)and no pair is accepted.*\| As a model.*To build anyway"):
        teacher_session.build(built, out, spec, None, options, Spending())
    assert not second.exists()
