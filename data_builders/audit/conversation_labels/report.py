"""Prints what people say about the labels of conversation pairs."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from data_builders.audit.annotation.shares import kappa_cell
from data_builders.audit.conversation_labels.labels import LABELS
from judge_r1.evaluation.report.tables import few_clusters_note


def print_labels(report: Mapping[str, Any], console: Console) -> None:
    """A table by failure type and person, the agreement of the people, and the answers that are not clean."""
    table = Table("pairs", "answers", *LABELS, "not clean [95 %]")
    for row in report["rows"]:
        low, high = row["ci95"]
        share = f"{row['problematic']:.3f} [{low:.3f}, {high:.3f}]"
        table.add_row(Text(row["group"]), str(row["answers"]), *(str(row[key]) for key in LABELS), share)
    console.print(table)
    note = few_clusters_note({"cases": row["documents"]} for row in report["rows"])
    console.print(f"95 % intervals over documents.{note}", markup=False, highlight=False)
    if agreed := report["agreement"]:
        equal = f"{100 * agreed['share']:.1f} % equal, κ {kappa_cell(agreed['kappa'])}"
        console.print(f"{agreed['n']} answers compared: {equal}", highlight=False)
    if steps := report.get("by_elo"):
        found = Table("pairs up to Elo", "answers", *LABELS, title="Labels by difficulty")
        for number in sorted({round(share * (len(steps) - 1)) for share in (0, 0.25, 0.5, 0.75, 1)}):
            step = steps[number]
            found.add_row(f"{step['elo']:.0f}", str(step["answers"]), *(f"{step[key]:.3f}" for key in LABELS))
        console.print(found)
    if report["notes"]:
        notes = Table("pair", "by", "label", "note")
        for found in report["notes"]:
            notes.add_row(found["pair_id"], Text(found["annotator"]), found["label"], Text(found["note"]))
        console.print(notes)
