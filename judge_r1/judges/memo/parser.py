"""Parses answers: scores, tagged issues and comparisons by the name of the metric, never by their position."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from judge_r1.core.memory import Issues, Scores
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.episode.answer_text import answer_text
from judge_r1.judges.memo.metrics import Metric

_NUMBER = (
    r"\[?(\d+(?:[.,]\d+)?)\]?(?:\s*/\s*5(?:\.0)?)?"
    r"(?![\d.,]*\d|\s*%|\s*[-–—]\s*\d|\s*/\s*(?!5(?:\.0)?\b)\d|\s+(?:to|or|out of(?! 5\b)) \d)"
)
"""A score. A range, a percentage and a score on another scale are none: `[1-5]`, `3-4`, `4%`, `4/10`."""
_STYLES = (
    r"\*\*\s*FINAL\s+{m}\s+Score\s*:\s*\*\*\s*{n}",
    r"\*\*\s*FINAL\s+{m}\s+Score\s*\*\*\s*:\s*\**\s*{n}",
    r"\*\*\s*FINAL\s+{m}\s+Score\s*:\s*{n}",
    r"FINAL\s+{m}\s+Score\s*:\s*\**\s*{n}",
    r"FINAL\s+{m}\s+Score\s*(?:is|=|-)\s*{n}",
    r"FINAL\s+{m}\s*:\s*\**\s*{n}",
    r"\*\*\s*{m}\s+Score\s*:?\s*\*\*\s*:?\s*{n}",
    r"\b{m}\s+(?:Score|Rating)\s*:\s*\**\s*{n}",
    r"\b{m}\s+(?:Score|Rating)\s*(?:is|=|-)\s*{n}",
    r"\*\*\s*{m}\s*:?\s*\*\*\s*:?\s*{n}\s*(?:[.*]|$)",
    r"^\W*{m}\s*:\s*{n}\W*$",
)
_FINAL_STYLES = 6
"""The forms of a score: first those of a final one, which count before those of a section. The last one counts."""
_TAG = re.compile(r"^[ \t]*[-*•][ \t]*\**(\[[A-Z][A-Z /_-]*\])\**:?[ \t]*", re.MULTILINE)
_BLOCK_END = re.compile(r"^\W*(?:\d+\)|\**FINAL\b)", re.MULTILINE | re.IGNORECASE)
LAYOUT_TAG = "[TAG]"
"""The tag of the layout in the prompt: an answer that repeats it names no problem."""
LOWEST, HIGHEST = 1.0, 5.0
_BETTER = re.compile(r"FINAL\s+Better\W*\b(?:(A)|(B)|tie)\b(?!\s*(?:\||/|,?\s*or\b))", re.IGNORECASE)
"""An answer that repeats the alternatives of the prompt, `A | B | tie`, chooses none."""
_WORSE_IN = re.compile(r"FINAL\s+Worse\s+In\W*([^\n]*)", re.IGNORECASE)


class Evaluation(NamedTuple):
    """What an answer says about each metric: a score, None where there is none, and issues by tag."""

    scores: Scores
    issues: Issues


def parse_evaluation(answer: str, metrics: Sequence[Metric]) -> Evaluation:
    """Scores outside of 1 to 5 count as missing. Thoughts are left out."""
    text = visible(answer)
    titles = [metric.title for metric in metrics]
    return Evaluation(
        {metric.name: _score(_own(text, metric.title, titles), metric.title) for metric in metrics},
        {metric.name: _issues(text, metric.title, titles) for metric in metrics},
    )


def parse_comparison(answer: str, metrics: Sequence[Metric]) -> tuple[PairwiseVerdict | None, list[str]]:
    """The last verdict on two documents, None where there is none, and the metrics in which the other one is worse."""
    text = visible(answer)
    if not (found := list(_BETTER.finditer(text))):
        return None, []
    match = found[-1]
    listed = [named[1] for named in _WORSE_IN.finditer(text)][-1:]
    titles = [metric.title for metric in metrics]
    worse_in = [
        metric.name
        for metric in metrics
        if re.search(_flexible(metric.title), _own("".join(listed), metric.title, titles), re.IGNORECASE)
    ]
    return PairwiseVerdict(winner="A" if match[1] else "B" if match[2] else "tie"), worse_in


def visible(answer: str) -> str:
    """The answer without thoughts, with single spaces."""
    text = re.sub(r"[ \t]+", " ", answer_text(answer))
    return re.sub(r" *\n *", "\n", text).strip()


def _own(text: str, title: str, titles: Sequence[str]) -> str:
    """The text with the titles hidden that contain this one, so that `Style quality` gives no score to `Quality`.
    Positions stay."""
    for other in titles:
        if other != title and title.lower() in other.lower():
            text = re.sub(_flexible(other), lambda match: "\0" * len(match[0]), text, flags=re.IGNORECASE)
    return text


def _score(text: str, title: str) -> float | None:
    patterns = _score_patterns(title)
    for group in (patterns[:_FINAL_STYLES], patterns[_FINAL_STYLES:]):
        matches = sorted((match for form in group for match in form.finditer(text)), key=lambda match: match.end(1))
        if matches:
            values = [float(match[1].replace(",", ".")) for match in matches]
            return next((value for value in reversed(values) if LOWEST <= value <= HIGHEST), None)
    return None


@cache
def _score_patterns(title: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(style.format(m=_flexible(title), n=_NUMBER), re.IGNORECASE | re.MULTILINE) for style in _STYLES
    )


@cache
def _header(title: str) -> re.Pattern[str]:
    return re.compile(rf"{_flexible(title)} Issues?\**\s*(?:\([^)\n]*\))?\s*:\**", re.IGNORECASE)


def _flexible(title: str) -> str:
    return r"\s+".join(re.escape(word) for word in title.split())


def _issues(text: str, title: str, titles: Sequence[str]) -> dict[str, tuple[str, ...]]:
    header = _header(title).search(_own(text, title, titles))
    if header is None:
        return {}
    ends = [len(text)]
    if found := _BLOCK_END.search(text, header.end()):
        ends.append(found.start())
    others = [other for other in titles if other != title]
    ends += [match.start() for other in others if (match := _header(other).search(text, header.end()))]
    block = text[header.end() : min(ends)]
    tags = list(_TAG.finditer(block))
    issues: dict[str, tuple[str, ...]] = {}
    for position, match in enumerate(tags):
        end = tags[position + 1].start() if position + 1 < len(tags) else None
        description = " ".join(block[match.end() : end].split())
        if description and match[1] != LAYOUT_TAG:
            issues[match[1]] = (*issues.get(match[1], ()), description)
    return issues
