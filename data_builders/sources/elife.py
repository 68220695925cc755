"""eLife: research articles with their published decision letters and reviews (domain `academic`).

One case per round of a decision letter, or per referee report of a reviewed preprint. The context is the article
without digest, assessment, reviews and replies. The reference is the essential points of the letter as numbered steps,
without form paragraphs; individual reviews are added only to a letter with fewer than `MIN_STEPS` points. The decision
is the sentence that states it, or the editors' assessment of a preprint. `meta.context_version` tells that a published
article is the version after the review, which may already contain what a point asks for.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import SourceError, corpus_folder, numbered, one_line, words
from data_builders.sources.jats import HREF, article_text, blocks, read_article, title_of
from data_builders.sources.review_steps import review_steps
from data_builders.sources.text_repair import Changes, changes_as_meta
from judge_r1.core.records import Case

FOLDER, DATA = "academic_elife", "xml"
LETTERS = ("decision-letter", "article-commentary")  # the second is the older name of the first
MIN_STEPS = 3
_VERSION = re.compile(r"(?P<article>.+)-v(?P<number>\d+)\.xml(?:\.gz)?")
_NOTE = re.compile(r"\[Editors?['’]? ?note", re.I)
_FORM = re.compile(
    r"eLife posts the editorial|In the interests of transparency|Decision letter after peer review|"
    r"Thank you for (?:choosing|sending|submitting|resubmitting)|The reviewers have discussed|"
    r"The Reviewing Editor (?:and|has)|Given the list of essential revisions|Below (?:you will find|we have compiled)|"
    r"In your response letter",
    re.I,
)
_REVIEWER = re.compile(r"(?:From )?(?:Reviewer|Referee|Expert) ?#?\d", re.I)
_POINT = re.compile(r"[*(]|\d{1,2}[.)]\s")
_DECIDED = re.compile(
    r"revised (?:submission|manuscript|version|article)|submit a revis|minor changes|action plan|regret to inform|"
    r"revisions? (?:that are |are )?(?:necessary|required)|(?:suitable|ready) for publication",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"(])")


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """At most `limit` cases, by article. `seed` has no effect."""
    folder = corpus_folder(path, "elife", FOLDER, DATA) / DATA
    files = sorted(file for file in folder.iterdir() if file.name.endswith((".xml", ".xml.gz")))
    if not files:
        raise SourceError(f"{folder} holds no article: expected JATS files named *.xml or *.xml.gz")
    latest = {_version(file)[0]: file for file in sorted(files, key=_version)}
    if len(latest) < len(files):
        skipped["elife: older version of an article"] += len(files) - len(latest)
    yield from islice((case for file in latest.values() for case in _cases(file, skipped)), limit)


def _version(file: Path) -> tuple[str, int]:
    match = _VERSION.fullmatch(file.name)
    return (match["article"], int(match["number"])) if match else (file.name.split(".")[0], 0)


def _cases(file: Path, skipped: Counter[str]) -> Iterator[Case]:
    """The cases of one article."""
    root = read_article(file)
    if reason := _no_article(root):
        skipped[f"elife: {reason}"] += 1
        return
    changes = Changes()
    context, article = article_text(root, changes), _article_id(root, file)
    found = 0
    for where, paragraphs, assessment, review_changes in _reviews(root):
        found += 1
        essential = essential_points(paragraphs)
        steps, dropped, joins = _steps(essential)
        if len(steps) < MIN_STEPS:
            essential = paragraphs
            steps, dropped, joins = _steps(essential)
        decision = assessment or decided(paragraphs)
        if len(steps) < MIN_STEPS or decision is None:
            skipped[f"elife: {'no decision stated' if len(steps) >= MIN_STEPS else 'review with too few points'}"] += 1
            continue
        yield Case.of(
            domain="academic",
            context=context,
            decision=decision,
            reference=numbered(steps),
            source=f"elife/{article}/{where}",
            license=_license(root, file),
            meta={
                "group": f"elife-{article}",
                "file": f"{DATA}/{file.name}",
                "context_version": "as reviewed" if assessment else "revised after the review",
                "dropped": dropped,
                "cut_words": sum(map(words, paragraphs)) - sum(map(words, essential)),
                **changes_as_meta(changes + review_changes + joins),
            },
        )
    if not found:
        skipped["elife: no decision letter or referee report"] += 1


def _no_article(root: ET.Element) -> str | None:
    """The reason why a file holds no usable research article, or None."""
    if root.get("article-type") != "research-article":
        return f"article of type {root.get('article-type')}"
    if title_of(root).upper().startswith("RETRACTED"):
        return "retracted article"
    body = root.find("body")
    return None if body is not None and next(blocks(body), None) else "article without a body"


def _article_id(root: ET.Element, file: Path) -> str:
    for element in root.findall("front/article-meta/article-id"):
        if element.get("pub-id-type") == "publisher-id" and element.text:
            return element.text.strip()
    raise SourceError(f"{file}: field front/article-meta/article-id[@pub-id-type='publisher-id'] is missing")


def _license(root: ET.Element, file: Path) -> str:
    license_ = root.find("front/article-meta/permissions/license")
    if license_ is None or not license_.get(HREF):
        raise SourceError(f"{file}: field front/article-meta/permissions/license has no xlink:href, the licence")
    return str(license_.get(HREF))


def _reviews(root: ET.Element) -> Iterator[tuple[str, list[str], str | None, Changes]]:
    """Each review: its location, its paragraphs, the editors' assessment if it is a report on a preprint, and how often
    markup was written in plain text."""
    parts = {part: part.find("body") for part in root.findall("sub-article")}
    changes = {part: Changes() for part in parts}
    texts = {part: list(blocks(body, changes[part])) if body is not None else [] for part, body in parts.items()}
    assessments = [texts[part] for part in parts if part.get("article-type") == "editor-report"]
    assessment = one_line(" ".join(assessments[0])) if assessments else ""
    for part, paragraphs in texts.items():
        where = part.get("id", "")
        if part.get("article-type") in LETTERS:
            for number, round_ in enumerate(rounds(paragraphs), 1):
                yield f"{where}-{number}", round_, None, changes[part]
        elif part.get("article-type") == "referee-report" and assessment:
            yield where, paragraphs, assessment, changes[part]


def rounds(paragraphs: list[str]) -> list[list[str]]:
    """The rounds of a letter, separated by the editors' bracketed notes, without rounds of form paragraphs only."""
    found: list[list[str]] = [[]]
    for paragraph in paragraphs:
        if _NOTE.match(paragraph):
            found.append([])
        else:
            found[-1].append(paragraph)
    return [round_ for round_ in found if any(not _FORM.match(paragraph) for paragraph in round_)]


def essential_points(paragraphs: list[str]) -> list[str]:
    """The points of the letter itself: all paragraphs before the first individual review."""
    first = next((at for at, paragraph in enumerate(paragraphs) if _REVIEWER.match(paragraph)), len(paragraphs))
    return paragraphs[:first]


def decided(paragraphs: list[str]) -> str | None:
    """The first sentence, before any point or individual review, that states the decision."""
    for paragraph in essential_points(paragraphs):
        if _POINT.match(paragraph):
            return None
        for sentence in _SENTENCE.split(paragraph):
            if _DECIDED.search(sentence):
                return sentence
    return None


def _steps(paragraphs: list[str]) -> tuple[list[str], int, Changes]:
    """The distinct steps of a review, the number of paragraphs dropped as form text or repetition, and the joins."""
    distinct = list(dict.fromkeys(paragraph for paragraph in paragraphs if not _FORM.match(paragraph)))
    nodes, joins = [{"ntype": "p", "content": paragraph} for paragraph in distinct], Changes()
    steps, dropped = review_steps(nodes, "review", joins)
    return steps, dropped + len(paragraphs) - len(distinct), joins


SOURCES.register("elife")(Source(read=read, help="eLife articles with decision letters and referee reports (academic)"))
