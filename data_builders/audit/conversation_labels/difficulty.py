"""Where wrong labels are: the shares of the labels among the pairs up to a difficulty (RankJudge, section 3.3)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_builders.audit.annotation.record_log import AnswerFileError
from data_builders.audit.conversation_labels.labels import LABELS, PairLabel
from judge_r1.core.jsonl import read_jsonl
from judge_r1.evaluation.rating.on_scale import ITEMS
from judge_r1.evaluation.rating.records import ItemRating
from judge_r1.evaluation.report.charts import Figure, colors_of, line_chart
from judge_r1.evaluation.report.standalone import standalone

CHART_FILE = "labels.svg"


def labels_by_elo(labels: Iterable[PairLabel], rating: Path) -> list[dict[str, Any]]:
    """For each Elo of a labelled pair, from the easiest: the answers about pairs up to it, and the share of each label.

    Raises:
        AnswerFileError: The rating gives none of the labelled pairs an Elo.
    """
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


def labels_chart(steps: Sequence[Mapping[str, Any]]) -> str:
    """The shares of the labels that are not clean against Elo, as a standalone SVG."""
    shown = [str(key) for key in LABELS if key != "clean"]
    lines = {key: [(step["elo"], step[key]) for step in steps] for key in shown}
    title = "Share among the pairs up to an Elo"
    colors = colors_of(shown)
    return standalone(Figure(title, line_chart(title, lines, colors, dots=True), colors), title)
