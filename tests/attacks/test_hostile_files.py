"""Every command with every hostile file: one sentence that names it, a documented exit status, nothing partial left.

The commands are those of the CLI: a new one fails the first test until `COMMANDS` says what it reads and writes.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from hostile_files import DAMAGES, LEGAL, let_permissions_bind, listing, make_workspace
from process_faults import Finished, command, forked

from judge_r1.cli import app
from judge_r1.core.errors import ExitStatus

Attacks = Callable[[str, int], None]
SHORT = 2
"""Cells of each command line in the short form. They are spread over its files and the damages."""
RUN = ("run", "run/recipe.yaml", "run/metrics.jsonl")
PAIRS = ("data", "data/pairs.jsonl", "data/cases.jsonl")
TALKS = ("talks", "talks/conversations.jsonl", "talks/documents.jsonl")
RATING = ("rating", "rating/items.jsonl", "rating/rating.json")
EVALUATION = ("eval", "eval/summary.json", "eval/rows.json", "eval/votes.jsonl")
OUT = "@out/new"
JUDGED = f"@eval --path @data --out {OUT}"
LAST_LINE = "answers.jsonl (truncated|repeated record)"
"""A kill may cut the last answer, which had not been acknowledged. Of two answers, the last one counts."""
START = ("out/new/recipe.yaml", "out/new/versions.json")
"""What is known of a training that failed before its first step. The next training in the folder replaces them."""
VARYING = ("metrics.jsonl", "votes.jsonl")
"""Files with measured times."""
SKIPPED = 99
GONE = "gzip, with its ending|another ending"
NO_REPORT = (
    f"build.json (missing|wrong type, a folder|other schema|a list|a number|a line of 4 MiB|a loop of links|{GONE})"
)
"""A folder without a report of `build` holds pairs."""
ABSENT = f"(missing|a loop of links|{GONE})"
NO_METRICS = f"metrics.jsonl (missing|empty|truncated|a loop of links|repeated record|{GONE})"
"""A run that has not logged a step has no metrics. A kill may cut the last line, and a resumed step is logged again."""
NOTHING = "$^"
"""A pattern that matches no text."""
TEACHER = "teacher=chat@http://127.0.0.1:9#m prices=@prices.yaml batch_export=@out/new/requests.jsonl"


@dataclass(frozen=True)
class Reads:
    """A command line, in which @ is the workspace, and what it reads. It writes below @out, if anything.

    `tolerates` is a pattern of `FILE DAMAGE` with which it may succeed. `leaves` are files that a failure may leave.
    `serves` marks a command that does not end. `instead` is a pattern of the error with whole files, for commands that
    would need hours to succeed.
    """

    line: str
    reads: tuple[str, ...]
    tolerates: str = NOTHING
    leaves: tuple[str, ...] = ()
    serves: bool = False
    instead: str = NOTHING

    @property
    def writes(self) -> bool:
        return "@out" in self.line

    def arguments(self, workspace: Path) -> list[str]:
        return [re.sub("(^|=)@", rf"\g<1>{workspace}/", word) for word in self.line.split()]


COMMANDS = {
    "demo": [Reads(f"demo --small --out {OUT}", (), serves=True)],
    "build": [
        Reads(
            f"build custom path=@domain.yaml --out {OUT}", ("domain.yaml", "claims.jsonl"),
            tolerates="claims.jsonl byte order mark",
        ),
        Reads(f"build mini limit=2 {TEACHER} --out {OUT}", ("prices.yaml",)),
        Reads(
            f"build mini limit=2 teacher=chat@http://127.0.0.1:9#m batch_import=@results.jsonl --out {OUT}",
            ("results.jsonl",), instead="answers.sqlite does not exist",
        ),
        Reads(f"build cofluence path=@books --out {OUT}", ("books",)),
        Reads(f"build casebook path=@casebook options.part=test --out {OUT}", ("casebook/test/one.yaml",)),
    ],
    "validate": [
        Reads("validate @data --recipe @recipe.yaml", (*PAIRS, "recipe.yaml")),
        Reads("validate @talks", TALKS, tolerates="documents.jsonl empty"),
    ],
    "split": [Reads(f"split @data --out {OUT}", PAIRS)],
    "audit shortcuts": [
        Reads(f"audit shortcuts @talks --out {OUT}", TALKS),
        Reads(f"audit shortcuts @data --language-model none --out {OUT}", PAIRS),
    ],
    "audit sample": [
        Reads(f"audit sample @data --per-principle 1 --out {OUT}", PAIRS),
        Reads(f"audit sample @talks --pairs 2 --out {OUT}", TALKS),
    ],
    "audit serve": [
        Reads(
            "audit serve @data --answers @answers.jsonl", (*PAIRS, "answers.jsonl"), serves=True,
            tolerates=f"answers.jsonl (missing|empty|truncated|repeated record|{GONE})",
        )
    ],
    "audit report": [
        Reads("audit report @data --answers @answers.jsonl", (*PAIRS, "answers.jsonl"), tolerates=LAST_LINE),
        Reads(
            "audit report @sheet --answers @read.jsonl", ("sheet/pairs.jsonl", "read.jsonl"),
            tolerates="read.jsonl repeated record",
        ),
        Reads(
            f"audit report @talks --answers @labels.jsonl --out {OUT}", (*TALKS, "labels.jsonl"),
            tolerates="labels.jsonl (truncated|repeated record)",
        ),
    ],
    "stats": [Reads(f"stats @data --tokenizer bundled:tiny --out {OUT}", PAIRS)],
    "rationales": [Reads(f"rationales @data recipe=@recipe.yaml {TEACHER} --out {OUT}", (*PAIRS, "recipe.yaml"))],
    "export": [Reads(f"export @data --format sft --out {OUT}", (*PAIRS, "data/build.json"), tolerates=NO_REPORT)],
    "train": [
        Reads("train @recipe.yaml --dry-run", ("recipe.yaml",)),
        Reads(f"train @recipe.yaml --processes 1 --out {OUT}", ("recipe.yaml", *PAIRS), leaves=START),
    ],
    "launch": [
        Reads("launch @recipe.yaml --cluster @cluster.yaml --dry-run", ("recipe.yaml", "cluster.yaml")),
        Reads(f"launch @recipe.yaml --cluster @cluster.yaml --out {OUT}", (), serves=True),
    ],
    "merge": [Reads(f"merge @run --out {OUT}", ("run", "run/recipe.yaml", "run/checkpoints"))],
    "eval": [
        Reads(f"eval --judge longer --path @data --out {OUT}", PAIRS),
        Reads(f"eval --benchmark rankjudge --path @talks --out {OUT}", TALKS),
        Reads(f"eval --judge longer --benchmark casebook --path @casebook --out {OUT}", ("casebook/test/one.yaml",)),
        Reads(
            f"eval --judge agentic@bundled:tiny --recipe @recipe.yaml --path @data --limit 1 --out {OUT}",
            ("recipe.yaml",),
        ),
        Reads(
            f"eval --judge longer --benchmark judgebench --path @judgebench --out {OUT}",
            ("judgebench", "judgebench/data.jsonl"), tolerates="data.jsonl (byte order mark|gzip, with its ending)",
        ),
        Reads(
            f"eval --judge longer --benchmark cofluence --subset pairs --path @copies --out {OUT}",
            ("copies", "copies/documents.jsonl", "copies/manipulations.jsonl"),
        ),
        Reads(
            f"eval --judge checklist@bundled:tiny --benchmark checklist --path @texts.jsonl --subset @rubric.yaml "
            f"--out {OUT}", ("texts.jsonl", "rubric.yaml"), instead="prompts fits",
        ),
        Reads(
            f"eval --baselines bundled:tiny --examples @examples --path @data --out {OUT}",
            ("examples", "examples/pairs.jsonl", "examples/cases.jsonl"),
            instead=r"has 2 cases beside those under test",
        ),
    ],
    "judge": [
        Reads(
            f"judge @run.json --judge longer --question Q --html {OUT}.html", ("run.json",),
            instead="has no model to answer with",
        ),
    ],
    "attack": [Reads(f"attack longer --path @data --out {OUT}", PAIRS)],
    "benchmarks": [Reads("benchmarks", ())],
    "generate": [
        Reads(
            f"generate --model bundled:tiny --path @hellobench --limit 1 --max-tokens 4 --out {OUT}",
            ("hellobench/data/main_data/chat.jsonl",), tolerates="chat.jsonl byte order mark",
        )
    ],
    "fit-weights": [
        Reads(
            f"fit-weights @annotations.jsonl --resamples 0 --out {OUT}.json", ("annotations.jsonl",),
            tolerates="annotations.jsonl (byte order mark|repeated record)",
        )
    ],
    "labels check": [
        Reads(
            f"labels check @my.csv --verdicts verdict --out {OUT}", ("my.csv",),
            tolerates="my.csv (byte order mark|truncated)",
        )
    ],
    "labels pin": [Reads(f"labels pin @checked --out {OUT}.json", ("checked/labels.json",))],
    "labels gate": [
        Reads(f"labels gate @gate.json --labels @my.csv --verdicts verdict --out {OUT}", ("gate.json",)),
    ],
    "labels estimate": [
        Reads(
            f"labels estimate @checked --pool @pool.jsonl --drawn random --out {OUT}.json",
            ("checked/labels.json", "pool.jsonl"),
        )
    ],
    "labels next": [
        Reads(f"labels next @checked --pool @pool.jsonl --out {OUT}.csv", ("checked/labels.json", "pool.jsonl"))
    ],
    "agreement": [
        Reads(
            f"agreement @people.jsonl --out {OUT}.json", ("people.jsonl",),
            tolerates="people.jsonl byte order mark",
        ),
        Reads(f"agreement @people.csv --out {OUT}.json", ("people.csv",), tolerates="people.csv byte order mark"),
    ],
    "replay": [Reads(f"replay {JUDGED}", (*EVALUATION, *PAIRS))],
    "calibrate": [
        Reads(
            f"calibrate @confidences.jsonl --out {OUT}", ("confidences.jsonl",),
            tolerates="confidences.jsonl repeated record",
        ),
        Reads(
            f"calibrate @eval --judge-name tiny --out {OUT}", (*EVALUATION, "eval/outcomes.jsonl"),
            instead="has no confidence by token",
        ),
    ],
    "analyse attention": [
        Reads(
            f"analyse attention {JUDGED} --judge-name tiny", (*EVALUATION, *PAIRS),
            instead="no decision",
        )
    ],
    "analyse reasoning": [
        Reads(
            f"analyse reasoning {JUDGED} --judge-name tiny", (*EVALUATION, *PAIRS),
            instead="no valid answer",
        )
    ],
    "analyse class-bias": [Reads(f"analyse class-bias {JUDGED}", (*EVALUATION, *PAIRS))],
    "analyse errors": [Reads(f"analyse errors {JUDGED}", (*EVALUATION, *PAIRS))],
    "analyse deltas": [
        Reads(f"analyse deltas @scores.jsonl --out {OUT}", ("scores.jsonl",), "scores.jsonl byte order mark")
    ],
    "analyse proxy-gold": [
        Reads(
            f"analyse proxy-gold @sampled.jsonl --proxy longer --gold random --out {OUT}", ("sampled.jsonl",),
            tolerates="sampled.jsonl byte order mark",
        )
    ],
    "analyse length": [
        Reads(
            f"analyse length @eval --out {OUT}", EVALUATION[:3], f"rows.json {ABSENT}",
            instead="no evaluation of longjudgebench",
        )
    ],
    "analyse writers": [
        Reads(f"analyse writers @eval --out {OUT}", EVALUATION[:2], instead="has 0 tables of systems")
    ],
    "analyse radar": [Reads(f"analyse radar @eval --out {OUT}", EVALUATION[:3], f"rows.json {ABSENT}")],
    "report": [
        Reads(
            f"report @eval @run --markdown {OUT}.md --out {OUT}.html", (*EVALUATION[:3], *RUN),
            tolerates=f"rows.json {ABSENT}|{NO_METRICS}",
        )
    ],
    "rate": [
        Reads(
            f"rate @votes.jsonl --out {OUT}", ("votes.jsonl",),
            tolerates="votes.jsonl (byte order mark|repeated record)",
        ),
        Reads(f"rate @votes.jsonl --scale @rating --out {OUT}", RATING),
        Reads(f"rate @votes.jsonl --compare @rating --out {OUT}", RATING),
    ],
    "select": [
        Reads(f"select @talks --rating @data --out {OUT}", TALKS, instead="items.jsonl cannot be read"),
        Reads(f"select @scores.jsonl --queries --out {OUT}", ("scores.jsonl",), instead="'instruction' is missing"),
    ],
    "serve": [
        Reads("serve --judge longer --port 0 --keys @keys.json", ("keys.json",), serves=True),
        Reads("serve --judge agentic@bundled:tiny --port 0 --recipe @recipe.yaml", ("recipe.yaml",), serves=True),
    ],
    "search": [Reads("search @cases.jsonl burst --retriever bm25", ("cases.jsonl",))],
    "index": [
        Reads("index @data --retriever bundled:e5-small", ("data", "data/cases.jsonl")),
        Reads("index @data --retriever bm25", ("data", "data/cases.jsonl")),
    ],
    "keys add": [
        Reads("keys add ben --file @keys.json", ("keys.json",), tolerates=ABSENT),
        Reads("keys add ben --file @out/keys.json", ()),
    ],
    "keys list": [Reads("keys list --file @keys.json", ("keys.json",))],
    "keys remove": [Reads("keys remove ana --file @keys.json", ("keys.json",))],
    "doctor": [Reads("doctor", ())],
}  # fmt: skip

LINES = [
    pytest.param(reads, id=f"{words} {number}")
    for words, lines in COMMANDS.items()
    for number, reads in enumerate(lines)
]
"""Every command line of the matrix."""


def _cells() -> Iterator[Any]:
    """Every file and damage of every command line. The short form has `SHORT` of each line, others for each line."""
    for at, line in enumerate(LINES):
        [reads] = line.values
        cells = [
            (file, name)
            for file in reads.reads
            for name, damage in DAMAGES.items()
            if damage.applies(file) and not (reads.serves and re.search(reads.tolerates, f"{file} {name}"))
        ]
        short = {(at + number * len(cells) // SHORT) % len(cells) for number in range(SHORT) if cells}
        for position, (file, name) in enumerate(cells):
            marks = () if position in short else pytest.mark.slow
            yield pytest.param(reads, file, name, id=f"{line.id}-{file}-{name}", marks=marks)


WRITERS = {
    words: next(line for line in lines if line.writes and line.instead == NOTHING)
    for words, lines in COMMANDS.items()
    if any(line.writes and line.instead == NOTHING for line in lines)
}
"""One line of each command that writes."""
ENDING = [line for line in LINES if not line.values[0].serves]


def leaves(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The words of every command below a group."""
    for name, below in group.commands.items():
        if hasattr(below, "commands"):
            yield from leaves(below, (*path, name))
        else:
            yield " ".join((*path, name))


@pytest.fixture(scope="session")
def whole() -> Iterator[Path]:
    """The workspace without damage."""
    with tempfile.TemporaryDirectory(prefix="hostile-files-") as folder:
        yield make_workspace(Path(folder) / "whole")


@pytest.fixture
def workspace(whole: Path, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the workspace with an empty folder `out`, with the data and the folders that the line names."""
    folders = {path.name for path in whole.iterdir() if path.is_dir() and f"@{path.name}" not in reads.line} - {"data"}
    with tempfile.TemporaryDirectory(prefix="cell-", dir=whole.parent) as folder:
        copy = Path(folder) / "w"
        shutil.copytree(whole, copy, ignore=lambda within, _: folders if within == str(whole) else ())
        recipe = copy / "recipe.yaml"  # it holds paths
        recipe.write_text(recipe.read_text(encoding="utf-8").replace(str(whole), str(copy)), encoding="utf-8")
        (copy / "out").mkdir()
        monkeypatch.setenv("XDG_STATE_HOME", str(Path(folder) / "state"))
        yield copy


def check(result: Finished, names: set[str], statuses: set[int]) -> None:
    """One sentence that starts with `error:` and holds one of `names`, with one of `statuses`, and no traceback."""
    shown = result.stdout + result.stderr
    assert "Traceback" not in shown
    assert result.returncode in statuses, shown
    sentences = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(sentences) == 1, shown
    assert any(name in sentences[0] for name in names), sentences[0]
    assert len(sentences[0]) < 700


def test_the_matrix_holds_every_command() -> None:
    assert set(COMMANDS) == set(leaves(typer.main.get_command(app)))


@pytest.mark.parametrize("reads", ENDING)
def test_the_commands_succeed_on_whole_files(reads: Reads, workspace: Path) -> None:
    result = forked(command(*reads.arguments(workspace)))
    assert result.returncode == 0 or re.search(reads.instead, result.stderr), result.stdout + result.stderr


@pytest.mark.parametrize(("reads", "file", "name"), _cells())
def test_a_hostile_input_is_one_sentence(reads: Reads, file: str, name: str, workspace: Path, attacks: Attacks) -> None:
    target = workspace / file
    DAMAGES[name].apply(target)
    before = listing(workspace)
    attacks(f"hostile file: {name}", 1)
    result = forked(command(*reads.arguments(workspace)), timeout_s=60)
    tolerated = re.search(reads.tolerates, f"{file} {name}")
    fine = result.returncode in (ExitStatus.OK, ExitStatus.INVALID_DATA)
    if tolerated and (fine or re.search(reads.instead, result.stderr)):
        return
    check(result, {target.name, target.parent.name}, {ExitStatus.USAGE})
    left = {file: size for file, size in listing(workspace).items() if file not in reads.leaves}
    assert left == before, "a failed command leaves no file"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reads", "file"),
    [
        pytest.param(*line.values, file, id=f"{line.id}-{file}")
        for line in ENDING
        for file in line.values[0].reads
        if LEGAL.applies(file)
        and "keys add" not in line.id  # which prints another key each time
        and "casebook" not in file  # an empty line is part of its texts
    ],
)
def test_other_line_ends_change_nothing(reads: Reads, file: str, workspace: Path, attacks: Attacks) -> None:
    """The output is that of the whole file."""
    attacks("other line ends", 1)
    copy = shutil.copytree(workspace, workspace.with_name("copy"), symlinks=True)
    expected = outputs(reads, workspace)
    shutil.rmtree(workspace)
    copy.rename(workspace)
    LEGAL.apply(workspace / file)
    assert outputs(reads, workspace) == expected


def outputs(reads: Reads, workspace: Path) -> tuple[str, dict[str, bytes]]:
    """The output of a command that must succeed, and the contents of its tables."""
    result = forked(command(*reads.arguments(workspace)))
    assert result.returncode == 0 or re.search(reads.instead, result.stderr), result.stdout + result.stderr
    made = {
        str(path.relative_to(workspace)): b"" if path.name in VARYING else path.read_bytes()
        for path in sorted((workspace / "out").rglob("*"))
        if path.suffix in (".jsonl", ".csv", ".parquet", ".md")
    }
    return re.sub(r"[0-9.]+ ?s\b|0x\w+", "", result.stdout), made


@pytest.mark.parametrize("reads", WRITERS.values(), ids=WRITERS)
def test_a_read_only_folder_is_one_sentence(reads: Reads, workspace: Path, attacks: Attacks) -> None:
    (workspace / "out").chmod(0o555)
    before = listing(workspace)
    attacks("read-only output", 1)
    run = command(*reads.arguments(workspace))

    def run_unprivileged() -> None:
        sys.exit(SKIPPED) if not let_permissions_bind() else run()

    result = forked(run_unprivileged, timeout_s=60)
    if result.returncode == SKIPPED:
        pytest.skip("permissions do not bind for this user")
    check(result, {str(workspace / "out")}, {ExitStatus.USAGE})
    assert listing(workspace) == before


@pytest.mark.parametrize("reads", WRITERS.values(), ids=WRITERS)
def test_a_full_disk_is_one_sentence(
    reads: Reads, workspace: Path, small_disk: Callable[[int], Path], attacks: Attacks
) -> None:
    disk = small_disk(3 * 4096)
    (disk / "filler").write_bytes(bytes(3 * 4096))
    (workspace / "out").rmdir()
    (workspace / "out").symlink_to(disk)
    before = listing(workspace), listing(disk)
    attacks("full disk", 1)
    check(forked(command(*reads.arguments(workspace)), timeout_s=60), {str(workspace / "out")}, {ExitStatus.IO_ERROR})
    assert (listing(workspace), listing(disk)) == before
    (disk / "filler").unlink()
