"""Applies an operator to a document and returns the record."""

from collections.abc import Sequence
from random import Random
from typing import Any

from data_builders.manipulations.operator import CannotManipulate, Material, Operator, Spread, Task
from data_builders.text_units.edits import Edit
from judge_r1.core.documents import ChangedSpan, Document, ManipulatedDocument, manipulation_id
from judge_r1.core.record_base import content_hash


def manipulate(
    document: Document,
    operator: Operator,
    material: Material,
    *,
    seed: int,
    intensity: float | None = None,
    legacy: bool = False,
    count: int | None = None,
    spread: Spread = "widespread",
    repeats: int = 1,
    refill: bool = False,
) -> ManipulatedDocument:
    """The document after exactly `count` operations, by default `operator.count`. `material` holds its text.

    Raises: CannotManipulate if the document has too few places, the operator cannot be dense, or its default intensity
    would change too much of the text.
    """
    if spread == "dense" and not operator.can_be_dense:
        raise CannotManipulate("the manipulation cannot be dense")
    rate = operator.intensity if intensity is None else intensity
    if not operator.units(material):
        raise CannotManipulate(operator.needs)
    guarded = count is None and rate == operator.intensity
    count = operator.count(material, rate, legacy=legacy) if count is None else count
    random = Random(int(content_hash(seed, document.document_id, operator.name), 16))
    task = Task(count, random, spread, repeats, refill)
    text, spans = applied(document.text, operator.edit(material, task))
    if not text.strip():
        raise CannotManipulate("nothing would be left of the text")
    gone = sum(span.end - span.start for span in spans)
    if guarded and max(gone, len(text) - len(document.text)) > operator.most_changed * len(document.text):
        raise CannotManipulate(f"{material.unit}s are too long: over half of the text would go or be added")
    params: dict[str, Any] = {"intensity": rate, "spread": spread}
    if operator.needs_tagger:
        params["tagger"] = material.tagger.name
    if not operator.share:
        params["unit"] = material.unit
    params |= {name: getattr(task, name) for name in operator.reads}
    if legacy and not operator.share:
        params["bias"] = operator.legacy_bias
    return ManipulatedDocument(
        schema=1,
        manipulation_id=manipulation_id(document.document_id, operator.name, text),
        document_id=document.document_id,
        base_id=document.base_id,
        length=document.length,
        name=operator.name,
        number=operator.number,
        metric=operator.metric,
        category=operator.category,
        text=text,
        spans=spans,
        operations=count,
        units=operator.units(material),
        seed=seed,
        params=params,
    )


def manipulated_prefix(document: Document, whole: ManipulatedDocument) -> ManipulatedDocument:
    """The edits of a manipulated full document that lie in its prefix `document`. `operations` counts these edits.

    Raises: CannotManipulate if there are none.
    """
    edits = [
        Edit(span.start, span.end, whole.text[span.new_start : span.new_end])
        for span in whole.spans
        if span.end <= len(document.text) and (span.start < len(document.text))
    ]
    if not edits:
        raise CannotManipulate("no edit of the full document lies in its prefix")
    text, spans = applied(document.text, edits)
    return whole.model_copy(
        update={
            "manipulation_id": manipulation_id(document.document_id, whole.name, text),
            "document_id": document.document_id,
            "length": document.length,
            "text": text,
            "spans": spans,
            "operations": len(edits),
            "params": {**whole.params, "short": "prefix"},
        }
    )


def applied(text: str, edits: Sequence[Edit]) -> tuple[str, tuple[ChangedSpan, ...]]:
    """The text after edits that do not overlap, and a span for each of them, in order.

    Raises: ValueError if two overlap, or one leaves the text as it is.
    """
    parts: list[str] = []
    spans: list[ChangedSpan] = []
    at = length = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end, edit.replacement)):
        if edit.start < at or edit.end < edit.start or edit.end > len(text):
            raise ValueError(f"the edit of {edit.start}-{edit.end} overlaps another one or ends outside the text")
        if text[edit.start : edit.end] == edit.replacement:
            raise ValueError(f"the edit of {edit.start}-{edit.end} changes nothing")
        parts += [text[at : edit.start], edit.replacement]
        new_start = length + edit.start - at
        length = new_start + len(edit.replacement)
        spans.append(ChangedSpan(start=edit.start, end=edit.end, new_start=new_start, new_end=length))
        at = edit.end
    return "".join([*parts, text[at:]]), tuple(spans)
