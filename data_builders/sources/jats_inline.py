"""The text of a JATS element on one line, so that numbers keep their meaning.

A superscript is written `10^9`, a fraction `a/b`, and a line break as a space. References to citations and footnotes
that stand as superscripts are left out, and of several renderings of a formula one is read.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection

from data_builders.sources.mathml import group, local_name, math_text, tex_text
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
