"""`judge-r1 build pilot|deepreview teacher=…`: a server completes the drafts and writes their variants."""

import json
from pathlib import Path

import fake_teacher
import pytest
import test_deepreview
import test_pilot
from command_server import run
from fake_llm_server import FakeLLMServer
from source_factories import write_rows

from data_builders.validate import validate
from judge_r1.files.pair_set import load_pairs

PARTS = {"<facts>": test_pilot.GOOD, "<paper>": test_deepreview.SHORT}
"""What completes a draft, by what its prompt holds."""


def answer(system: str, user: str, sample: int) -> str:
    """Gives an invalid first answer to each draft, a valid second one, and rule-made variants."""
    for marker, part in PARTS.items():
        if marker in user:
            return part if "not accepted" in user else "I would rather not."
    return fake_teacher.honest(system, user, sample)


def corpus(source: str, folder: Path) -> Path:
    if source == "pilot":
        return test_pilot.folder(folder)
    write_rows(folder / "sample.jsonl", [test_deepreview.ROW])
    return folder


@pytest.mark.parametrize("source", ["pilot", "deepreview"])
def test_a_teacher_completes_and_breaks_the_cases_of_a_source(source: str, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    path = corpus(source, tmp_path / "corpus")
    data = []
    with FakeLLMServer(answer) as server:
        for name in ("first", "again"):
            done = run(
                *("build", source, f"path={path}", f"teacher={server.chat}", "variants=2"),
                *("--out", tmp_path / name, f"cache={tmp_path / 'answers.sqlite'}"),
                env=server.environment,
            )
            assert done.returncode == 0, done.stderr
            data.append([(tmp_path / name / f).read_bytes() for f in ("cases.jsonl", "pairs.jsonl", "build.json")])
        assert server.errors == []
        assert server.duplicates == 0
    assert data[0] == data[1], "run again, it replays"
    pairs = load_pairs(tmp_path / "first")
    (case,) = pairs.cases.values()
    part = next(part for part in PARTS.values() if part in (case.reference, case.context.partition("\n\n")[2]))
    assert part
    assert case.meta["teacher"] == "chat:toy"
    assert pairs.pairs
    assert validate(tmp_path / "first").valid == len(pairs.pairs)
    counts = json.loads((tmp_path / "first" / "build.json").read_text())
    assert list(counts["completing"].values()) == [1]
