"""Writes formulas on one line: MathML as `(a+b)/c`, `x_i^2`, `√x`, and TeX without the preamble around it."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable

_INVISIBLE = str.maketrans("", "", "\u2061\u2062\u2063\u2064\u200b")
"""Function application, invisible times, separator and plus."""
_SIMPLE = re.compile(r"\W?|[+−–-]?[^\W_]+(?:\.\d+)?[+−–-]?")
_SCRIPTS = {"msup": "^", "msub": "_", "msubsup": "_^", "mover": "^", "munder": "_", "munderover": "_^"}
_ACCENT = re.compile(r"[^\w\s+*−-]{0,2}")
_RUN_BEFORE, _RUN_AFTER = re.compile(r"[^\W_]+$"), re.compile(r"[^\W_]+")
_TEX_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|$)", re.DOTALL)
_TEX_PREAMBLE = re.compile(r"\\(?:documentclass|usepackage|setlength)(?:\[[^\]]*\]|\{[^{}]*\})*")
_TEX_DELIMITER = re.compile(r"\$+|\\[\[\]()]")


def local_name(element: ET.Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def group(text: str) -> str:
    """A text as one operand: in parentheses if it has several parts."""
    return text if _SIMPLE.fullmatch(text) or _in_parentheses(text) else f"({text})"


def _in_parentheses(text: str) -> bool:
    """Whether the parenthesis that opens a text is closed at its end."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return at > 0 and at == len(text) - 1
    return False


def math_text(element: ET.Element) -> str:
    """A MathML element on one line. Of `semantics` only the presentation is read, not its annotations."""
    name, parts = local_name(element), list(element)
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return "".join(element.itertext()).translate(_INVISIBLE)
    if name == "mspace":
        return " "
    if name in ("mphantom", "annotation", "annotation-xml", "none", "mprescripts"):
        return ""
    if name == "mtable":
        return "; ".join(" ".join(filter(None, map(math_text, row))) for row in parts)
    if name in ("semantics", "maction"):
        parts = parts[:1]
    written = [math_text(part) for part in parts]
    if name == "mfrac" and len(written) == 2:
        if element.get("linethickness", "1").strip("ptxem%. ") == "0":
            return f"binom({written[0]}, {written[1]})"
        return f"{group(written[0])}/{group(written[1])}"
    if name == "mroot" and len(written) == 2:
        return f"{group(written[0])}^(1/{group(written[1])})"
    if name == "msqrt" or (name == "menclose" and "radical" in element.get("notation", "")):
        return f"√{group(_row(parts, written))}"
    if name == "mfenced":
        separator = element.get("separators", ",")[:1]
        return f"{element.get('open', '(')}{f'{separator} '.join(written)}{element.get('close', ')')}"
    if name == "mmultiscripts" and written:
        return _multiscripts(parts, written)
    if name in _SCRIPTS and len(written) > 1:
        scripts = [_script(mark, text) for mark, text in zip(_SCRIPTS[name], written[1:], strict=False)]
        is_accent = len(scripts) == 1 and scripts[0] == written[1].strip()
        return (written[0] if is_accent else _operand(parts[0], written[0])) + "".join(scripts)
    return _row(parts, written)


def _script(mark: str, text: str) -> str:
    """A script behind its base. Primes, bars and arrows stand for themselves."""
    text = text.strip()
    return text if _ACCENT.fullmatch(text) else f"{mark}{group(text)}"


def _operand(element: ET.Element, text: str) -> str:
    return text if local_name(element) in ("mi", "mo", "mtext", "mover", "munder") else group(text)


def _multiscripts(parts: list[ET.Element], written: list[str]) -> str:
    names = [local_name(part) for part in parts]
    split = names.index("mprescripts") if "mprescripts" in names else len(parts)
    after, before = written[1:split], written[split + 1 :]
    return _pairs(before) + _operand(parts[0], written[0]) + _pairs(after)


def _pairs(scripts: list[str]) -> str:
    """Lower and upper scripts in turn, the upper ones first."""
    pairs = zip(scripts[::2], scripts[1::2], strict=False)
    return "".join(f"{_script('^', upper)}{_script('_', lower)}" for lower, upper in pairs)


def _row(parts: Iterable[ET.Element], written: Iterable[str]) -> str:
    """Pieces side by side: `sin x`, `2 3`, `x^2 y`, but `2x`. A fraction behind a letter or digit is in parentheses."""
    text, last, piece_before = "", "", ""
    for part, piece in zip(parts, written, strict=True):
        if not piece:  # an invisible operator
            continue
        name = local_name(part)
        before, after = _RUN_BEFORE.search(piece_before), _RUN_AFTER.match(piece)
        if before and after:
            if name == "mfrac":
                piece = f"({piece})"
            elif last == "mfrac" or last in _SCRIPTS or _are_apart(before[0], after[0]):
                text += " "
        text, last, piece_before = text + piece, name, piece
    return text


def _are_apart(one: str, other: str) -> bool:
    """Whether two runs of letters and digits would read as another name or number if they touched."""
    are_numbers = one[-1].isdigit() and other[0].isdigit()
    return are_numbers or any(sum(character.isalpha() for character in run) > 1 for run in (one, other))


def tex_text(source: str) -> str:
    """The formula of a TeX source: the body of its document, without packages and dollar signs."""
    document = _TEX_DOCUMENT.search(source)
    body = document[1] if document else _TEX_PREAMBLE.sub(" ", source)
    return " ".join(_TEX_DELIMITER.sub(" ", body).split())
