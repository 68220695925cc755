"""Draws conversation pairs for people who check their labels, and summarises what they say (RankJudge, section 3.3).

The sample is uniform: how judges did on a pair plays no role, so the share of wrong labels is that of the whole set.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from pydantic import Field

from data_builders.audit.annotation.annotations import AnnotatorName, Note
from data_builders.audit.annotation.record_log import AnswerFileError, check_known, read_log
from data_builders.conversations.parts import write_part
from judge_r1.core.conversations import ConversationPair, read_conversations
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_atomic, write_json
from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.statistics.agreement import cohens_kappa
from judge_r1.statistics.intervals import clustered_mean_ci

Label = Literal["clean", "ambiguous", "noise"]
LABELS: Mapping[Label, str] = {
    "clean": "Side, round and type are right, and no other type fits as well.",
    "ambiguous": "Side and round are right, but another type fits as well.",
    "noise": "Anything else: no flaw, another round or type, a second flaw, or a flaw in the better conversation.",
}
SAMPLE_FILE, LABELS_FILE, REFUSED_FILE = "sample.json", "labels.json", "refused.txt"


class PairLabel(Record):
    """What one person says of one pair. The last line of a person about a pair counts."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotator: AnnotatorName
    pair_id: NonEmpty
    label: Label
    note: Note = ""
    at: NonEmpty


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


def report_labels(folder: Path, files: Sequence[Path], out: Path) -> dict[str, Any]:
    """Writes labels.json and refused.txt, and returns the content of the first: counts and shares by failure type and
    person, the agreement of two people, and the refused pairs. A pair is refused if at least half of its readers do
    not call it clean.

    Raises:
        AnswerFileError: There is no answer, an answer belongs to another set, or two files have answers of one person.
    """
    pairs, _ = read_conversations(folder)
    by_id = {pair.pair_id: pair for pair in pairs}
    found: dict[tuple[str, str], PairLabel] = {}
    for path in files:
        labels = read_log(path, PairLabel)
        check_known(labels, by_id, path)
        if twice := sorted({name for _, name in found} & {label.annotator for label in labels}):
            raise AnswerFileError(f"{path} has answers of {twice[0]}, and so does another file: name each person once")
        found.update({(label.pair_id, label.annotator): label for label in labels})
    if not found:
        raise AnswerFileError(
            f"{', '.join(map(str, files))}: no answer yet. Collect them with judge-r1 audit serve {folder}"
        )
    readers = sorted({annotator for _, annotator in found})
    groups = {"all": [*found.values()]}
    for label in found.values():
        groups.setdefault(by_id[label.pair_id].failure, []).append(label)
    if len(readers) > 1:
        groups |= {f"by {name}": [label for label in found.values() if label.annotator == name] for name in readers}
    of_pair: dict[str, list[PairLabel]] = {}
    for label in found.values():
        of_pair.setdefault(label.pair_id, []).append(label)
    refused = [pair.pair_id for pair in pairs if _refused(of_pair.get(pair.pair_id, ()))]
    report = {
        "schema": 1, "readers": readers, "pairs": len(pairs), "labelled": len(of_pair),
        "rows": [_row(name, labels, by_id) for name, labels in groups.items()],
        "agreement": _agreement(found, readers), "refused": refused,
        "notes": [
            {"pair_id": label.pair_id, "annotator": label.annotator, "label": label.label, "note": label.note}
            for label in found.values() if label.label != "clean" or label.note
        ],
    }  # fmt: skip
    write_json(out / LABELS_FILE, report)
    write_atomic(out / REFUSED_FILE, [f"{pair_id}\n" for pair_id in refused])
    return report


def _refused(labels: Sequence[PairLabel]) -> bool:
    return bool(labels) and 2 * sum(label.label != "clean" for label in labels) >= len(labels)


def _row(name: str, labels: Sequence[PairLabel], by_id: Mapping[str, ConversationPair]) -> dict[str, Any]:
    """Counts of the labels, and the share that is not clean with its 95 % interval over documents."""
    problems = [float(label.label != "clean") for label in labels]
    clusters = [by_id[label.pair_id].document_id for label in labels]
    return {
        "group": name, "answers": len(labels), **{key: sum(label.label == key for label in labels) for key in LABELS},
        "problematic": sum(problems) / len(problems), "ci95": clustered_mean_ci(problems, clusters),
        "documents": len(set(clusters)),
    }  # fmt: skip


def _agreement(found: Mapping[tuple[str, str], PairLabel], readers: Sequence[str]) -> dict[str, Any] | None:
    """Pairs of answers by two people about one pair: how many, the equal share, and Cohen's kappa."""
    both = [
        (found[pair_id, one].label, found[pair_id, other].label)
        for pair_id in sorted({pair_id for pair_id, _ in found})
        for number, one in enumerate(readers)
        for other in readers[number + 1 :]
        if (pair_id, one) in found and (pair_id, other) in found
    ]
    if not both:
        return None
    kappa = cohens_kappa([one for one, _ in both], [other for _, other in both])
    return {"n": len(both), "share": sum(one == other for one, other in both) / len(both), "kappa": kappa}
