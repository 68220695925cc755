"""Tables of a summary: on a terminal, as plain text and as Markdown."""

import io
import re

import pytest
from evaluation_factories import ScriptedJudge, pair_result, toy_pairs
from rich.console import Console

from judge_r1.evaluation.report.tables import (
    NONE,
    Best,
    Estimate,
    Grid,
    few_clusters_note,
    grids,
    markdown,
    print_grid,
    print_tables,
)
from judge_r1.evaluation.summary import summarize

PAIRS = toy_pairs(3)
NAMES = ("base [bold]", "tuned")
OUTCOMES = {
    name: [pair_result(name, p, ScriptedJudge("j", skill).one(p)) for p in PAIRS]
    for name, skill in zip(NAMES, (2, 9), strict=True)
}
SUMMARY = summarize(OUTCOMES, [("tuned", "base [bold]")], {}, {name: {} for name in NAMES})


def printed(terminal: bool, width: int = 60) -> str:
    stream = io.StringIO()
    print_tables(SUMMARY, Console(file=stream, force_terminal=terminal, width=width))
    return stream.getvalue()


def test_plain_text_has_no_colors_boxes_or_wrapping() -> None:
    text = printed(terminal=False)
    assert "\x1b" not in text
    assert not set("│┃━┏") & set(text)
    overall = next(line for line in text.splitlines() if line.startswith("tuned "))
    row = SUMMARY["rows"][1]
    low, high = row["ci95"]
    assert f"{row['accuracy']:.2f} [{low:.2f}, {high:.2f}]" in overall
    assert f"{row['label_f1']:.2f}" in overall
    assert len(overall) > 60


def test_terminal_tables_have_rules_and_names_are_not_markup() -> None:
    text = printed(terminal=True, width=200)
    assert "┃" in text
    assert "base [bold]" in text
    assert "base [bold]" in printed(terminal=False)


def test_grids_returns_every_table() -> None:
    built = grids(SUMMARY)
    assert [grid.title for grid in built] == [
        "Overall", "Accuracy by domain", "Accuracy by principle", "Accuracy by principle, only single violations",
        "Label F1 by principle", "Differences", "Items that all judges get alike",
    ]  # fmt: skip
    assert all(len(row) == len(grid.columns) for grid in built for row in grid.rows)
    assert built[2].columns == ("judge", "P1 (6)", "P2 (6)", "P3 (6)", "P4 (6)", "P5 (6)", "P6 (3)")
    assert built[3].columns[2] == "P2 (3)"
    assert built[5].rows[0][0] == "tuned minus base [bold]"
    assert built[5].rows[0][1].signed  # type: ignore[union-attr]


def test_differing_counts_are_shown_in_the_cells() -> None:
    uneven = {
        "all": OUTCOMES["tuned"],
        "few": [o for o in OUTCOMES["tuned"] if o.labels.violated in ((1,), (2, 4))][:3],
    }
    built = grids(summarize(uneven, [], {}, {"all": {}, "few": {}}))
    assert len(built) == 5
    principles = built[2]
    assert principles.columns[1:3] == ("P1", "P2")
    assert str(principles.rows[0][1]).endswith("(6)")
    assert principles.rows[1][6] == "–"


def test_estimate_is_printed_as_value_and_interval() -> None:
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.50 [0.25, 0.75]"
    assert str(Estimate(0.5, -0.25, 0.75, signed=True, n=4)) == "+0.50 [-0.25, +0.75] (4)"


def test_print_grid_aligns_plain_text() -> None:
    stream = io.StringIO()
    print_grid(Grid("Probe", "No context.", ("principle", "auc"), (("P1", "0.71"),)), Console(file=stream))
    rule = "-" * 15
    lines = ["Probe", rule, "principle   auc", rule, "P1         0.71", rule, "No context.", ""]
    assert stream.getvalue().splitlines() == lines


@pytest.mark.parametrize(("terminal", "width"), [(False, 100), (True, 60), (True, 90)])
def test_a_wide_table_is_cut_between_columns(terminal: bool, width: int) -> None:
    columns = ("judge", *(f"column {number}" for number in range(20)))
    rows = tuple((name, *(f"{name}{number}" for number in range(20))) for name in ("first", "second"))
    stream = io.StringIO()
    grid = Grid("Wide", "A note. " * 20, columns, rows)
    print_grid(grid, Console(file=stream, force_terminal=terminal, width=width, color_system=None))
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    words = re.findall(r"(?:first|second)\d+", text)
    assert sorted(words) == sorted(cell for row in rows for cell in row[1:])
    parts = text.count("judge")
    assert parts > 1
    assert len(re.findall(r"\bfirst\b", text)) == parts
    assert " ".join(text.split()).count("A note.") == 20


def test_all_tables_of_a_summary_fit_and_the_brief_one_keeps_the_main_columns() -> None:
    assert max(map(len, printed(terminal=False).splitlines())) <= 100
    stream = io.StringIO()
    print_tables(SUMMARY, Console(file=stream), brief=True)
    text = stream.getvalue()
    assert text.count("----\n") == 3
    head = text.splitlines()[2]
    assert "accuracy" in head
    assert "valid" in head
    assert not {"strict", "tolerant", "items"} & set(head.split())


def test_markdown_is_aligned_and_escaped() -> None:
    best = Estimate(0.5, 0.4, 0.6, n=9, best=True)
    rows = (("x|y\n*z*", best), ("<b>", NONE), ("[a](b)", "0.9 [0.8, 1.0]"), ("\\", Best("0.50")))
    assert markdown(Grid("t", "A note.", ("judge", "a|b"), rows)).splitlines() == [
        r"| judge      |                      a\|b |", r"|------------|--------------------------:|",
        r"| x\|y \*z\* | **0.50** [0.40, 0.60] (9) |", r"| \<b>       |                         – |",
        r"| [a]\(b)    |            0.9 [0.8, 1.0] |", r"| \\         |                  **0.50** |", "", "A note.",
    ]  # fmt: skip


def test_notes_name_the_interval_and_warn_of_few_clusters() -> None:
    assert few_clusters_note([{"cases": 30}, {}]) == ""
    rough = few_clusters_note([{"cases": 20}, {"cases": 40}])
    assert rough.startswith(" 1 interval with fewer than 30 clusters (the fewest: 20)")
    assert "WARNING" not in rough
    assert "WARNING: 2 of them with fewer than 15" in few_clusters_note([{"cases": n} for n in (3, 14, 15)])
    results = {name: OUTCOMES[name][:10] for name in list(OUTCOMES)[:2]}
    summary = summarize(results, [tuple(results)], {}, {name: {} for name in results})
    overall, *_, differences, _ = grids(summary)
    assert "bootstrap over clusters" in overall.note
    assert "WARNING" in overall.note
    assert "WARNING" in differences.note
