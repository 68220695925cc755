"""F1000RD: open peer reviews of scientific papers (domain `academic`).

One case per review. The context is version 1 of the paper, the one reviewed, without reference list and code listings.
The reference is the review as numbered steps, without form text and bibliography. The decision is the recommendation.
Reviews are in separate files, so none can enter a context. `meta` counts what was left out or written otherwise.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import (
    SourceError,
    clean,
    corpus_folder,
    numbered,
    one_line,
    read_json,
    take,
    words,
)
from data_builders.sources.jats import table_lines
from data_builders.sources.jats_inline import inline_text
from data_builders.sources.review_steps import review_steps
from data_builders.sources.text_repair import CITATIONS, Changes, changes_as_meta, repaired
from judge_r1.core.records import Case

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


FOLDER, DATA = "academic_f1000rd", "data/itg"
CORPUS_LICENSE = "CC BY-SA 4.0 (F1000RD)"
RECOMMENDATIONS = ("approve", "approve-with-reservations", "reject")
_MARKUP_NODES = ("table-wrap", "boxed-text", "supplementary-material")
_LEFT_OUT = ("ref", "preformat")


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """At most `limit` cases, by paper and review. `seed` has no effect."""
    folder = corpus_folder(path, "f1000rd", FOLDER, DATA) / DATA
    papers = sorted(paper for paper in folder.iterdir() if paper.is_dir())
    if not papers:
        raise SourceError(f"{folder} holds no paper: expected folders with v1.json and reviews/")
    yield from islice((case for paper in papers for case in _cases(paper, skipped)), limit)


def _cases(folder: Path, skipped: Counter[str]) -> Iterator[Case]:
    """The cases of one paper."""
    file = next((f for f in (folder / "v1.json.gz", folder / "v1.json") if f.exists()), None)
    if file is None:
        raise SourceError(f"{folder}: file v1.json(.gz) is missing")
    paper = read_json(file)
    changes = Changes()
    context, left_out = paper_text(paper, str(file), changes)
    reviews = sorted(f for f in folder.glob("reviews/*") if f.name.endswith((".json", ".json.gz")))
    if not reviews:
        skipped["f1000rd: paper without a review"] += 1
    for review_file in reviews:
        where = str(review_file)
        review = read_json(review_file)
        own_changes = changes.copy()
        steps, dropped = review_steps(take(review, "nodes", list, where), where, own_changes)
        steps = [repaired(step, own_changes) for step in steps]
        recommendation = take(review, "meta.recommendation", str, where)
        if recommendation and recommendation not in RECOMMENDATIONS:
            raise SourceError(
                f"{where}: field meta.recommendation must be one of {', '.join(RECOMMENDATIONS)}, "
                f"not {recommendation!r}"
            )
        parts = {"paper without text": context, "review without text": steps, "no recommendation": recommendation}
        if reason := next((reason for reason, part in parts.items() if not part), None):
            skipped[f"f1000rd: {reason}"] += 1
            continue
        review_id = review_file.name.split(".")[0]
        yield Case.of(
            domain="academic",
            context=context,
            decision=recommendation,
            reference=numbered(steps),
            source=f"f1000rd/{folder.name}/{review_id}",
            license=f"{CORPUS_LICENSE}; paper {take(paper, 'meta.license', str, str(file))}; "
            f"review {take(review, 'meta.license', str, where)}",
            meta={
                "group": folder.name,
                "file": f"{folder.name}/reviews/{review_file.name}",
                "doi": take(paper, "meta.doi", str, str(file)),
                "cut_words": left_out,
                "dropped": dropped,
                **changes_as_meta(own_changes),
            },
        )


def paper_text(paper: Any, where: str, changes: Changes) -> tuple[str, int]:
    """The paper's text in reading order, and the number of words of references and listings left out."""
    blocks: list[str] = []
    label, left_out, linked = "", 0, linked_references(paper)
    for number, node in enumerate(take(paper, "nodes", list, where)):
        at = f"{where}, node {number}"
        kind, content = take(node, "ntype", str, at), clean(take(node, "content", str, at))
        if kind in _LEFT_OUT:
            left_out += words(content)
        elif kind == "label":  # "Figure 1.", joined to its caption
            label = content
        else:
            if kind in _MARKUP_NODES:
                block = markup_text(content, at, changes)
            elif kind == "fig":
                block = one_line(str(take(node, "meta", dict, at).get("caption") or ""))
            else:
                block = without_citations(content, linked.get(str(node.get("ix"))), changes)
            blocks.append(f"{label} {block}".strip())
            label = ""
    return repaired("\n\n".join(block for block in [*blocks, label] if block), changes), left_out


def markup_text(xml: str, where: str, changes: Changes) -> str:
    """The text of an XML fragment: one line per title, paragraph and table row, cells separated by `|`."""
    try:
        root = ET.fromstring(xml)
    except ET.ParseError as error:
        raise SourceError(f"{where}: field content is not valid XML: {error}") from None
    lines: list[str] = []

    def visit(element: ET.Element) -> None:
        if element.tag in ("table", "tr"):
            lines.extend(table_lines(element, changes))
        elif element.tag in ("title", "p", "label"):
            lines.append(one_line(inline_text(element, changes)))
        else:
            for child in element:
                visit(child)

    visit(root)
    return "\n".join(line for line in lines if line.strip(" |"))


SOURCES.register("f1000rd")(Source(read=read, help="F1000Research papers with their open reviews (academic)"))
