"""Evaluations that are killed, run twice at once, out of disk space, or whose files are lost or damaged.

Nothing is lost or counted twice, and every refusal is one sentence with a documented exit status.
"""

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from process_faults import Finished, command, forked, forked_together, killed_at_each_operation, short_and_long

from judge_r1.files.digests import with_digest, without_digest
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import write_jsonl

Attacks = Callable[[str, int], None]
SHORT_KILLS, LONG_KILLS = 6, 100
SHORT_DAMAGES, LONG_DAMAGES = 16, 600
SHORT_LIMITS, LONG_LIMITS = 4, 30
CASES, PAIRS = 24, 23
JUDGES = ("--judge", "coin=random", "--judge", "panel=panel:orders=2,samples=2(random|longer|evidence)")
VOTES = PAIRS * (1 + 2 * 2 * 3)
Work = Callable[[], None]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, pairs = tmp_path_factory.mktemp("data"), mini_pairs(CASES)
    write_jsonl(folder / "cases.jsonl", pairs.cases.values())
    write_jsonl(folder / "pairs.jsonl", pairs.pairs)
    return folder


@pytest.fixture(scope="module")
def finished(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an evaluation that was not interrupted."""
    out = tmp_path_factory.mktemp("finished") / "eval"
    succeeds(evaluation(data, out))
    return out


def evaluation(data: Path, out: Path, *options: str) -> Work:
    return command("eval", *JUDGES, "--path", data, "--out", out, *options)


def copied(folder: Path, out: Path) -> Path:
    out.mkdir(parents=True)
    for file in folder.iterdir():
        (out / file.name).write_bytes(file.read_bytes())
    return out


def results(out: Path) -> tuple[dict[str, Any], list[str], bytes]:
    """The summary without times and its own digest, the votes in any order, and the results. Fails if a partial file
    is left."""
    assert sorted(file.name for file in out.iterdir()) == [
        "outcomes.jsonl", "report.html", "rows.json", "summary.json", "votes.jsonl",
    ]  # fmt: skip
    summary = json.loads((out / "summary.json").read_text())
    del summary["seconds"], summary["digest"]["summary"]
    votes = sorted((out / "votes.jsonl").read_text().splitlines())
    assert len(votes) == len(set(votes)) == VOTES
    return summary, votes, (out / "outcomes.jsonl").read_bytes()


def succeeds(work: Work) -> None:
    result = forked(work)
    assert result.returncode == 0, result.stderr


def refuses(result: Finished, status: int, *parts: str) -> None:
    """One sentence on standard error, with this exit status."""
    assert result.returncode == status, (result.returncode, result.stderr)
    errors = [line for line in result.stderr.splitlines() if not line.endswith("is dropped") and "judged," not in line]
    assert len(errors) == 1, result.stderr
    assert errors[0].startswith("error: ")
    for part in parts:
        assert part in errors[0], errors[0]


def killed_at_size(work: Work, file: Path, size: int) -> Work:
    """`work` in a process that dies of kill -9 as soon as `file` has `size` bytes."""

    def kill() -> None:
        while not file.exists() or file.stat().st_size < size:
            time.sleep(0.0002)
        os.kill(os.getpid(), signal.SIGKILL)

    def run() -> None:
        threading.Thread(target=kill, daemon=True).start()
        work()

    return run


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", short_and_long(SHORT_KILLS, LONG_KILLS))
def test_killed_evaluations_resume_to_the_same_result(
    kills: int, data: Path, finished: Path, tmp_path: Path, attacks: Attacks
) -> None:
    """Kills at random sizes of the votes. After half of the kills the last line is torn, as after a power failure."""
    generator, whole = random.Random(0), (finished / "votes.jsonl").stat().st_size
    done, round_number = 0, 0
    while done < kills:
        out, round_number = tmp_path / str(round_number), round_number + 1
        votes = out / "votes.jsonl"
        for _ in range(3):
            size = votes.stat().st_size if votes.exists() else 0
            result = forked(killed_at_size(evaluation(data, out, "--resume"), votes, generator.randint(size, whole)))
            assert result.killed or result.returncode == 0, result.stderr
            done += result.killed
            if result.killed and votes.exists() and generator.random() < 0.5:
                content = votes.read_bytes()
                last = content[:-1].rfind(b"\n") + 1
                votes.write_bytes(content[: generator.randint(last, len(content))])
        succeeds(evaluation(data, out, "--resume"))
        assert results(out) == results(finished)
    attacks("kill -9 of an evaluation at a random size of its votes", done)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("step", short_and_long(7, 1))
def test_evaluations_killed_at_any_file_operation_resume(
    step: int, data: Path, finished: Path, tmp_path: Path, attacks: Attacks
) -> None:
    """Kill -9 before an operation that changes a file: a lock, rows.json, votes, results, report, summary."""
    out, kills = tmp_path / "eval", 0
    for _ in killed_at_each_operation(evaluation(data, out, "--resume"), tmp_path, step=step):
        kills += 1
        succeeds(evaluation(data, out, "--resume"))
        assert results(out) == results(finished)
        for file in out.iterdir():
            file.unlink()
        out.rmdir()
    assert kills >= 2
    attacks("kill -9 of an evaluation before a file operation", kills)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("step", short_and_long(7, 1))
def test_replays_killed_at_any_file_operation_run_again(
    step: int, data: Path, finished: Path, tmp_path: Path, attacks: Attacks
) -> None:
    replay = command("replay", finished, "--path", data, "--out", tmp_path / "out")
    kills = 0
    for _ in killed_at_each_operation(replay, tmp_path, step=step):
        kills += 1
        if not (tmp_path / "out" / "summary.json").exists():
            succeeds(replay)
        assert {file.name for file in (tmp_path / "out").iterdir()} >= {"outcomes.jsonl", "report.html", "summary.json"}
        for file in (tmp_path / "out").iterdir():
            file.unlink()
        (tmp_path / "out").rmdir()
    assert kills >= 1
    attacks("kill -9 of a replay before a file operation", kills)


def test_two_evaluations_of_one_folder_do_not_mix(data: Path, finished: Path, tmp_path: Path, attacks: Attacks) -> None:
    out = tmp_path / "eval"
    results_of_both = forked_together([evaluation(data, out)] * 2)
    first, second = sorted(results_of_both, key=lambda result: result.returncode)
    assert first.returncode == 0, first.stderr
    refuses(second, 2, f"another process is writing to {out}: wait until it ends, or give another --out")
    assert results(out) == results(finished)
    attacks("two evaluations of one folder at once", 2)


def commands_that_write(data: Path, finished: Path, out: Path) -> dict[str, Work]:
    return {
        "eval": evaluation(data, out, "--resume"),
        "replay": command("replay", finished, "--path", data, "--out", out),
        "calibrate": command(
            "calibrate", finished, "--judge-name", "panel", "--confidence-method", "samples", "--out", out
        ),
        "analyse": command("analyse", "errors", finished, "--path", data, "--out", out),
    }


@pytest.mark.parametrize("name", ["eval", "replay", "calibrate", "analyse"])
def test_a_folder_that_another_process_writes_to_is_refused(
    name: str, data: Path, finished: Path, tmp_path: Path, attacks: Attacks
) -> None:
    out = tmp_path / "out"
    work = commands_that_write(data, finished, out)[name]
    with lock_folder(out):
        refuses(forked(work), 2, f"another process is writing to {out}: wait until it ends, or give another --out")
        assert list(out.iterdir()) == []
    succeeds(work)
    attacks("two commands in one folder", 2)


def test_replay_reports_lost_votes(data: Path, finished: Path, tmp_path: Path, attacks: Attacks) -> None:
    """The votes of all wrong items are deleted: the accuracy of the rest would be 1.000."""
    folder = copied(finished, tmp_path / "eval")
    outcomes = [json.loads(line) for line in (folder / "outcomes.jsonl").read_text().splitlines()]
    wrong = {outcome["item_id"] for outcome in outcomes if outcome["judge"] == "coin" and outcome["score"] == 0}
    lines = (folder / "votes.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["item_id"] not in wrong]
    (folder / "votes.jsonl").write_text("".join(kept))
    replay = command("replay", folder, "--path", data, "--out", tmp_path / "out")
    refuses(
        forked(replay),
        2,
        f"judge 'coin' has {PAIRS - len(wrong)} votes and not the {PAIRS} that summary.json was made of",
        "judge what is missing with `judge-r1 eval --resume`",
    )
    assert not (tmp_path / "out").exists()
    succeeds(evaluation(data, folder, "--resume"))
    succeeds(replay)
    assert results(folder) == results(finished)
    attacks("replay after lost votes", 1)


def test_replay_reports_lost_and_repeated_votes(data: Path, finished: Path, tmp_path: Path) -> None:
    lines = (finished / "votes.jsonl").read_text().splitlines(keepends=True)
    panel = next(number for number, line in enumerate(lines) if json.loads(line)["row"] == "panel")
    votes = sum(json.loads(line)["row"] == "panel" for line in lines)
    cases = [
        ([*lines[:panel], *lines[panel + 1 :]], f"judge 'panel' has {votes - 1} votes and not the {votes} that"),
        ([*lines, lines[panel]], f"judge 'panel' has {votes + 1} votes and not the {votes} that summary.json was made"),
    ]
    for number, (changed, message) in enumerate(cases):
        folder = copied(finished, tmp_path / str(number))
        (folder / "votes.jsonl").write_text("".join(changed))
        out = tmp_path / f"out{number}"
        refuses(forked(command("replay", folder, "--path", data, "--out", out)), 2, message)
        assert not out.exists()


def test_resume_reports_votes_that_nobody_asked_for(data: Path, finished: Path, tmp_path: Path) -> None:
    folder = copied(finished, tmp_path / "eval")
    votes = (folder / "votes.jsonl").read_text().splitlines(keepends=True)
    body, _ = without_digest(votes[-1].replace('"sample":1', '"sample":17').encode())
    (folder / "votes.jsonl").write_text("".join([*votes[:-1], with_digest(body)[0].decode()]))
    message = "holds 1 vote of judge 'panel' that it does not ask for"
    refuses(forked(evaluation(data, folder, "--resume")), 2, str(folder / "votes.jsonl"), message)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", short_and_long(SHORT_LIMITS, LONG_LIMITS))
def test_a_full_disk_leaves_nothing_of_a_replay(
    count: int, data: Path, finished: Path, tmp_path: Path, attacks: Attacks
) -> None:
    largest = max((finished / name).stat().st_size for name in ("outcomes.jsonl", "report.html", "summary.json"))
    generator = random.Random(1)
    for number in range(count):
        out = tmp_path / str(number)
        replay = command("replay", finished, "--path", data, "--out", out)
        limit = largest - 1 if number == 0 else generator.randrange(largest)
        refuses(forked(replay, file_limit=limit), 74, "could not be written (File too large)")
        assert not out.exists()
        succeeds(replay)
    attacks("full disk during a replay", count)


WRONG_VALUES: tuple[Any, ...] = (
    [],
    None,
    "text",
    17,
    {},
    [[]],
    {"rows": 1},
    {"rows": [None]},
    True,
    -1.5,
    10**400,
    "\x00",
)
WRONG_TEXTS = (b"", b"{", b"\xff\xfe", b"[" * 200_000, b"7" * 6_000, b"\xef\xbb\xbf{}", b'{"a": NaN}', b'{"a":1,"a":2}')


def damaged(content: bytes, generator: random.Random) -> bytes:
    """A JSON text with one value replaced, removed or renamed, or a text that is no JSON."""
    if generator.random() < 0.3:
        return generator.choice([*WRONG_TEXTS, content[: generator.randrange(len(content))]])
    value = json.loads(content)
    if generator.random() < 0.3:
        return json.dumps(generator.choice(WRONG_VALUES)).encode()
    parent, key = generator.choice(list(places(value)))
    if generator.random() < 0.4:
        del parent[key]
    else:
        parent[key] = generator.choice(WRONG_VALUES)
    return json.dumps(value).encode()


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a JSON value with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0):
        yield value, key
        yield from places(value[key])


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", short_and_long(SHORT_DAMAGES, LONG_DAMAGES))
def test_damaged_files_are_named_in_one_sentence(
    count: int, data: Path, finished: Path, tmp_path: Path, attacks: Attacks
) -> None:
    """Commands read a folder with one damaged file. Each works, or names the file and exits with status 2."""
    generator = random.Random(2)
    for number in range(count):
        folder = copied(finished, tmp_path / f"eval{number}")
        name = ("summary.json", "rows.json", "votes.jsonl", "outcomes.jsonl")[number % 4]
        lines = (folder / name).read_bytes().splitlines(keepends=True) if name.endswith("l") else None
        if lines is None:
            content = damaged((folder / name).read_bytes(), generator)
        else:
            position = generator.randrange(len(lines))
            lines[position] = damaged(lines[position], generator) + b"\n"
            content = b"".join(lines)
        (folder / name).write_bytes(content)
        works = {
            "replay": command("replay", folder, "--path", data, "--out", tmp_path / f"replay{number}"),
            "report": command("report", folder, "--out", tmp_path / f"report{number}.html"),
            "calibrate": command(
                "calibrate", folder, "--judge-name", "panel", "--confidence-method", "samples",
                "--out", tmp_path / f"calibrate{number}",
            ),
            "errors": command("analyse", "errors", folder, "--path", data, "--out", tmp_path / f"errors{number}"),
            "resume": evaluation(data, folder, "--resume"),
        }  # fmt: skip
        chosen = ("replay", "report", "calibrate", "errors", "resume")[generator.randrange(5)]
        result = forked(works[chosen])
        shown = f"{chosen} with a damaged {name}: {content[:200]!r}"
        assert result.returncode in (0, 2), f"{shown}: {result.returncode} {result.stderr}"
        assert "Traceback" not in result.stderr, shown
        if result.returncode == 2:
            refuses(result, 2)
            assert name in result.stderr or str(folder) in result.stderr, f"{shown}: {result.stderr}"
    attacks("damaged file of an evaluation", count)


SHAPES: tuple[tuple[Any, str], ...] = (
    ([], ""),
    (None, ""),
    ("text", ""),
    (17, ""),
    ({"x": 1}, "field "),
    ({"rows": {}, "differences": [], "seconds": {}}, "field rows"),
    ({"rows": [1], "differences": [], "seconds": {}}, "field rows"),
    ({"rows": [], "differences": "x", "seconds": {}}, "field "),
    ({"rows": [], "differences": [], "seconds": [1]}, "field "),
)


@pytest.mark.parametrize("name", ["summary.json", "rows.json"])
def test_files_of_another_shape_are_named_with_the_field(name: str, data: Path, finished: Path, tmp_path: Path) -> None:
    """Each of the three commands reads a third of the shapes."""
    folder, out = copied(finished, tmp_path / "eval"), tmp_path / "out"
    works = (
        command("replay", folder, "--path", data, "--out", out),
        command("report", folder, "--out", out),
        command("analyse", "class-bias", folder, "--path", data, "--out", out),
    )
    for number, (value, field) in enumerate(SHAPES):
        (folder / name).write_text(json.dumps(value))
        said = field if name == "summary.json" else "has other settings than summary.json was made with"
        refuses(forked(works[number % len(works)]), 2, str(folder / name), said)
        assert not out.exists()
