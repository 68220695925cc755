"""Files of evaluations and ratings that were edited, cut or mixed: every command that reads them says so, and none ends
with an unexpected error."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from run_factories import toy_run
from typer.testing import CliRunner

from data_builders.build import write_pairs
from judge_r1.cli import app
from judge_r1.files.digests import with_digest, without_digest
from judge_r1.files.file_lock import lock_folder

Change = Callable[[list[str]], list[str]]
Edit = Callable[[dict[str, Any]], object]
JUDGES = ("--judge", "longer", "--judge", "random")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_pairs(mini_pairs(12), folder)
    return folder


@pytest.fixture
def evaluation(data: Path, tmp_path: Path) -> Path:
    out = tmp_path / "eval"
    assert run("eval", *JUDGES, "--path", data, "--out", out)[0] == 0
    return out


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, words)))
    return result.exit_code, " ".join(result.output.split())


def readers(folder: Path, data: Path, out: Path) -> dict[str, tuple[object, ...]]:
    """The commands that read an evaluation."""
    return {
        "report": ("report", folder, "--out", out / "page.html"),
        "rate": ("rate", folder, "--out", out),
        "calibrate": ("calibrate", folder, "--judge-name", "random", "--confidence-method", "samples", "--out", out),
        "radar": ("analyse", "radar", folder, "--out", out),
        "errors": ("analyse", "errors", folder, "--path", data, "--out", out),
        "replay": ("replay", folder, "--path", data, "--out", out),
        "resume": ("eval", *JUDGES, "--path", data, "--out", folder, "--resume"),
    }


def change_json(name: str, edit: Edit) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        edit(content)
        (folder / name).write_text(json.dumps(content))

    return change


def change_lines(name: str, change: Change) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        lines = (folder / name).read_text().splitlines()
        (folder / name).write_text("".join(f"{line}\n" for line in change(lines)))

    return changed


def each(edit: Edit) -> Change:
    """Edits the record of each line; what does not change keeps its bytes."""

    def change(lines: list[str]) -> list[str]:
        records = [json.loads(line) for line in lines]
        for record in records:
            edit(record)
        return [json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records]

    return change


def swap(record: dict[str, Any]) -> None:
    """The other candidate wins; the score stays."""
    verdict = record["verdict"]
    verdict["winner"] = {"A": "B", "B": "A"}.get(verdict.get("winner"), "A")


OUTCOMES = ("report", "rate", "calibrate", "radar")
VOTES = ("errors", "replay", "rate", "resume")
ALL_BUT_RESUME = ("report", "rate", "calibrate", "radar", "errors", "replay")
EDITS: dict[str, tuple[Callable[[Path], object], str, tuple[str, ...]]] = {
    "cut": (change_lines("outcomes.jsonl", lambda lines: lines[:-1]), "outcomes.jsonl", OUTCOMES),
    "twice": (change_lines("outcomes.jsonl", lambda lines: lines * 2), "outcomes.jsonl", OUTCOMES),
    "verdicts": (change_lines("outcomes.jsonl", each(swap)), "outcomes.jsonl", OUTCOMES),
    "clusters": (change_lines("outcomes.jsonl", each(lambda r: r.update(cluster_id="c"))), "outcomes.jsonl", OUTCOMES),
    "schema": (change_lines("outcomes.jsonl", each(lambda r: r.update(schema=7))), "outcomes.jsonl", OUTCOMES),
    "interval": (
        change_json("summary.json", lambda s: s["rows"][0].update(ci95=[0.9, 0.95])), "summary.json", ALL_BUT_RESUME,
    ),
    "no digest": (change_json("summary.json", lambda s: s.pop("digest")), "summary.json", ALL_BUT_RESUME),
    "no schema": (change_json("summary.json", lambda s: s.pop("schema")), "no `schema`", ALL_BUT_RESUME),
    "settings": (
        change_json("rows.json", lambda s: s["random"]["settings"].update(seed=9)), "rows.json", ALL_BUT_RESUME,
    ),
    "another judge": (
        change_json("rows.json", lambda s: s["random"].update(judge="x")),
        "from before a change of its judge", ("resume",),
    ),
    "votes": (change_lines("votes.jsonl", each(swap)), "votes.jsonl, line 1: was changed after", VOTES),
    "order": (change_lines("votes.jsonl", each(lambda t: t.update(order=[0, 0]))), "votes.jsonl, line 1", VOTES),
    "sample": (change_lines("votes.jsonl", each(lambda t: t.update(sample=-1))), "votes.jsonl, line 1", VOTES),
    "an old vote": (
        change_lines("votes.jsonl", each(lambda t: t.pop("digest"))), "the field `digest` is missing", VOTES,
    ),
    "the name of an earlier version": (
        lambda folder: (folder / "votes.jsonl").rename(folder / "traces.jsonl"),
        "traces.jsonl is called votes.jsonl now: rename the file", (*ALL_BUT_RESUME, "resume"),
    ),
    "votes twice": (
        change_lines("votes.jsonl", lambda lines: [*lines, lines[0]]), "votes and not the",
        ("errors", "replay", "rate"),
    ),
    "votes lost": (
        change_lines("votes.jsonl", lambda lines: lines[1:]), "votes and not the", ("errors", "replay", "rate"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_every_reader_refuses_an_edited_evaluation(name: str, evaluation: Path, data: Path, tmp_path: Path) -> None:
    change, message, commands = EDITS[name]
    change(evaluation)
    for command in commands:
        status, shown = run(*readers(evaluation, data, tmp_path / "new")[command])
        assert status == 2, (command, shown)
        assert message in shown, command
        assert str(evaluation) in shown, command
        assert not (tmp_path / "new").exists()


def test_every_reader_accepts_whole_files_with_other_line_ends(evaluation: Path, data: Path, tmp_path: Path) -> None:
    for name in ("outcomes.jsonl", "votes.jsonl", "rows.json", "summary.json"):
        text = (evaluation / name).read_text().replace("\n", "\r\n\r\n")
        (evaluation / name).write_text(text, newline="")
    for command, words in readers(evaluation, data, tmp_path).items():
        status, shown = run(*words)
        assert status == 0 or "no confidence by samples" in shown or "a radar needs three" in shown, (command, shown)


def test_a_copy_without_outcomes_is_reported_and_not_rated(evaluation: Path, tmp_path: Path) -> None:
    (evaluation / "outcomes.jsonl").unlink()
    assert run("report", evaluation, "--out", tmp_path / "page.html")[0] == 0
    assert "holds no outcomes.jsonl" in run("rate", evaluation, "--out", tmp_path / "new")[1]


def test_resume_writes_edited_results_again_and_judges_lost_votes(evaluation: Path, data: Path, tmp_path: Path) -> None:
    whole = {name: (evaluation / name).read_bytes() for name in ("outcomes.jsonl", "votes.jsonl")}
    change_lines("outcomes.jsonl", each(swap))(evaluation)
    change_lines("votes.jsonl", lambda lines: lines[2:])(evaluation)
    assert run(*readers(evaluation, data, tmp_path)["resume"])[0] == 0
    assert (evaluation / "outcomes.jsonl").read_bytes() == whole["outcomes.jsonl"]
    assert sorted((evaluation / "votes.jsonl").read_bytes().splitlines()) == sorted(whole["votes.jsonl"].splitlines())
    assert run(*readers(evaluation, data, tmp_path / "new")["replay"])[0] == 0


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        if isinstance(value[key], dict | list):
            yield from leaves(value[key])
        yield value, key


@pytest.mark.parametrize("wrong", [-1, 1e300, "", [], None, True, [0, 0], "\x00", {"kind": "ranking", "order": [5, 0]}])
def test_a_wrong_value_with_a_right_digest_is_an_error_with_its_line(
    wrong: object, evaluation: Path, data: Path, tmp_path: Path
) -> None:
    """The values of one vote, each replaced: it is refused with file and line, or is a value that can be."""
    path = evaluation / "votes.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    body = without_digest(first)[0]
    for place in range(len(list(leaves(json.loads(body))))):
        record = json.loads(body)
        parent, key = list(leaves(record))[place]
        parent[key] = wrong
        line = with_digest(json.dumps(record, separators=(",", ":")).encode())[0]
        path.write_bytes(b"".join([line, *rest]))
        (evaluation / "summary.json").unlink(missing_ok=True)
        status, shown = run(*readers(evaluation, data, tmp_path)["resume"])
        assert status in (0, 2), (key, shown)
        assert status == 0 or "votes.jsonl" in shown or str(evaluation) in shown


@pytest.fixture(scope="module")
def rating(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rating")
    write_pairs(mini_pairs(12), folder / "data")
    words = ["--judge", "longer", "--judge", "random", "--judge", "always-a", "--path", folder / "data"]
    assert run("eval", *words, "--out", folder / "eval")[0] == 0
    assert run("rate", folder / "eval", "--out", folder / "rating")[0] == 0
    return folder


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("items.jsonl", r'"elo": -?[0-9.e]+', '"elo": 1e300', "items.jsonl, line"),
        ("items.jsonl", r'"elo": (\d)', r'"elo": 1\1', "was changed after `judge-r1 rate` wrote both"),
        ("items.jsonl", r'"points": ', '"points": -', "items.jsonl, line"),
        ("rating.json", r'"elo": (\d)', r'"elo": 1\1', "was changed after `judge-r1 rate` wrote both"),
        ("rating.json", r'"elo": -?[0-9.e]+', '"elo": -1e300', "rating.json"),
        ("rating.json", r'"schema": 2', '"schema": 1', "`schema` is 2: rate again"),
    ],
)
def test_edited_ratings_are_refused(name: str, old: str, new: str, message: str, rating: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(rating / "rating", tmp_path / "rating")
    text = (folder / name).read_text()
    (folder / name).write_text(re.sub(old, new, text, count=1))
    assert (folder / name).read_text() != text
    for words in (
        ("rate", rating / "eval", "--scale", folder),
        ("rate", rating / "eval", "--compare", folder),
        ("select", rating / "data", "--rating", folder),
    ):
        status, shown = run(*words, "--out", tmp_path / "new")
        assert (status, str(folder / name) in shown or str(folder) in shown) == (2, True), shown
        of_items = "--compare" in words and name == "items.jsonl"  # which needs no item
        assert ("was changed after" if of_items else message) in shown
        assert not (tmp_path / "new").exists()


def test_metrics_of_a_run(tmp_path: Path) -> None:
    """Repeated lines are an error, and a finished run whose metrics end before it is named."""
    log = toy_run(tmp_path / "run", 20) / "metrics.jsonl"
    whole = log.read_text().splitlines(keepends=True)
    (tmp_path / "run" / "model").mkdir()
    (tmp_path / "run" / "model" / "config.json").write_text("{}")
    page = tmp_path / "page.html"
    for lines, said in ((whole, False), (whole[:2], True)):
        log.write_text("".join(lines))
        status, shown = run("report", tmp_path / "run", "--out", page)
        assert status == 0, shown
        assert ("The metrics of run end before the run does" in shown) == said
        assert ("The metrics of run end before the run does" in page.read_text()) == said
    log.write_text("".join(whole * 2))
    status, shown = run("report", tmp_path / "run", "--out", page)
    assert status == 2
    assert "metrics.jsonl has a line of step 1 twice" in shown


def test_sheets_and_selections_lock_their_folder(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for words in (("audit", "sample", data, "--out", out), ("select", data, "--rating", data, "--out", out),
                  ("stats", data, "--tokenizer", "bundled:tiny", "--out", out)):  # fmt: skip
        with lock_folder(out):
            status, shown = run(*words)
        assert status == 2
        assert f"another process is writing to {out}" in shown
        assert not list(out.iterdir())
