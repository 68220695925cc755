"""What the readers of a sheet answered: real and natural flaws by principle, agreement, and the pairs in doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from data_builders.audit.annotation.agreement import (
    EVERYONE,
    OVERALL,
    Share,
    compare,
    kappa_cell,
    people,
    share_of,
)
from data_builders.audit.annotation.form import Fields, Form, PairPage, Pane, Round, Task, marked
from data_builders.audit.annotation.record_log import Answers, answers_of_readers
from data_builders.audit.reading.sheet import replaced_span
from judge_r1.core.principles import by_number
from judge_r1.core.records import ReasoningPair
from judge_r1.core.text_check import counted
from judge_r1.evaluation.report.tables import few_clusters_note
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.labels.audit_answers import SHEET_FILE, Reading

READING_FILE = "reading.json"
QUESTIONS = ("real", "natural")


class ReadingTask(Task[Reading]):
    """Two questions about each pair, with the label shown, in the order of the sheet."""

    record = Reading
    form = Form.load("reading")

    def __init__(self, data: PairSet) -> None:
        self.data, self._pairs = data, data.by_id()
        self.pair_ids = [*self._pairs]

    def page(self, current: Round[Reading], pair_id: str) -> PairPage:
        pair = self._pairs[pair_id]
        case, flaw, principle = self.data.case_of(pair), pair.origin.flaws[0], by_number(pair.violated[0])
        evidence = marked(case.context, [(span.start, span.end) for span in flaw.context_spans])
        decision = ("Decision reached", [(case.decision, False)])
        flawed = marked(pair.flawed, [(flaw.span.start, flaw.span.end)])
        return PairPage(
            subtitle=principle.code,
            domain=case.domain,
            panes=(
                Pane("context", "The case", (("", evidence), decision)),
                Pane("reference", "Reference", (("", marked(pair.reference, [replaced_span(pair)])),)),
                Pane("flawed", "With the flaw", (("", flawed),)),
            ),
            label=(f"{principle.code} {principle.name}", principle.definition),
        )

    def values(self, answer: Reading) -> set[tuple[str, str]]:
        return {("real", "yes" if answer.real else "no"), ("natural", "yes" if answer.natural else "no")}

    def answer(self, current: Round[Reading], pair_id: str, fields: Fields, common: Mapping[str, Any]) -> Reading:
        return Reading(real=fields["real"] == ["yes"], natural=fields["natural"] == ["yes"], **common)


def load_readings(folder: Path, files: Sequence[Path]) -> tuple[PairSet, Answers[Reading]]:
    """The pairs of a reading sheet and the answers in `files`. Raises as `answers_of_readers`."""
    data = load_pairs(folder)
    advice = (
        f"Set real and natural to true or false in a copy of {folder / SHEET_FILE}, or answer on the page of "
        f"judge-r1 audit serve {folder}"
    )
    return data, answers_of_readers(folder, files, Reading, data.by_id(), advice)


def reading_report(data: PairSet, readings: Answers[Reading]) -> dict[str, Any]:
    """The content of reading.json: shares by reader and principle, the agreement of every two readers on each question,
    and the pairs of which a reader says no to a question (`agreed`: all readers answered both questions alike)."""
    by_code: dict[str, list[ReasoningPair]] = {}
    for pair in data.pairs:
        by_code.setdefault(_code(pair), []).append(pair)
    groups: dict[str, Sequence[ReasoningPair]] = {**dict(sorted(by_code.items())), OVERALL: data.pairs}
    rows, agreement = [], []
    for name, who in people(sorted(readings)):
        for code, pairs in groups.items():
            found = [(pair, readings[r][pair.pair_id]) for pair in pairs for r in who if pair.pair_id in readings[r]]
            if found:
                clusters = [data.case_of(pair).group for pair, _ in found]
                shares = {
                    question: asdict(share_of([getattr(reading, question) for _, reading in found], clusters))
                    for question in QUESTIONS
                }
                read = len({pair.pair_id for pair, _ in found})
                rows.append({"reader": name, "principle": code, "pairs": read, **shares})
    for code, pairs in groups.items():
        for question in QUESTIONS:
            answers = {
                reader: {pair_id: getattr(reading, question) for pair_id, reading in own.items()}
                for reader, own in readings.items()
            }
            if compared := compare(answers, [pair.pair_id for pair in pairs]):
                agreement.append({"principle": code, "question": question, **asdict(compared)})
    doubted = [doubt for pair in data.pairs if (doubt := _doubted(pair, readings))]
    return {
        "schema": 1, "readers": sorted(readings), "pairs": len(data.pairs), "rows": rows, "agreement": agreement,
        "doubted": doubted,
    }  # fmt: skip


def _code(pair: ReasoningPair) -> str:
    return by_number(pair.violated[0]).code


def _doubted(pair: ReasoningPair, readings: Answers[Reading]) -> dict[str, Any] | None:
    found = {name: own[pair.pair_id] for name, own in sorted(readings.items()) if pair.pair_id in own}
    if all(reading.real and reading.natural for reading in found.values()):
        return None
    return {
        "pair_id": pair.pair_id,
        "principle": _code(pair),
        "domain": pair.domain,
        "operator": pair.origin.flaws[0].operator,
        "agreed": len({(reading.real, reading.natural) for reading in found.values()}) == 1,
        "answers": {name: reading.model_dump(include={"real", "natural", "note"}) for name, reading in found.items()},
    }


def print_reading(report: Mapping[str, Any], console: Console) -> None:
    """Print a table by reader and principle, the agreement of the readers, and the pairs in doubt."""
    table = Table("reader", "principle", "pairs", "real [95 %]", "natural [95 %]")
    last = ""
    for row in report["rows"]:
        if last and row["reader"] != last:
            table.add_section()
        last = row["reader"]
        table.add_row(
            Text(last), row["principle"], str(row["pairs"]), *(str(Share(**row[question])) for question in QUESTIONS)
        )
    console.print(table)
    if note := few_clusters_note(row["real"] for row in report["rows"]):
        console.print(f"95 % intervals over cases.{note}", markup=False, highlight=False)
    if report["agreement"]:
        agreement = Table("principle", "question", "compared", "equal answers", "κ", title="Agreement of the readers")
        for line in report["agreement"]:
            equal = f"{100 * line['share']:.1f} %"
            agreement.add_row(line["principle"], line["question"], str(line["n"]), equal, kappa_cell(line["kappa"]))
        console.print(agreement)
    if report["doubted"]:
        pair_id = Column("pair", min_width=16)  # whole, so that it can be searched
        doubted = Table(pair_id, "principle", "domain", "operator", "answers", title="Pairs with an answer no")
        for pair in report["doubted"]:
            answers = "\n".join(
                f"{name}: {'real' if answer['real'] else 'not real'}, "
                f"{'natural' if answer['natural'] else 'not natural'}"
                f"{' (' + answer['note'] + ')' if answer['note'] else ''}"
                for name, answer in pair["answers"].items()
            )
            doubted.add_row(pair["pair_id"], pair["principle"], pair["domain"], Text(pair["operator"]), Text(answers))
        console.print(doubted)


def card_lines(report: Mapping[str, Any]) -> Sequence[str]:
    """The section of a dataset card about a reading; `report` is the content of reading.json."""
    readers = report["readers"]
    name = EVERYONE if len(readers) > 1 else readers[0]
    overall = {line["question"]: line for line in report["agreement"] if line["principle"] == OVERALL}
    agreed = ", ".join(f"{100 * line['share']:.0f} % ({question})" for question, line in overall.items())
    return [
        f"{counted(len(readers), 'reader')} answered two questions about each of up to "
        f"{counted(report['pairs'], 'sampled pair')}: is the named principle violated (real), and does the changed "
        "passage read naturally (natural)? 95 % intervals resample cases or, below 30 cases, use Student's t."
        + (f" The readers gave equal answers to {agreed}." if agreed else ""),
        "",
        "| principle | pairs | real | natural |",
        "|---|---|---|---|",
        *(
            f"| {row['principle']} | {row['pairs']} | {Share(**row['real'])} | {Share(**row['natural'])} |"
            for row in report["rows"]
            if row["reader"] == name
        ),
    ]
