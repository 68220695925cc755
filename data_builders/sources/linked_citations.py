"""Leaves out the citations of a paper in an intertextual graph, where superscripts became plain numbers.

    as shown 3, 4 . It took 3 days   → as shown. It took 3 days

The graph links each paragraph to the references that it cites, so a number is a citation if its reference is linked and
either every occurrence of it in the paragraph is accounted for by links, or a space before a punctuation mark shows
that a superscript stood there.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from data_builders.sources.text_repair import CITATIONS, Changes

_LIST = r"\d{1,3}(?:, ?\d{1,3}|[–-] ?\d{1,3})*"
_CITATION = re.compile(rf"(?<![,–-]) (?P<marks>{_LIST})(?:(?P<blank> (?=[.,;:)]))|(?= [^\W\d])|$)")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?!\w)")
_LABEL = re.compile(r"\d+(?!\S)")
_NAMES_A_NUMBER = re.compile(
    r"\b(?:figs?|figures?|tables?|box|datasets?|steps?|sections?|equations?|refs?|references?|see|in|by|from|of|including)"
    r"\.?$",
    re.IGNORECASE,
)
"""What a number belongs to as a word of the sentence: Figure 3, see 26."""
_BEFORE = 20
"""Characters before a number in which that word is looked for."""


def linked_references(graph: Mapping[str, Any]) -> dict[str, Counter[int]]:
    """The numbers of the references that each node cites, and how often. Empty for a graph without links."""
    numbers, links = {}, defaultdict[str, Counter[int]](Counter)
    for node in _objects(graph.get("nodes")):
        label = _LABEL.match(str(node.get("content", "")))
        if node.get("ntype") == "ref" and label:
            numbers[node.get("ix")] = int(label[0])
    for edge in _objects(graph.get("edges")):
        if edge.get("etype") == "link" and edge.get("tgt_ix") in numbers:
            links[str(edge.get("src_ix"))][numbers[edge["tgt_ix"]]] += 1
    return dict(links)


def _objects(entries: Any) -> Iterable[Mapping[str, Any]]:
    return (entry for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()


def without_citations(text: str, linked: Mapping[int, int] | None, changes: Changes) -> str:
    """The text of a node without the citations to its `linked` references."""
    if not linked:
        return text
    occurrences = Counter(int(number) for number in _NUMBER.findall(text))

    def leave_out(match: re.Match[str]) -> str:
        cited = [int(number) for number in re.findall(r"\d+", match["marks"])]
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        if not all(number in linked for number in cited) or _NAMES_A_NUMBER.search(before):
            return match[0]
        if match["blank"] or all(occurrences[number] <= linked[number] for number in cited):
            changes[CITATIONS] += 1
            return ""
        return match[0]

    return _CITATION.sub(leave_out, text)
