"""The text of a JATS element on one line, so that numbers keep their meaning.

A superscript is written `10^9`, a fraction `a/b`, and a line break as a space. References to citations and footnotes
that stand as superscripts are left out, and of several renderings of a formula one is read.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterable

from data_builders.sources.text_repair import CITATIONS, Changes

_MARKS = ("bibr", "fn", "table-fn", "aff", "corresp", "author-notes")
"""`ref-type` of references that can be superscripts."""
_MARK = re.compile(r"\s*(?:\d{1,3}(?:\s*[,–—-]\s*\d{1,3})*|[a-z]{1,2}|[*†‡§¶#‖|]+)\s*")
_SEPARATORS = re.compile(r"[\s,;–—-]*")
_RAISED_WORDS = re.compile(r"\s*(?:st|nd|rd|th)\s*|[°′″*†‡§¶®™]+")
"""What reads well without `^`: 2nd, 37°, and marks."""
_RENDERINGS = ("math", "tex-math", "textual-form", "chem-struct")
"""The renderings of a formula, best first. Others are pictures."""
_SPACED = ("p", "title", "list", "list-item", "disp-formula-group", "def-list", "def-item", "term", "def")


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


def inline_text(element: ET.Element, changes: Changes, left_out: Collection[str] = (), before: str = "") -> str:
    """The text of an element without the elements `left_out`. `before` is the text before it."""
    text = element.text or ""
    children, in_list = list(element), False
    for at, child in enumerate(children):
        name, tail, so_far = local_name(child), child.tail or "", text or before[-1:]
        if name in left_out:
            pass
        elif in_list or _is_mark(child, so_far):
            changes[CITATIONS] += 1
            following = children[at + 1] if at + 1 < len(children) else None
            in_list = following is not None and local_name(following) == name and _is_listed(tail, following)
            tail = "" if in_list else tail
        elif name == "sup":
            text += _superscript(inline_text(child, changes, left_out), so_far, tail, changes)
        elif name == "sub":
            text += _subscript(inline_text(child, changes, left_out), so_far, tail, changes)
        elif name == "break":
            changes["line breaks"] += so_far[-1:].strip() != "" != tail[:1].strip()
            text += " "
        elif name in ("math", "tex-math"):
            formula = _formula(child, changes)
            text += f" {formula}" if so_far[-1:].isdigit() and formula[:1].isdigit() else formula
        elif name in ("alternatives", "inline-formula"):
            text += _best_rendering(child, changes, left_out, so_far)
        elif name == "disp-formula":
            text += f" {display_formula(child, changes)} "
        elif name in _SPACED:
            text += f" {inline_text(child, changes, left_out)} "
        else:
            text += inline_text(child, changes, left_out, so_far)
        text += tail
    return text


def display_formula(element: ET.Element, changes: Changes) -> str:
    """A formula on a line of its own, with its label in parentheses behind it."""
    label = element.find("label")
    number = "" if label is None else inline_text(label, changes).strip()
    written = _best_rendering(element, changes, ("label",), "").strip()
    if number and written:
        changes["formula labels moved"] += 1
        return f"{written} {number if number.startswith('(') else f'({number})'}"
    return written or number


def _best_rendering(element: ET.Element, changes: Changes, left_out: Collection[str], before: str) -> str:
    """The text of an element whose children may be several renderings of one formula: of the best one."""
    found = {local_name(child): child for child in reversed(element)}
    best = next((found[name] for name in _RENDERINGS if name in found), None)
    others = [] if best is None else [name for name in found if name in _RENDERINGS and name != local_name(best)]
    changes["alternatives left out"] += len(others)
    return inline_text(element, changes, [*left_out, *others], before)


def _formula(element: ET.Element, changes: Changes) -> str:
    joined = "".join(element.itertext())
    if local_name(element) == "tex-math":
        changes["TeX preambles left out"] += "\\documentclass" in joined
        return tex_text(joined)
    written = math_text(element)
    changes["formulas"] += written != joined
    return written


def _superscript(inner: str, before: str, after: str, changes: Changes) -> str:
    if not inner.strip() or _RAISED_WORDS.fullmatch(inner):
        return inner
    changes["superscripts"] += 1
    if inner.strip() == "o" and after[:1] in ("C", "F"):
        return "°"
    return _raised("^", inner, before, after)


def _subscript(inner: str, before: str, after: str, changes: Changes) -> str:
    """CO2 and IC50 are read without a mark. A subscript between digits has one, so that no other number results."""
    if not inner.strip() or not (before[-1:].isdigit() or (inner[-1].isdigit() and after[:1].isdigit())):
        return inner
    changes["subscripts"] += 1
    return _raised("_", inner, before, after)


def _raised(mark: str, inner: str, before: str, after: str) -> str:
    """A script with its mark. A space separates it from a word behind it, unless it belongs to that word: ^125I."""
    belongs_before = before[-1:].strip() != "" or after[:1].isdigit()
    blank = " " if inner[-1].isspace() or (after[:1].isalnum() and belongs_before) else ""
    return f"{mark}{group(inner.strip())}{blank}"


def _is_mark(element: ET.Element, before: str) -> bool:
    """Whether an element is a superscript that refers to citations or footnotes, and no text of the sentence."""
    if local_name(element) == "sup":
        references = element.findall(".//xref")
        outside = "".join(element.itertext())
        for reference in references:
            outside = outside.replace("".join(reference.itertext()), "", 1)
        are_marks = all(reference.get("ref-type") in _MARKS for reference in references)
        return bool(references) and are_marks and _SEPARATORS.fullmatch(outside) is not None
    if local_name(element) != "xref" or element.get("ref-type") not in _MARKS:
        return False
    text = "".join(element.itertext())
    raised = "".join("".join(part.itertext()) for part in element.findall("sup"))
    glued = before[-1:].strip() != "" and before[-1] not in "([{/–—-=<>~≈"
    return text.strip() != "" and (raised == text or (glued and _MARK.fullmatch(text) is not None))


def _is_listed(tail: str, following: ET.Element) -> bool:
    """Whether a further mark follows behind a comma or dash: `1,2` and `3–5`."""
    if _SEPARATORS.fullmatch(tail) is None or not tail.strip():
        return False
    return _is_mark(following, "a")
