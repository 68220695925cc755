"""Runs a rating from votes to files."""

from collections.abc import Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.core.text_check import counted
from judge_r1.evaluation.rating.comparison import ITEMS, RATING, compare, digested
from judge_r1.evaluation.rating.grids import grids, published_grids, scale_grid
from judge_r1.evaluation.rating.leaderboard import rate
from judge_r1.evaluation.rating.on_scale import rate_on_scale, read_scale
from judge_r1.evaluation.rating.page import elo_chart, rating_page
from judge_r1.evaluation.rating.slices import RatingOptions
from judge_r1.evaluation.rating.vote_files import Votes
from judge_r1.evaluation.report.charts import Figure
from judge_r1.evaluation.report.standalone import standalone
from judge_r1.evaluation.report.tables import Grid, markdown
from judge_r1.files.digests import LinesDigest
from judge_r1.files.jsonl import AtomicFiles, dump_json, dump_line
from judge_r1.files.text_file import read_text

SCALE, PAGE, BOARD, CHART = "scale.json", "rating.html", "leaderboard.md", "rating.svg"


def run_rating(
    votes: Votes,
    options: RatingOptions,
    out: Path,
    *,
    other: Path | None = None,
    without: Sequence[str] = (),
    published: bool = False,
) -> list[Grid]:
    """Rates the judges and writes the files to `out`, all or none. Returns the tables.

    `other` is the folder of a rating to compare with, also without some judges. With `published` the last table has
    RankJudge's published ratings.
    """
    rating, items = rate(votes, options)
    if other is not None:
        rating = rating.model_copy(update={"compared": compare(rating, other, without)})
    tables = [*grids(rating), *(published_grids() if published else [])]
    chart = elo_chart(rating.slices[0].judges)
    page = rating_page(rating, tables, f"Rating of {counted(len(votes.answers), 'judge')}")
    lines, digest = [dump_line(item) for item in items], LinesDigest()
    for line in lines:
        digest.add(line.encode())
    contents = {
        ITEMS: "".join(lines),
        BOARD: "\n".join(f"## {table.title}\n\n{markdown(table)}" for table in tables),
        PAGE: page,
        **({CHART: standalone(Figure("Elo", chart, {}), "Elo with 95 % intervals")} if chart else {}),
        RATING: dump_json(digested(rating, digest)),
    }
    _write(out, contents)
    return tables


def run_scale(votes: Votes, scale: Path, out: Path) -> Grid:
    """Rates each judge on the items of an earlier rating and writes scale.json and the table."""
    items = read_scale(scale)
    judges = rate_on_scale(votes, items)
    table = scale_grid(judges, len(items), len(votes.clusters.keys() - items.keys()))
    data = {"schema": 1, "scale": str(scale), "judges": [judge.model_dump(mode="json") for judge in judges],
            "notes": votes.notes}  # fmt: skip
    _write(out, {BOARD: markdown(table), SCALE: dump_json(data)})
    return table


def read_refused(path: Path, votes: Votes) -> frozenset[str]:
    """The item ids of a text file, one per line.

    Raises:
        JudgeError: The file cannot be read, or names an item without votes.
    """
    lines = read_text(path).splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip() and line.strip() not in votes.clusters:
            near = suggest(line.strip()[:80], list(votes.clusters)[:1000])
            raise JudgeError(f"{path}, line {number}: no vote is on item {line.strip()[:80]!r}{near}")
    return frozenset(line.strip() for line in lines if line.strip())


def _write(out: Path, contents: dict[str, str]) -> None:
    with AtomicFiles(*(out / name for name in contents)) as files:
        for name, text in contents.items():
            files.write(out / name, text)
