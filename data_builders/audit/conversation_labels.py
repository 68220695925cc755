"""People check the labels of conversation pairs: is the flaw the named one, in its round, and the only one?

The sample is uniform: how judges did on a pair plays no role, so the share of wrong labels is that of the whole set.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from data_builders.audit.annotation.agreement import compare, kappa_cell, share_of
from data_builders.audit.annotation.form import Fields, Form, PairPage, Pane, Piece, Round, Task
from data_builders.audit.annotation.record_log import answers_of_readers
from data_builders.conversations.parts import write_part
from judge_r1.core.conversations import FAILURES, ConversationPair, Document
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Conversation
from judge_r1.core.text_check import counted
from judge_r1.evaluation.rating.records import ITEMS, ItemRating
from judge_r1.evaluation.report.tables import few_clusters_note
from judge_r1.files.jsonl import read_jsonl, write_atomic, write_json
from judge_r1.files.transcripts import read_conversations
from judge_r1.labels.audit_answers import LABELS, AnswerFileError, PairLabel

SAMPLE_FILE = "sample.json"


def write_sample(folder: Path, out: Path, count: int, seed: int) -> int:
    """Writes `count` pairs, or all if there are fewer, with their documents. Returns their number.

    Raises:
        JudgeError: `out` holds a sample already, or the folder has no pair.
    """
    if (out / SAMPLE_FILE).exists():
        raise JudgeError(f"{out / SAMPLE_FILE} exists, and answers may belong to it: write to another folder")
    pairs, _ = read_conversations(folder)
    drawn = Random(seed).sample(sorted(pair.pair_id for pair in pairs), min(count, len(pairs)))
    write_part(folder, out, drawn, {SAMPLE_FILE: {"seed": seed, "pairs": len(drawn), "of": len(pairs)}})
    return len(drawn)


class LabelTask(Task[PairLabel]):
    """A document, both conversations and the labels; people say whether the labels are right. No judge's answer and no
    rating is shown."""

    record = PairLabel
    form = Form.load("labels")

    def __init__(self, pairs: Sequence[ConversationPair], documents: Mapping[str, Document]) -> None:
        self.pairs, self.documents = {pair.pair_id: pair for pair in pairs}, documents
        self.pair_ids = [*self.pairs]

    def page(self, current: Round[PairLabel], pair_id: str) -> PairPage:
        pair = self.pairs[pair_id]
        document, failure = self.documents[pair.document_id], next(f for f in FAILURES if f.key == pair.failure)
        return PairPage(
            subtitle=failure.key,
            domain=document.domain,
            panes=(
                Pane("context", "The document", (("", [(document.context, False)]),)),
                Pane("reference", "Better", _turns(pair.better, 0)),
                Pane("flawed", "Worse", _turns(pair.worse, pair.flawed_round)),
            ),
            label=(
                f"Round {pair.flawed_round}, {failure.letter} {failure.key}",
                f"{failure.flaw} The user is {pair.user_behaviour}.",
            ),
        )

    def values(self, answer: PairLabel) -> set[tuple[str, str]]:
        return {("label", answer.label)}

    def answer(self, current: Round[PairLabel], pair_id: str, fields: Fields, common: Mapping[str, Any]) -> PairLabel:
        return PairLabel.model_validate({"schema": 1, "label": fields["label"][0], **common})


def _turns(conversation: Conversation, flawed_round: int) -> list[tuple[str, Sequence[Piece]]]:
    """Each message under its round and role; the turn of the assistant with the flaw is marked."""
    return [
        (
            f"Round {index // 2 + 1}, {message.role}",
            [(message.content, message.role == "assistant" and index // 2 + 1 == flawed_round)],
        )
        for index, message in enumerate(conversation)
    ]


LABELS_FILE, REFUSED_FILE = "labels.json", "refused.txt"


def report_labels(folder: Path, files: Sequence[Path], out: Path, rating: Path | None = None) -> dict[str, Any]:
    """Writes labels.json and refused.txt, and returns the content of the first: counts and shares by failure type and
    person, the agreement of two people, and the refused pairs. A pair is refused if at least half of its readers do
    not call it clean. With a `rating` of judges, also the shares by the difficulty of the pairs.

    Raises: as `answers_of_readers`; AnswerFileError if the rating gives none of the labelled pairs an Elo.
    """
    pairs, _ = read_conversations(folder)
    by_id = {pair.pair_id: pair for pair in pairs}
    advice = f"Collect them with judge-r1 audit serve {folder}"
    found = answers_of_readers(folder, files, PairLabel, by_id, advice, by_hand=False)
    labels = [label for own in found.values() for label in own.values()]
    groups = {"all": labels}
    for label in labels:
        groups.setdefault(by_id[label.pair_id].failure, []).append(label)
    if len(found) > 1:
        groups |= {f"by {name}": [*found[name].values()] for name in sorted(found)}
    of_pair: dict[str, list[PairLabel]] = {}
    for label in labels:
        of_pair.setdefault(label.pair_id, []).append(label)
    refused = [pair.pair_id for pair in pairs if _refused(of_pair.get(pair.pair_id, ()))]
    by_reader = {name: {pair_id: label.label for pair_id, label in own.items()} for name, own in found.items()}
    agreed = compare(by_reader, sorted(of_pair))
    report = {
        "schema": 1, "readers": sorted(found), "pairs": len(pairs), "labelled": len(of_pair),
        "rows": [_row(name, group, by_id) for name, group in groups.items()],
        "agreement": agreed and asdict(agreed), "refused": refused,
        "notes": [
            {"pair_id": label.pair_id, "annotator": label.annotator, "label": label.label, "note": label.note}
            for label in labels if label.label != "clean" or label.note
        ],
    }  # fmt: skip
    if rating is not None:
        report["by_elo"] = _by_elo(labels, rating)
    write_json(out / LABELS_FILE, report)
    write_atomic(out / REFUSED_FILE, [f"{pair_id}\n" for pair_id in refused])
    return report


def _refused(labels: Sequence[PairLabel]) -> bool:
    return bool(labels) and 2 * sum(label.label != "clean" for label in labels) >= len(labels)


def _row(name: str, labels: Sequence[PairLabel], by_id: Mapping[str, ConversationPair]) -> dict[str, Any]:
    """Counts of the labels, and the share that is not clean with its 95 % interval over documents."""
    clusters = [by_id[label.pair_id].document_id for label in labels]
    problematic = share_of([label.label != "clean" for label in labels], clusters)
    return {
        "group": name, "answers": len(labels), **{key: sum(label.label == key for label in labels) for key in LABELS},
        "problematic": problematic.share, "ci95": problematic.ci95, "documents": problematic.cases,
    }  # fmt: skip


def _by_elo(labels: Sequence[PairLabel], rating: Path) -> list[dict[str, Any]]:
    """For each Elo of a labelled pair, from the easiest: the answers about pairs up to it, and the share of each label
    (RankJudge, section 3.3)."""
    rows = read_jsonl(rating / ITEMS, ItemRating, unique="item")
    elo = {row.item: row.elo for row in rows if row.elo is not None}
    found = sorted((elo[label.pair_id], label.label) for label in labels if label.pair_id in elo)
    if not found:
        raise AnswerFileError(f"{rating / ITEMS} gives none of the labelled pairs an Elo: rate judges on these pairs")
    steps: list[dict[str, Any]] = []
    for number, (value, _) in enumerate(found, 1):
        if number == len(found) or found[number][0] > value:
            before = Counter(label for _, label in found[:number])
            shares = {str(key): before[key] / number for key in LABELS}
            steps.append({"elo": value, "answers": number, **shares})
    return steps


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
        console.print(f"{counted(agreed['n'], 'answer')} compared: {equal}", highlight=False)
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
