"""Manipulations: rules that degrade a long document in a known way (CoFluEval-LC).

An operator returns edits; `manipulate` applies them and records every changed span. The same document, operator, seed
and intensity give the same text.

    @manipulation(41, FLUENCY, "grammar", 2.0, lambda material: material.tokens)
    def typos(material, task): ...    # the edits
"""

from collections.abc import Callable
from typing import Any

from data_builders.manipulations.operator import CannotManipulate as CannotManipulate
from data_builders.manipulations.operator import EditFunction, Operator
from data_builders.manipulations.operator import Material as Material
from judge_r1.core.documents import COHERENCE, Target
from judge_r1.core.registry import Registry

MANIPULATIONS: Registry[Operator] = Registry("manipulation", "data_builders.manipulations.operators")
SELECTED = ("exchange_content", "temporal", "terms", "typos", "verb_tense", "word_order")
"""The six manipulations of the released data set, by name."""
Register = Callable[[EditFunction], EditFunction]


def manipulation(
    number: int, metric: Target, category: str, intensity: float, units: Callable[[Material], int], **more: Any
) -> Register:
    """Decorator: registers the function as the edits of an operator with its name. `more` are fields of `Operator`."""

    def register(edit: EditFunction) -> EditFunction:
        name = edit.__name__
        MANIPULATIONS.register(name)(Operator(number, name, metric, category, intensity, units, edit, **more))
        return edit

    return register


def by_density(number: int, category: str, **more: Any) -> Register:
    """Decorator: an operator on paragraphs, or larger units, that degrades coherence, with one operation per 1,000
    tokens."""
    more = {"share": False, "needs": "no unit is long enough", **more}
    if category == "logical flow":
        more["most_changed"] = 0.5
    return manipulation(number, COHERENCE, category, 1.0, lambda material: len(material.eligible), **more)
