"""A teacher with one fault, behind a real server: the calls of a build, the pairs that it keeps, and what it says.

docs/experiments/teacher_faults.csv holds the numbers of these builds.
"""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import fake_teacher
import pytest
from fake_llm_server import AnswerFunction, FakeLLMServer, Faults

from data_builders import build_recipe
from data_builders.build_recipe import BuildRecipe
from judge_r1.core.errors import JudgeError

CASES = 12
DOCS = Path(__file__).parents[2] / "docs" / "experiments" / "teacher_faults.csv"
_SECTION = re.compile(
    r"Flawed Variant (\d+):\n(?:Violated Principles: (\[[^\n]*)\n)?(.*?)(?=\n\nFlawed Variant|\Z)", re.S
)
Change = Callable[[str], str]


def changed(change: Change) -> AnswerFunction:
    """The honest teacher with changed answers. Opinions stay as they are."""

    def answer(system: str, user: str, sample: int) -> str:
        honest = fake_teacher.honest(system, user, sample)
        return honest if "<reasoning_a>" in user else change(honest)

    return answer


def of_each(change: Callable[[str, str, str], str]) -> Change:
    """Changes every variant, given its number, list of principles and text."""
    return lambda text: "\n\n".join(change(*match.groups("")) for match in _SECTION.finditer(text))


def as_json(text: str) -> str:
    found = [
        {"variant": int(number), **({"violated_principles": json.loads(listed)} if listed else {}), "text": body}
        for number, listed, body in _SECTION.findall(text)
    ]
    return f"Here they are:\n```json\n{json.dumps({'variants': found}, indent=1)}\n```"


def lazy(system: str, user: str, sample: int) -> str:
    """Copies the reference."""
    copy = user.split("<reasoning>\n")[1].split("\n</reasoning>")[0]
    honest = fake_teacher.honest(system, user, sample)
    return of_each(lambda number, listed, body: written(number, listed, copy))(honest)


def written(number: str, listed: str, body: str, heading: str = "Flawed Variant") -> str:
    return f"{heading} {number}:\n" + (f"Violated Principles: {listed}\n" if listed else "") + body


def fenced(number: str, listed: str, body: str) -> str:
    heading, _, rest = written(number, listed, body).partition("\n")
    return f"{heading}\n```\n{rest}\n```"


def repeated(text: str) -> str:
    first = _SECTION.search(text)
    return of_each(lambda number, listed, body: written(number, first[2] or "", first[3]))(text) if first else text


def two_flaws(number: str, listed: str, body: str) -> str:
    """Adds a word at the start of the first line and at the end of the last one."""
    lines = body.split("\n")
    ends = lines[0].replace(" ", " perhaps ", 1), lines[-1].rstrip(".") + " perhaps."
    return written(number, listed, "\n".join([ends[0], *lines[1:-1], ends[1]]))


def wrong_principle(system: str, user: str, sample: int) -> str:
    """Gives the variants of P5 to the request for P1."""
    asked = user.replace("Target principle: 1.", "Target principle: 5.") if "Target principle: 1." in user else user
    return fake_teacher.honest(system, asked, sample)


@dataclass(frozen=True)
class Fault:
    """The teacher, the faults of the server, and a pattern of what the command says."""

    answer: AnswerFunction = fake_teacher.honest
    faults: Faults = field(default_factory=Faults)
    latency_s: float = 0.0
    verify: bool = False


FAULTS = {
    "none": Fault(),
    "Variant 1: as heading": Fault(changed(lambda text: text.replace("Flawed Variant", "**Variant"))),
    "JSON in a code fence": Fault(changed(as_json)),
    "a code fence around each variant": Fault(changed(of_each(fenced))),
    "an empty answer": Fault(changed(lambda text: "")),
    "a numbered list of variants with steps": Fault(
        changed(of_each(lambda number, listed, body: f"{number}. {listed} {body}"))
    ),
    "the reference, unchanged": Fault(lazy),
    "one variant, repeated": Fault(changed(repeated)),
    "two flaws in each variant": Fault(changed(of_each(two_flaws))),
    "status 429 once for each request": Fault(faults=Faults(rate=1.0, kinds=("rate_limit",), in_a_row=1)),
    "every answer cut": Fault(faults=Faults(cut=1.0)),
    "slow (0.2 s)": Fault(latency_s=0.2),
    "another principle (P5 for P1)": Fault(wrong_principle),
    "another principle, with verify": Fault(wrong_principle, verify=True),
}


def build(fault: Fault, out: Path, *, early_stop: bool = True) -> tuple[int, int, str]:
    """(calls, pairs, message) of a build of twelve cases."""
    with FakeLLMServer(fault.answer, faults=fault.faults, latency_s=fault.latency_s) as server:
        verifier = server.chat.replace("#toy", "#verifier") if fault.verify else None
        recipe = BuildRecipe(
            source="mini", variants=3, limit=CASES, early_stop=early_stop, teacher=server.chat, verify=verifier,
            cache=out / "answers.sqlite",
        )  # fmt: skip
        try:
            done = build_recipe.build(recipe, out)
            assert done.value
            return server.calls.total(), done.value["pairs"], json.dumps(done.value)
        except JudgeError as error:
            return server.calls.total(), 0, str(error)


def rows_of_docs() -> dict[str, tuple[int, int, str]]:
    """The faults in the table of the docs: calls, pairs, and words of the message or of the report."""
    with DOCS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: (int(row["calls"]), int(row["pairs"]), row["message"])
        for row in rows
        for name in row["fault"].split("; ")
    }


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str, tmp_path: Path) -> None:
    calls, pairs, message = build(FAULTS[name], tmp_path / "out")
    assert (calls, pairs) == rows_of_docs()[name][:2]
    assert rows_of_docs()[name][2] in message
    if not pairs:
        assert re.search(r"One of its answers, to the request for P1:(\n  \| .*)+\nWhat to do: ", message)
        assert message.endswith(". To build anyway, add early_stop=false")


def test_docs_have_no_other_row() -> None:
    assert set(rows_of_docs()) == set(FAULTS)
