"""The tool `calc`: exact arithmetic. It computes with fractions, so 0.1 + 0.2 is 0.3, and needs no interpreter."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from judge_r1.episode.tools.base import TOOLS, CaseScope, ToolBudget, ToolResult

LONGEST = 500
"""Characters of an expression, its exponents written out. It bounds numbers, time and memory: no operation makes a
number longer than its operands together."""
_DIGITS = 12
_SMALLEST = Fraction(1, 10**301)
_EXPONENT = re.compile(r"\b0[xX]\w+|[eE][+-]?(\d[\d_,]*)")
"""A number of base 16 comes first: the e in it is a digit."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_OPERATIONS: Mapping[type[ast.AST], Callable[..., Fraction | int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


class Calc:
    help = "computes an expression of numbers with + - * / // % and brackets"
    max_calls = 3

    def check(self, text: str) -> str | None:
        if not text.strip():
            return "empty expression"
        zeros = sum(int(re.sub("[_,]", "", digits) or 0) for digits in _EXPONENT.findall(text[:LONGEST]))
        long = len(text) + zeros > LONGEST
        return f"the expression has more than {LONGEST} characters, exponents written out" if long else None

    def require(self) -> None: ...

    def run(self, text: str, scope: CaseScope, budget: ToolBudget) -> ToolResult:
        try:
            source = _THOUSANDS.sub("", text.strip())
            return ToolResult(_written(_value(ast.parse(source, mode="eval").body, source)))
        except ZeroDivisionError:
            return ToolResult("division by zero", "error")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # The parser raises the last three for a null byte and for deep nesting, and its texts differ by version.
            return ToolResult("no expression: use numbers, + - * / // % and brackets alone", "error")


def _value(node: ast.AST, source: str) -> Fraction:
    """Raises: ValueError for what is no arithmetic."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return Fraction(_OPERATIONS[type(node.op)](_value(node.left, source), _value(node.right, source)))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATIONS:
        return Fraction(_OPERATIONS[type(node.op)](_value(node.operand, source)))
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.Constant) and type(node.value) is float:
        written = ast.get_source_segment(source, node) or ""  # the decimal as written, and not the binary fraction
        return Fraction(written.replace("_", ""))
    raise ValueError("no arithmetic")


def _written(value: Fraction) -> str:
    """An integer or a finite decimal exactly, other numbers to 12 significant digits."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest == 1 and places <= _DIGITS:
        sign, digits = "-" if value < 0 else "", str(abs(value.numerator) * 10**places // value.denominator)
        digits = digits.zfill(places + 1)
        return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
    if abs(value) < _SMALLEST:
        return "a number with more than 300 zeros after the point"
    try:
        return f"{float(value):.{_DIGITS}g}"
    except OverflowError:
        return "a number of more than 300 digits"


TOOLS.register("calc")(Calc())
