"""Applies an operator to a document and returns the record."""

from random import Random
from typing import Any

from data_builders.manipulations.edits import Edit, apply_edits
from data_builders.manipulations.operator import CannotManipulate, Material, Operator, Spread, Task
from judge_r1.core.documents import Document, ManipulatedDocument, manipulation_id
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

    Raises: CannotManipulate if the document has too few places, or the operator cannot be dense.
    """
    if spread == "dense" and not operator.can_be_dense:
        raise CannotManipulate("the manipulation cannot be dense")
    rate = operator.intensity if intensity is None else intensity
    if not operator.units(material):
        raise CannotManipulate("no fitting place")
    count = operator.count(material, rate, legacy=legacy) if count is None else count
    random = Random(int(content_hash(seed, document.document_id, operator.name), 16))
    task = Task(count, random, spread, repeats, refill)
    edited = apply_edits(document.text, operator.edit(material, task))
    if not edited.text.strip():
        raise CannotManipulate("nothing would be left of the text")
    params: dict[str, Any] = {"intensity": rate, "spread": spread, "tagger": material.tagger.name}
    if not operator.share:
        params["unit"] = material.unit
    params |= {name: getattr(task, name) for name in operator.reads}
    if legacy and not operator.share:
        params["bias"] = operator.legacy_bias
    return ManipulatedDocument(
        schema=1,
        manipulation_id=manipulation_id(document.document_id, operator.name, edited.text),
        document_id=document.document_id,
        base_id=document.base_id,
        length=document.length,
        name=operator.name,
        number=operator.number,
        metric=operator.metric,
        category=operator.category,
        text=edited.text,
        spans=edited.spans,
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
    edited = apply_edits(document.text, edits)
    return whole.model_copy(
        update={
            "manipulation_id": manipulation_id(document.document_id, whole.name, edited.text),
            "document_id": document.document_id,
            "length": document.length,
            "text": edited.text,
            "spans": edited.spans,
            "operations": len(edits),
            "params": {**whole.params, "short": "prefix"},
        }
    )
