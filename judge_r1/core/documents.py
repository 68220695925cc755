"""Long documents and their manipulated copies, as `judge-r1 build cofluence` writes them."""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from judge_r1.core.record_base import NonEmpty, Record, content_hash

DOCUMENTS_FILE, MANIPULATIONS_FILE = "documents.jsonl", "manipulations.jsonl"
FULL = "full"
"""The length of a document that was not shortened. Other lengths are their number of space-separated tokens."""
Target = Literal["fluency", "coherence"]
"""The metric that a manipulation degrades on purpose."""
FLUENCY: Target = "fluency"
COHERENCE: Target = "coherence"


class Document(Record):
    """An original text at one length. `base_id` is the id of the full document, which all its lengths share."""

    schema_: Literal[1] = Field(1, alias="schema")
    document_id: NonEmpty
    base_id: NonEmpty
    length: NonEmpty
    title: NonEmpty
    text: NonEmpty
    source: NonEmpty
    license: NonEmpty
    meta: dict[str, Any] = Field(default_factory=dict)

    @field_validator("length")
    @classmethod
    def _known_length(cls, length: str) -> str:
        if length != FULL and not (length.isdecimal() and int(length)):
            raise ValueError(f"length is {FULL} or a number of tokens, not {length!r}")
        return length

    @model_validator(mode="after")
    def _id_matches_content(self) -> "Document":
        if self.document_id != (expected := document_id(self.text, self.length)):
            raise ValueError(
                f"document_id {self.document_id} does not match its content ({expected}): rebuild the file"
            )
        return self


class ChangedSpan(Record):
    """`original[start:end]` became `manipulated[new_start:new_end]`. Either span may be empty."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    new_start: int = Field(ge=0)
    new_end: int = Field(ge=0)

    @model_validator(mode="after")
    def _ordered(self) -> "ChangedSpan":
        if self.end < self.start or self.new_end < self.new_start:
            raise ValueError("a span ends before it starts")
        return self


class ManipulatedDocument(Record):
    """A document with a known degradation. `operations` is the exact number of edits of the kind that `name` describes;
    `units` is the number of units that the intensity is a share of. Text outside `spans` is that of the document."""

    schema_: Literal[1] = Field(1, alias="schema")
    manipulation_id: NonEmpty
    document_id: NonEmpty
    base_id: NonEmpty
    length: NonEmpty
    name: NonEmpty
    number: int
    metric: Target
    category: NonEmpty
    text: NonEmpty
    spans: tuple[ChangedSpan, ...] = Field(min_length=1)
    operations: int = Field(ge=1)
    units: int = Field(ge=1)
    seed: int
    params: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _id_matches_content(self) -> "ManipulatedDocument":
        expected = manipulation_id(self.document_id, self.name, self.text)
        if self.manipulation_id != expected:
            raise ValueError(
                f"manipulation_id {self.manipulation_id} does not match its content ({expected}): rebuild the file"
            )
        return self


def document_id(text: str, length: str) -> str:
    """The id of a document at one length."""
    return content_hash("document", text, length)


def manipulation_id(document: str, name: str, text: str) -> str:
    """The id of a manipulated document."""
    return content_hash("manipulation", document, name, text)


def changed_outside(original: str, manipulated: str, spans: tuple[ChangedSpan, ...]) -> bool:
    """Whether the two texts differ anywhere outside the spans, which must be in order."""
    at = new_at = 0
    for span in spans:
        if original[at : span.start] != manipulated[new_at : span.new_start] or span.start < at:
            return True
        at, new_at = span.end, span.new_end
    return original[at:] != manipulated[new_at:]
