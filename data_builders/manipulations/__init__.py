"""Manipulations: rules that degrade a long document in a known way (CoFluEval-LC). Each module registers one operator.

An operator returns edits; `manipulate` applies them and records every changed span. The same document, operator, seed
and intensity give the same text.
"""

from data_builders.manipulations.operator import CannotManipulate as CannotManipulate
from data_builders.manipulations.operator import Material as Material
from data_builders.manipulations.operator import Operator as Operator
from judge_r1.core.registry import Registry

MANIPULATIONS: Registry[Operator] = Registry("manipulation", "data_builders.manipulations.operators")
SELECTED = ("exchange_content", "temporal", "terms", "typos", "verb_tense", "word_order")
"""The six manipulations of the released data set, by name."""


def register(operator: Operator) -> Operator:
    """Registers an operator under its name."""
    return MANIPULATIONS.register(operator.name)(operator)
