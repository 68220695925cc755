"""`judge-r1 build casebook`: the folder of the cases and pairs of the benchmark."""

import json
from pathlib import Path

import pytest
from command_server import run

from judge_r1.benchmarks.casebook.cases import PARTS, load_part
from judge_r1.files.pair_set import load_pairs


@pytest.mark.parametrize("part", [*PARTS, "all"])
def test_a_part_is_built_as_it_is_evaluated_and_is_valid(part: str, tmp_path: Path) -> None:
    done = run("build", "casebook", f"options.part={part}", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    built = load_pairs(tmp_path)
    wanted = [load_part(one) for one in PARTS if part in (one, "all")]
    assert list(built.pairs) == [pair for data in wanted for pair in data.pairs]
    assert dict(built.cases) == {key: case for data in wanted for key, case in data.cases.items()}
    report = json.loads((tmp_path / "build.json").read_text())
    assert (report["generator"], report["pairs"], report["cases"]) == ("casebook", len(built.pairs), len(built.cases))
    checked = run("validate", tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert f"{len(built.pairs)} of {len(built.pairs)} pairs are valid" in checked.stdout
    assert "no rule refutes" not in checked.stdout  # no rule looked


def test_the_part_for_training_is_the_default(tmp_path: Path) -> None:
    assert run("build", "casebook", "--out", tmp_path / "one").returncode == 0
    assert run("build", "casebook", "options.part=train", "--out", tmp_path / "two").returncode == 0
    for name in ("cases.jsonl", "pairs.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("variants=2", "variants has no effect on 'casebook': leave it out"),
        ("teacher=chat@http://127.0.0.1:9#m", "generator 'casebook' works by rules: leave teacher out"),
        ("options.part=tests", "field part: Input should be 'train', 'dev', 'test' or 'all'"),
        ("path=nowhere", "nowhere/train does not exist: give the folder of a casebook"),
    ],
)
def test_options_without_effect_are_refused(line: str, message: str, tmp_path: Path) -> None:
    done = run("build", "casebook", line, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_people_read_and_trainers_take_the_folder(tmp_path: Path) -> None:
    assert run("build", "casebook", "--out", tmp_path / "pairs").returncode == 0
    for line in (
        f"audit sample {tmp_path / 'pairs'} --per-principle 1 --out {tmp_path / 'sheet'}",
        f"select {tmp_path / 'pairs'} --look-up missed --out {tmp_path / 'hard'}",
        f"export {tmp_path / 'pairs'} --format sft --out {tmp_path / 'sft'}",
    ):
        done = run(*line.split())
        assert done.returncode == 0, done.stderr
    assert load_pairs(tmp_path / "hard").pairs
