"""Prints the results of a reading, and formats them for the dataset card."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from data_builders.audit.annotation.shares import EVERYONE, Share, kappa_cell
from data_builders.audit.reading.results import DoubtedPair, ReadingResults
from judge_r1.evaluation.report.tables import few_clusters_note


def print_reading(results: ReadingResults, console: Console) -> None:
    """Print a table by reader and principle, the agreement of the readers, and the pairs in doubt."""
    table = Table("reader", "principle", "pairs", "real [95 %]", "natural [95 %]")
    last = ""
    for row in results.rows:
        if last and row.reader != last:
            table.add_section()
        last = row.reader
        table.add_row(Text(row.reader), row.principle, str(row.pairs), str(row.real), str(row.natural))
    console.print(table)
    if note := few_clusters_note({"cases": row.real.cases} for row in results.rows):
        console.print(f"95 % intervals over cases.{note}", markup=False, highlight=False)
    if results.agreement:
        agreement = Table("principle", "question", "compared", "equal answers", "κ", title="Agreement of the readers")
        for line in results.agreement:
            equal = f"{100 * line.share:.1f} %"
            agreement.add_row(line.principle, line.question, str(line.n), equal, kappa_cell(line.kappa))
        console.print(agreement)
    if results.doubted:
        pair_id = Column("pair", min_width=16)  # whole, so that it can be searched
        doubted = Table(pair_id, "principle", "domain", "operator", "answers", title="Pairs with an answer no")
        for pair in results.doubted:
            doubted.add_row(pair.pair_id, pair.principle, pair.domain, Text(pair.operator), Text(_answers(pair)))
        console.print(doubted)


def _answers(pair: DoubtedPair) -> str:
    lines = []
    for name, answer in pair.answers.items():
        words = f"{'real' if answer['real'] else 'not real'}, {'natural' if answer['natural'] else 'not natural'}"
        lines.append(f"{name}: {words}" + (f" ({answer['note']})" if answer["note"] else ""))
    return "\n".join(lines)


def card_lines(reading: Mapping[str, Any]) -> Sequence[str]:
    """The section of a dataset card about a reading; `reading` is the content of reading.json."""
    readers = reading["readers"]
    name = EVERYONE if len(readers) > 1 else readers[0]
    rows = [row for row in reading["rows"] if row["reader"] == name]
    overall = {line["question"]: line for line in reading["agreement"] if line["principle"] == "overall"}
    agreed = ", ".join(f"{100 * line['share']:.0f} % ({question})" for question, line in overall.items())
    count = f"{len(readers)} reader{'s' if len(readers) > 1 else ''}"
    return [
        f"{count} answered two questions about each of up to {reading['pairs']} sampled pairs: is the named principle "
        "violated (real), and does the changed passage read naturally (natural)? 95 % intervals resample cases or, "
        "below 30 cases, use Student's t." + (f" The readers gave equal answers to {agreed}." if agreed else ""),
        "",
        "| principle | pairs | real | natural |",
        "|---|---|---|---|",
        *(
            f"| {row['principle']} | {row['pairs']} | {_card_cell(row['real'])} | {_card_cell(row['natural'])} |"
            for row in rows
        ),
    ]


def _card_cell(share: Mapping[str, Any]) -> str:
    return str(Share(share["n"], share["cases"], share["share"], (share["ci95"][0], share["ci95"][1])))
