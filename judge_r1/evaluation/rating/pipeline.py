"""Runs a rating from votes to files and a page, of all judges together or each on the scale of an earlier rating."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import fmean

import numpy as np

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.core.text_check import counted
from judge_r1.evaluation.rating.comparison import compare, rank_figures
from judge_r1.evaluation.rating.cost import Prices, cost_figures, priced
from judge_r1.evaluation.rating.grids import grids, published_grids, scale_grid
from judge_r1.evaluation.rating.leaderboard import rate
from judge_r1.evaluation.rating.records import ITEMS, RATING, ItemRating, JudgeRating, Rating, digested, read_items
from judge_r1.evaluation.rating.slices import RatingOptions, known_error
from judge_r1.evaluation.rating.vote_files import Votes
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart, svg_head, svg_text, ticks
from judge_r1.evaluation.report.standalone import plain_page, standalone
from judge_r1.evaluation.report.tables import Grid, markdown
from judge_r1.files.digests import LinesDigest
from judge_r1.files.jsonl import AtomicFiles, dump_json, dump_line
from judge_r1.files.text_file import read_text
from judge_r1.statistics.rating.bradley_terry import anchored_rating
from judge_r1.statistics.rating.errors import Z95

SCALE, PAGE, BOARD, CHART = "scale.json", "rating.html", "leaderboard.md", "rating.svg"


def run_rating(
    votes: Votes,
    options: RatingOptions,
    out: Path,
    *,
    other: Path | None = None,
    without: Sequence[str] = (),
    published: bool = False,
    prices: tuple[str, Prices] | None = None,
) -> list[Grid]:
    """Rates the judges and writes the files to `out`, all or none. Returns the tables.

    `other` is the folder of a rating to compare with, also without some judges. With `published` the last table has
    RankJudge's published ratings. `prices` are a date and the prices of that day.
    """
    rating, items = rate(votes, options)
    if other is not None:
        rating = rating.model_copy(update={"compared": compare(rating, other, without)})
    if prices is not None:
        read = {judge: fmean(own) for judge, own in votes.read.items() if len(own) == len(votes.tokens.get(judge, ()))}
        rating = priced(rating, read, prices[1], prices[0])
    figures = [*cost_figures(rating), *rank_figures(rating.compared)]
    tables = [*grids(rating), *(published_grids() if published else [])]
    chart = elo_chart(rating.slices[0].judges)
    page = rating_page(rating, tables, f"Rating of {counted(len(votes.answers), 'judge')}", figures)
    lines, digest = [dump_line(item) for item in items], LinesDigest()
    for line in lines:
        digest.add(line.encode())
    contents = {
        ITEMS: "".join(lines),
        BOARD: "\n".join(f"## {table.title}\n\n{markdown(table)}" for table in tables),
        PAGE: page,
        **({CHART: standalone(Figure("Elo", chart, {}), "Elo with 95 % intervals")} if chart else {}),
        **{f"{one.title.lower().replace(' ', '-')}.svg": standalone(one, one.note) for one in figures},
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


WIDTH, LEFT, RIGHT, ROW, AXIS = 640, 170, 20, 20, 22


def _short(name: str) -> str:
    """A name that fits beside the chart. The middle is left out: checkpoints of a run differ at the end."""
    return name if len(name) <= 28 else f"{name[:11]}…{name[-16:]}"


def elo_chart(judges: Sequence[JudgeRating]) -> str:
    """A row for each judge with a finite rating: a dot, and a line for its interval. Empty without such a judge."""
    rated = [(judge, judge.elo) for judge in judges if judge.elo is not None]
    if not rated:
        return ""
    edges = [value for judge, elo in rated for value in (elo, *(judge.ci95 or ()))]
    marked = ticks(edges, 5)
    height = ROW * len(rated) + AXIS

    def x_at(value: float) -> float:
        return LEFT + (value - marked[0]) / (marked[-1] - marked[0]) * (WIDTH - LEFT - RIGHT)

    name = "Elo. " + "; ".join(f"{judge.judge} {elo:.0f}" for judge, elo in rated)
    parts = [svg_head(name, WIDTH, height)]
    for tick in marked:
        x = x_at(tick)
        parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - AXIS}"/>')
        parts.append(svg_text(x, height - 6, f"{tick:g}"))
    for number, (judge, elo) in enumerate(rated):
        y = ROW * number + ROW / 2
        parts.append(svg_text(LEFT - 8, y + 3.5, _short(judge.judge), "end"))
        if judge.ci95:
            low, high = (x_at(value) for value in judge.ci95)
            parts.append(f'<line class="line c0" x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<circle class="dot c0" cx="{x_at(elo):.1f}" cy="{y:.1f}" r="4"/>')
    return "".join([*parts, "</svg>"])


def stability_figure(rating: Rating) -> Figure | None:
    """The rank correlation with the full fit against the share of votes kept; None without a finite one."""
    lines = {
        name: [
            (row.fraction, value)
            for row in rating.stability
            if not row.group and (value := getattr(row, field)) is not None
        ]
        for name, field in (("Spearman", "spearman"), ("Kendall", "kendall"))
    }
    lines = {name: points for name, points in lines.items() if points}
    colors = colors_of(list(lines))
    svg = line_chart("agreement with the full fit", lines, colors, dots=True) if lines else ""
    return Figure("Agreement with the full fit by share of votes", svg, colors) if lines else None


def rating_page(rating: Rating, tables: Sequence[Grid], title: str, figures: Sequence[Figure] = ()) -> str:
    """The page as one file without scripts."""
    template = (files(__package__) / "rating.html").read_text(encoding="utf-8")
    chart = elo_chart(rating.slices[0].judges) if rating.slices else ""
    stability = stability_figure(rating)
    figures = [*([stability] if stability else []), *figures]
    return plain_page(template, title=title, tables=tables, chart=chart, figures=figures)


def read_scale(folder: Path) -> dict[str, ItemRating]:
    """The items of a rating that have a finite difficulty and were kept.

    Raises:
        JudgeError: The folder holds no such item.
    """
    found = {row.item: row for row in read_items(folder) if row.status == "rated"}
    if not found:
        raise JudgeError(f"{folder / ITEMS} holds no rated item: give a folder of `judge-r1 rate`")
    return found


def rate_on_scale(votes: Votes, scale: Mapping[str, ItemRating]) -> list[JudgeRating]:
    """The rating of each judge on the items of the scale that it answered, the best first. The difficulties do not
    change, so ratings of different days compare.

    Raises:
        JudgeError: A judge answered no item of the scale.
    """
    rows = []
    for judge in sorted(votes.answers):
        own = [(item, score) for name, item, score in votes.votes if name == judge and item in scale]
        if not own:
            raise JudgeError(f"judge {judge!r} answered no item of the scale: evaluate it on the items of that rating")
        elo = np.array([scale[item].elo for item, _ in own], dtype=np.float64)
        points = np.array([score for _, score in own])
        clusters = np.unique([scale[item].cluster for item, _ in own], return_inverse=True)[1].astype(np.int64)
        found = anchored_rating(elo, points, clusters)
        finite, error = found.se is not None, known_error(found.se or 0.0)
        interval = (found.elo - Z95 * error, found.elo + Z95 * error) if error is not None else None
        rows.append(
            JudgeRating(
                judge=judge,
                status="rated" if finite else "above" if found.elo > 0 else "below",
                elo=found.elo if finite else None,
                se=error,
                ci95=interval,
                accuracy=float(points.mean()),
                votes=len(own),
            )
        )
    sides = {"above": float("inf"), "below": float("-inf")}
    return sorted(rows, key=lambda row: (-(sides[row.status] if row.elo is None else row.elo), row.judge))
