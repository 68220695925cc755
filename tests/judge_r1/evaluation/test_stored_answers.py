"""A folder that cannot take one of the judges is refused before the first judge answers, and keeps its content."""

from pathlib import Path

import pytest
from factories import mini_pairs

from judge_r1.cli.eval import eval_
from judge_r1.evaluation.votes import EvaluationError, stored_votes
from judge_r1.files.jsonl import write_jsonl

HELD = r"holds 8 answers of judge 'longer'"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two sets of pairs, and an evaluation of `longer` on the first one that a kill has torn."""
    for seed, name in enumerate(("one", "two")):
        pairs = mini_pairs(8, seed)
        write_jsonl(tmp_path / name / "cases.jsonl", pairs.cases.values())
        write_jsonl(tmp_path / name / "pairs.jsonl", pairs.pairs)
    eval_(judge=["longer"], path=tmp_path / "one", out=tmp_path / "eval")
    with (tmp_path / "eval" / "votes.jsonl").open("ab") as votes:
        votes.write(b'{"row": "longer", "item')
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("items", "resume", "says"),
    [
        ("one", False, HELD + ": add --resume to keep them and ask only for what is missing, or choose another --out"),
        (
            "two",
            False,
            HELD + " from before a change of its items: choose another --out, or give the former items and --resume",
        ),
        (
            "two",
            True,
            HELD + " from before a change of its items: choose another --out, or give the former items and --resume",
        ),
    ],
)
def test_no_judge_answers_before_the_folder_is_refused(data: Path, items: str, resume: bool, says: str) -> None:
    before = content(data / "eval")
    with pytest.raises(EvaluationError, match=says):
        eval_(judge=["random", "longer"], path=data / items, out=data / "eval", resume=resume)
    assert content(data / "eval") == before


@pytest.mark.parametrize(("items", "resume", "out"), [("one", True, "eval"), ("two", False, "another")])
def test_the_advice_of_each_refusal_works(data: Path, items: str, resume: bool, out: str) -> None:
    eval_(judge=["random", "longer"], path=data / items, out=data / out, resume=resume)
    pairs = (data / items / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [stored.row for stored in stored_votes(data / out)].count("longer") == len(pairs)


def test_answers_of_other_judges_do_not_count(data: Path) -> None:
    eval_(judge=["random", "evidence"], path=data / "two", out=data / "eval")
    assert {stored.row for stored in stored_votes(data / "eval")} == {"longer", "random", "evidence"}
