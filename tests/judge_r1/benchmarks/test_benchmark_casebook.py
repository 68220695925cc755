"""The casebook as it ships: the form of each case, what the parts promise, and evaluations of the real files."""

import json
from collections import Counter
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from casebook_oracle import oracle
from command_server import run
from fake_judge_endpoint import JudgeServer

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, files_of
from judge_r1.benchmarks.casebook import load
from judge_r1.benchmarks.casebook.cases import FOLDER, PARTS, Part, WrittenCase, load_part
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import NUMBERS
from judge_r1.evaluation.report.tables import grids
from judge_r1.files.yaml_config import ConfigError, load_config

FILES = sorted(FOLDER.glob("*/*.yaml"))


def evaluated(out: Path, *options: object) -> dict[str, dict[str, Any]]:
    """The rows of an evaluation by judge."""
    done = run("eval", "--benchmark", "casebook", "--out", out, *options)
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in json.loads((out / "summary.json").read_text())["rows"]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_case_has_the_form_and_flaws_of_at_least_five_principles(path: Path) -> None:
    written = load_config(WrittenCase, path)
    assert path.parent.name in PARTS
    assert path.stem.startswith(f"{written.domain}-")
    assert 1_500 <= len(written.context.split()) <= 4_000
    assert len({flaw.edits[0].principle for flaw in written.flaws if len(flaw.edits) == 1}) >= len(NUMBERS) - 1
    case = written.case(path.stem)
    for variant, flaw in enumerate(written.flaws, 1):
        pair = written.pair(case, flaw, variant, "B")
        lines, reference = pair.flawed.split("\n"), pair.reference.split("\n")
        steps = {edit.step for edit in flaw.edits}
        assert {n for n, line in enumerate(lines, 1) if line != reference[n - 1]} == steps
        for edit, found in zip(flaw.edits, pair.origin.flaws, strict=True):
            text = pair.flawed[found.span.start : found.span.end]
            assert text == edit.text.strip()
            assert lines[edit.step - 1] == f"{edit.step}. {text}"
            assert found.principle == edit.principle


def test_parts_share_no_case() -> None:
    parts = [load_part(part) for part in PARTS]
    names = [case.meta["name"] for data in parts for case in data.cases.values()]
    assert len(names) == len(set(names)) == len(FILES)
    assert len(set().union(*(data.cases for data in parts))) == len(FILES)
    assert len(set().union(*(data.ids for data in parts))) == sum(len(data.pairs) for data in parts)


@pytest.mark.parametrize("part", PARTS)
def test_both_sides_are_balanced(part: Part) -> None:
    """In the pairs of each principle within one, and in those of several."""
    pairs = load_part(part).pairs
    a_better = Counter(pair.preferred == "A" for pair in pairs)
    assert abs(a_better[True] - a_better[False]) <= len(NUMBERS) + 1
    for group in ((n,) for n in NUMBERS):
        sides = Counter(pair.preferred for pair in pairs if pair.violated == group)
        assert sides
        assert abs(sides["A"] - sides["B"]) <= 1
    sides = Counter(pair.preferred for pair in pairs if pair.kind == "multi")
    assert abs(sides["A"] - sides["B"]) <= 1


def test_a_case_keeps_its_ids_when_others_are_added(tmp_path: Path) -> None:
    """And in another part, where its pairs may change sides."""
    folder = copytree(FOLDER / "test", tmp_path / "test")
    whole = load_part("test", tmp_path)
    first, *others = sorted(folder.iterdir())
    (tmp_path / "dev").mkdir()
    first.rename(tmp_path / "dev" / first.name)
    ids = [*load_part("dev", tmp_path).ids, *(load_part("test", tmp_path).ids if others else ())]
    assert ids == whole.ids == load_part("test").ids


def test_neither_length_nor_a_look_up_finds_the_flaws(tmp_path: Path) -> None:
    """In the test part `longer` is right in .3 to .7 of each principle, and `evidence` in at most half of P2 and P4."""
    rows = evaluated(tmp_path / "out", "--judge", "longer")
    alone = {name: {n: row["by_principle"][f"P{n}"]["single"] for n in NUMBERS} for name, row in rows.items()}
    shares = {n: part["accuracy"] for n, part in alone["longer"].items()}
    assert {n: share for n, share in shares.items() if not 0.3 <= share <= 0.7} == {}
    looked_up = [alone["evidence"][n] for n in (2, 4)]
    assert sum(part["accuracy"] * part["n"] for part in looked_up) <= sum(part["n"] for part in looked_up) / 2


def test_an_oracle_is_right_with_and_without_search(tmp_path: Path) -> None:
    data = load_part("test")
    with JudgeServer(oracle(data.pairs)) as server:
        judges = (
            "--judge",
            f"reads=direct@{server.url}#m",
            "--judge",
            f"searches=agentic:retriever=bm25@{server.url}#m",
        )
        rows = evaluated(tmp_path / "out", *judges)
    plain, searched = rows["reads"], rows["searches"]
    for row in (plain, searched):
        assert (row["n"], row["accuracy"], row["label_f1"]) == (len(data.pairs), 1, 1)
        assert {name: (part["accuracy"], part["label_f1"]) for name, part in row["by_principle"].items()} == {
            f"P{n}": (1, 1) for n in NUMBERS
        }
    assert (plain["searches"], searched["searches"]) == (0, 1)
    assert searched["usage"]["calls"] == 2 * plain["usage"]["calls"] == 2 * len(data.pairs)
    shown = {grid.title: grid for grid in grids(json.loads((tmp_path / "out" / "summary.json").read_text()))}
    assert [row[0] for row in shown["Label F1 by principle"].rows] == ["reads", "searches"]
    assert [row[:2] for row in shown["Cost"].rows] == [
        ("reads", f"{len(data.pairs)}"), ("searches", f"{2 * len(data.pairs)}"),
    ]  # fmt: skip


def test_a_subset_is_a_part_and_a_domain() -> None:
    every = load(FOLDER, None)
    assert [item.item_id for item in every.items] == load_part("test").ids
    domain = every.items[0].group
    assert {item.group for item in load(FOLDER, f"part=test,{domain}").items} == {domain}
    assert [item.item_id for item in load(FOLDER, "part=train").items] == load_part("train").ids
    with pytest.raises(ConfigError, match="field part: Input should be 'train', 'dev' or 'test'"):
        load(FOLDER, "part=all")
    with pytest.raises(BadBenchmark, match="test holds no pairs of domain 'law'; available: "):
        load(FOLDER, "law")
    with pytest.raises(ConfigError, match="field parts"):
        load(FOLDER, "legal,medical")


def test_own_cases_need_the_folders_of_the_parts(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="test does not exist: give the folder of a casebook, with train, dev, test"):
        load(tmp_path, None)
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "one.yaml").write_text("domain: legal\n")
    with pytest.raises(ConfigError, match=r"one\.yaml: the fields title, .* and flaws are missing"):
        load(tmp_path, None)


def test_a_path_is_needed_exactly_where_no_files_ship(tmp_path: Path) -> None:
    for name in BENCHMARKS.names():
        if name == "casebook":
            assert files_of(name, None) == FOLDER
            assert files_of(name, tmp_path) == tmp_path
        else:
            with pytest.raises(BadBenchmark, match=f"benchmark {name} are not in the package: give --path "):
                files_of(name, None)
    for line in ("eval --judge longer", "eval --predictions x", "attack longer"):
        done = run(*line.split(), "--out", tmp_path / "out")
        assert done.returncode == 2
        assert done.stderr.startswith("error: the files of benchmark lrbench are not in the package: give --path (")
        assert not (tmp_path / "out").exists()


def test_later_commands_find_the_files_too(tmp_path: Path) -> None:
    evaluated(tmp_path / "eval", "--judge", "longer", "--judge", "evidence", "--subset", "part=train")
    for line in (
        f"replay {tmp_path / 'eval'} --aggregation first",
        f"analyse errors {tmp_path / 'eval'}",
        "attack longer --benchmark casebook --limit 8 --attack padding",
    ):
        done = run(*line.split(), "--out", tmp_path / line.split()[0])
        assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "attack" / "attacks.json").read_text())["benchmark"] == "casebook"
    assert (tmp_path / "attack" / "failures" / "pairs.jsonl").stat().st_size
