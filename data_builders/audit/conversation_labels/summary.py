"""Summarises what people say about the labels of conversation pairs, and names the pairs that they refuse."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from data_builders.audit.annotation.record_log import answers_of_readers
from data_builders.audit.annotation.shares import compare, share_of
from data_builders.audit.conversation_labels.difficulty import CHART_FILE, labels_by_elo, labels_chart
from data_builders.audit.conversation_labels.labels import LABELS, PairLabel
from judge_r1.core.conversations import ConversationPair, read_conversations
from judge_r1.core.jsonl import write_atomic, write_json

LABELS_FILE, REFUSED_FILE = "labels.json", "refused.txt"


def report_labels(folder: Path, files: Sequence[Path], out: Path, rating: Path | None = None) -> dict[str, Any]:
    """Writes labels.json and refused.txt, and returns the content of the first: counts and shares by failure type and
    person, the agreement of two people, and the refused pairs. A pair is refused if at least half of its readers do
    not call it clean. With a `rating` of judges, also the shares by the difficulty of the pairs, and labels.svg.

    Raises: as `answers_of_readers` and `labels_by_elo`.
    """
    pairs, _ = read_conversations(folder)
    by_id = {pair.pair_id: pair for pair in pairs}
    advice = f"Collect them with judge-r1 audit serve {folder}"
    found = answers_of_readers(folder, files, PairLabel, {name: name for name in by_id}, advice, by_hand=False)
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
        report["by_elo"] = steps = labels_by_elo(labels, rating)
        write_atomic(out / CHART_FILE, [labels_chart(steps)])
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
