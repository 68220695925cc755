"""The memory of a judge that reads a long document in sections: one note per section."""

from typing import Any

from pydantic import Field

from judge_r1.core.record_base import NonEmpty, Record, content_hash

Scores = dict[str, float | None]
"""Metric -> score; None where the answer gave none."""
Issues = dict[str, dict[str, tuple[str, ...]]]
"""Metric -> tag, such as `[SPELLING]` -> descriptions."""


class SectionNote(Record):
    """What was noted about characters `[start, end)` of a document. `ended` is the finish reason of the answer:
    `stop`, `length` if it was cut off, or the name of a declined answer. `constrained` names the metrics whose score
    the answer did not give: it was sampled among the allowed scores."""

    number: int = Field(ge=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    scores: Scores
    issues: Issues
    summary: str | None = None
    ended: NonEmpty = "stop"
    constrained: tuple[NonEmpty, ...] = ()

    @property
    def name(self) -> str:
        return f"section_{self.number:02d}"


class DocumentMemory(Record):
    """The notes on one document in order, and what follows from them.

    `document` is the hash of the text. `aggregates` maps the name of an aggregation to the scores of the whole document
    by metric. `settings` are those of the judge that the notes depend on, and `usage` is what they cost.
    """

    document: NonEmpty
    metrics: tuple[NonEmpty, ...] = Field(min_length=1)
    sections: tuple[SectionNote, ...] = Field(min_length=1)
    summary: str | None = None
    aggregates: dict[str, Scores] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)
    usage: dict[str, float] = Field(default_factory=dict)

    @property
    def missing_scores(self) -> int:
        """The scores that no answer gave."""
        return sum(score is None for section in self.sections for score in section.scores.values())

    @property
    def constrained_scores(self) -> int:
        """The scores that were sampled among the allowed ones because no answer gave them."""
        return sum(len(section.constrained) for section in self.sections)

    @property
    def truncated(self) -> int:
        """The sections whose answer was cut off."""
        return sum(section.ended == "length" for section in self.sections)


def text_hash(text: str) -> str:
    """The hash that identifies a document in a memory."""
    return content_hash("text", text, length=32)
