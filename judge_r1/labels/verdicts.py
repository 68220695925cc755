"""A judge's verdicts on labelled items: those of a column of the file, or those of a judge that was asked."""

from typing import Any

from pydantic import Field

from judge_r1.core.record_base import Record
from judge_r1.core.text_check import short_name
from judge_r1.labels.kinds import BadLabels
from judge_r1.labels.rows import Labels
from judge_r1.statistics.position_bias import Answer


class JudgeVerdicts(Record):
    """Verdicts by item id, None where the judge gave none (`missing` says why).

    `repeats` are the verdicts of equal requests, `orders` the letters that a judge of pairs wrote with the candidates
    in their order and in the other one, `texts` what the judge wrote, which no file of a result holds but the page and
    the table of disagreements. `asked` says how it was asked: requests, tokens, seconds, models that the server
    reported, settings.
    """

    name: str
    verdicts: dict[str, str | None]
    missing: dict[str, str] = Field(default_factory=dict)
    repeats: dict[str, tuple[str | None, ...]] = Field(default_factory=dict)
    orders: dict[str, tuple[Answer, Answer]] = Field(default_factory=dict)
    texts: dict[str, str] = Field(default_factory=dict, exclude=True)
    confidences: dict[str, float] = Field(default_factory=dict)
    asked: dict[str, Any] = Field(default_factory=dict)
    unanswered: int = 0
    """Items whose request has no reply: an infrastructure failure, which is never a verdict."""


def verdicts_of_file(labels: Labels) -> JudgeVerdicts:
    """The verdicts in the file's own column. A word that is no label is invalid.

    Raises:
        BadLabels: The file has no verdicts.
    """
    if not any(item.verdict for item in labels.items):
        raise BadLabels(f"{labels.path} has no verdicts: give --verdicts COLUMN, or a judge to ask by --judge")
    read = {item.id: labels.scheme.read(item.verdict) if item.verdict else None for item in labels.items}
    missing = {
        item.id: f"no label: {short_name(item.verdict)}" if item.verdict else "no verdict"
        for item in labels.items
        if read[item.id] is None
    }
    confidences = {item.id: item.confidence for item in labels.items if item.confidence is not None}
    name = labels.columns.get("verdict", "verdict")
    return JudgeVerdicts(name=name, verdicts=read, missing=missing, confidences=confidences)
