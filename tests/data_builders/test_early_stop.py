"""A build with a teacher ends after its first items if nothing of them is accepted, whatever it builds."""

import re
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer, answer_batch
from source_factories import write_rows
from sources.test_pilot import FACTS, ROW, folder

from data_builders.build_recipe import BuildRecipe, build
from judge_r1.core.errors import JudgeError

FORM = (
    r"chat:toy gave (\d+) answers for 2 (\w+), and no ([\w ]+) is accepted\. Reasons:(?:\n +\d+  .+)+\n"
    r"One of its answers, to the request for .+:(?:\n  \| .*)+\nWhat to do: .+\. To build anyway, add early_stop=false"
)


def junk(system: str, user: str, sample: int) -> str:
    return "As a model I cannot help with that."


def recipe(name: str, path: Path, **fields: Any) -> BuildRecipe:
    if name == "pilot":
        rows = [ROW | {"case_id": f"001-{n}", "facts": f"{FACTS}\n- It was letter {n}."} for n in range(1, 6)]
        return BuildRecipe(source="pilot", path=folder(path, rows), **fields)
    file = path / "documents.jsonl"
    rows = [{"id": str(number), "context": f"The mill {number} is old. " * 200} for number in range(5)]
    return BuildRecipe(source=name, path=write_rows(file, rows), variants=1, **fields)


@pytest.mark.parametrize(
    ("name", "calls", "items", "noun"),
    [
        ("conversations", 2 * 2 * 3, "documents", "conversation pair"),
        ("pilot", 2 * 3, "cases", "pair"),
    ],
)
def test_stop_after_two_items(name: str, calls: int, items: str, noun: str, tmp_path: Path) -> None:
    with FakeLLMServer(junk) as server:
        asked = {"teacher": server.chat, "cache": tmp_path / "answers.sqlite"}
        with pytest.raises(JudgeError) as error:
            build(recipe(name, tmp_path, **asked), tmp_path / "out")
        found = re.fullmatch(FORM, str(error.value))
        assert found, str(error.value)
        assert found.groups() == (str(calls), items, noun)
        assert server.served.total() == calls
        whole = recipe(name, tmp_path, early_stop=False, **asked)
        with pytest.raises(JudgeError, match=f"gave {calls // 2 * 5} answers"):
            build(whole, tmp_path / "out")


@pytest.mark.parametrize("name", ["pilot", "mini"])
def test_a_batch_in_vain_is_the_last_one(name: str, tmp_path: Path) -> None:
    """The first batch holds the first requests of all items. None of its answers can be used: no second one is made."""
    (corpus := tmp_path / "corpus").mkdir()
    first, second, results = (tmp_path / f"{part}.jsonl" for part in ("first", "second", "results"))
    asked = {"teacher": "chat@http://127.0.0.1:1/v1#toy", "cache": tmp_path / "answers.sqlite", "batch_export": first}
    of_mini = {"source": "mini", "variants": 1, "limit": 4, **asked}
    built = BuildRecipe.model_validate(of_mini) if name == "mini" else recipe(name, corpus, **asked)
    out = tmp_path / "out"
    assert "requests are in" in build(built, out).message
    answer_batch(junk, first, results)
    built = built.model_copy(update={"batch_export": second, "batch_import": results})
    with pytest.raises(JudgeError, match=r"(?s)and no pair is accepted.*\| As a model.*To build anyway"):
        build(built, out)
    assert not second.exists()
