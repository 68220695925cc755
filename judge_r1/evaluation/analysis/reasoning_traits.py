"""Traits of a judge's reasoning: named principles and quoted evidence (supplementary Table 15)."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import Trajectory, evidence_of
from judge_r1.episode.prompts import principles
from judge_r1.episode.tags import segments, unescape_tags
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.analysis.output import measured, measured_cell
from judge_r1.evaluation.report.tables import NONE, Grid, share
from retrieval.passages import sentences
from retrieval.words import terms

# "P2"
_CODE = re.compile(r"\bP\s?([1-6])\b")
# "principle 2", "principle no. 2", "principles 2, 4 and P5"
_NUMBERED = re.compile(
    r"\bprinciples?\s*(?:no\.?\s*|number\s*|#\s*)?((?:P?[1-6]\b(?:\s*(?:,|and|&|or)\s*)*)+)", re.IGNORECASE
)
# A number after a word at the end of a block: "the dates differ 2."
_TRAILING = re.compile(r"[a-z]\s+([1-6])\W*$")
# "Factual Consistency", with "&" or "and" where a name has "and"
_NAMES = [
    (p.number, re.compile(r"\b" + re.escape(p.name).replace(r"\ and\ ", r"\s*(?:and|&)\s*") + r"\b", re.I))
    for p in PRINCIPLES
]


def named_principles(blocks: Sequence[str], style: str) -> frozenset[int]:
    """The numbers (1-6) of the principles that a reasoning mentions.

    `blocks` are the text blocks of the reasoning and `style` is the prompt style.

    A mention is a code (P2), a number (principle 2; principles 2 and 4) or a full name in any case ("Factual
    Consistency"). Some prompt styles (`compact`) give the principles numbers but not their names. There, a number after
    a word at the end of a block ("differs 2") is also a mention.
    """
    mentioned: set[int] = set()
    numbers_only = PRINCIPLES[0].name not in principles(style)
    for block in blocks:
        mentioned |= {int(number) for number in _CODE.findall(block)}
        mentioned |= {int(number) for numbers in _NUMBERED.findall(block) for number in re.findall("[1-6]", numbers)}
        mentioned |= {number for number, name in _NAMES if name.search(block)}
        if numbers_only and (trailing := _TRAILING.search(block)):
            mentioned.add(int(trailing[1]))
    return frozenset(mentioned)


RUN = 5
"""The length of an exact quotation in words. A shorter sentence of at least `LEAST` words counts as a whole."""
LEAST = 3
WINDOW, SAME = 8, 6
"""A near quotation: `WINDOW` consecutive words of which `SAME` are at the same positions in the source."""
Words = Sequence[str]


def units(source: str) -> list[Words]:
    """The quotable units of a text: all its words, and its sentences of `LEAST` to `RUN` - 1 words."""
    short = [terms(source[start:end]) for start, end in sentences(source)]
    return [terms(source), *(sentence for sentence in short if LEAST <= len(sentence) < RUN)]


def quotes(text: Words, source: Sequence[Words]) -> bool:
    """True if `text` quotes one of the units of a source, exactly or nearly.

    Words are `retrieval.words.terms`, so punctuation and line breaks do not count. A quotation is a shift d
    with t[i] = s[i + d], for the words t of the text and s of a unit, for RUN consecutive words i (all words of a
    shorter unit) or for SAME of WINDOW consecutive words. Inserted and omitted words end a quotation; replaced words do
    not end a near quotation.
    """
    return any(True for _ in quotations(text, source))


def quotations(text: Words, source: Sequence[Words]) -> Iterator[Words]:
    """The parts of `text` that quote a source: `RUN` words, a short sentence, or `WINDOW` words that nearly match."""
    for unit in source:
        run = min(RUN, len(unit))
        for where in _shifts(text, unit) if run >= LEAST else ():
            for count, within in ((run, run), (SAME, WINDOW)):
                for first, last in zip(where, where[count - 1 :], strict=False):
                    if last - first < within:
                        yield text[first : first + within]


def holds(text: Words, quotation: Words) -> bool:
    """True if `text` contains the quotation: all its words in a row, or `SAME` of `WINDOW` at the same positions."""
    wanted = len(quotation) if len(quotation) <= RUN else SAME
    return any(len(where) >= wanted for where in _shifts(quotation, text))


def _shifts(text: Words, unit: Words) -> Iterable[list[int]]:
    """For each shift, the ascending positions of `text` whose word is the same in `unit`."""
    positions: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(unit):
        positions[word].append(at)
    equal: dict[int, list[int]] = defaultdict(list)
    for at, word in enumerate(text):
        for position in positions.get(word, ()):
            equal[position - at].append(at)
    return equal.values()


PAPER = (("Qwen3-8B", 0.496, 1.0, 0.956), ("GRPO-8B", 0.574, 1.0, 0.964))
"""Table 15: accuracy, Principle Naming and Evidence Citation, on out-of-distribution pairs without a case corpus."""
NOTE = (
    "Shares of valid answers, by their reasoning (thoughts and explanation, not the answer's labels). Any: names a "
    "principle; right: names one that the pair violates; named: mean number of named principles (naming all six "
    "always includes the right one). Case: quotes the case, 5 words in a row or 6 of 8; own: quotes a part of the case "
    "that neither candidate contains; passage: quotes a passage that a search showed. 95 % intervals, clustered. "
    "Accuracy counts invalid answers as wrong."
)

_ANSWER = re.compile(
    r'\{\s*"(?:comparison|violated_principles)"|^\s*[AB]\s*[<>]\s*[AB]\b', re.IGNORECASE | re.MULTILINE
)
"""The start of an answer without tags."""


class Traits(NamedTuple):
    """One valid vote. `right` is None for an item without labels, `case` for one without a case; `own`: it
    quotes a part of the case that neither candidate contains."""

    cluster_id: str
    named: frozenset[int]
    right: bool | None
    case: bool | None
    own: bool | None
    passage: bool


def reasoning_of(trajectory: Trajectory) -> list[str]:
    """The blocks of a reasoning: thoughts, text between tags and the explanation, without queries and the answer."""
    parts = [part for turn in trajectory.turns for part in segments(turn.text)]
    bare = not any(part.kind == "answer" for part in parts)
    blocks = [
        _ANSWER.split(part.text, maxsplit=1)[0] if bare and part.kind == "text" else part.text
        for part in parts
        if part.kind in ("think", "text")
    ]
    judgment = trajectory.judgment
    if judgment is not None and judgment.explanation:
        blocks.append(judgment.explanation)
    return [block for block in blocks if block.strip()]


def traits(judged: Judged) -> list[Traits]:
    """The traits of the valid votes of a judge."""
    found = []
    for item in judged.benchmark.items:
        for stored in judged.results.votes[item.item_id]:
            task = judged.benchmark.task(item, stored.order)
            if stored.trajectory.judgment is None or not stored.trajectory.turns or not isinstance(task, PairwiseTask):
                continue
            blocks = reasoning_of(stored.trajectory)
            style = str(judged.members[stored.member].settings.get("prompt", "standard"))
            block_words = [terms(unescape_tags(block)) for block in blocks]
            named = named_principles(blocks, style)
            pair = judged.benchmark.labels.get(item.item_id)
            case, own = _cites(block_words, task) if task.context else (None, None)
            shown = [unit for passage in evidence_of(stored.trajectory.turns) for unit in units(passage.text)]
            found.append(
                Traits(
                    item.cluster_id,
                    named,
                    None if pair is None else bool(named & set(pair.violated)),
                    case,
                    own,
                    any(quotes(block, shown) for block in block_words),
                )
            )
    return found


def reasoning_row(judged: Judged) -> dict[str, Any]:
    """The shares of one judge, each {value, ci95} or None if unknown.

    Raises:
        AnalysisError: No valid answer has a text.
    """
    found = traits(judged)
    votes = sum(len(result.votes) for result in judged.results.items)
    if not found:
        raise AnalysisError(f"judge {judged.name!r} has no valid answer with text: there is no reasoning to analyse")
    results = judged.results.items

    def known(trait_of: Callable[[Traits], bool | None]) -> dict[str, Any] | None:
        values = [(float(value), trait.cluster_id) for trait in found if (value := trait_of(trait)) is not None]
        return measured([value for value, _ in values], [cluster for _, cluster in values])

    return {
        "games": votes,
        "valid": len(found),
        "accuracy": measured([result.score for result in results], [result.cluster_id for result in results]),
        "any": known(lambda trait: bool(trait.named)),
        "right": known(lambda trait: trait.right),
        "named": fmean(len(trait.named) for trait in found),
        "case": known(lambda trait: trait.case),
        "own": known(lambda trait: trait.own),
        "passage": known(lambda trait: trait.passage),
    }


def reasoning_grid(rows: Mapping[str, Mapping[str, Any]]) -> Grid:
    columns = ("judge", "valid", "accuracy", "any", "right", "named", "case", "own", "passage")
    cells = tuple(
        (
            name,
            f"{row['valid']}/{row['games']}",
            *(share(row[key]) if key == "named" else measured_cell(row[key]) for key in columns[2:]),
        )
        for name, row in rows.items()
    )
    paper = tuple(
        (f"{name} (paper)", NONE, share(accuracy), share(any_), NONE, NONE, share(case), NONE, NONE)
        for name, accuracy, any_, case in PAPER
    )
    return Grid("Reasoning (supplementary Table 15)", NOTE, columns, (*cells, *paper))


def _cites(blocks: Sequence[Sequence[str]], task: PairwiseTask) -> tuple[bool, bool]:
    """Whether a block quotes the case, and whether one quotes a part that neither candidate contains.

    The second excludes a judge that only repeats the quotations of a candidate.
    """
    context = units(task.context)
    candidates = [terms(task.reasoning_a), terms(task.reasoning_b)]
    found = [quotation for block in blocks for quotation in quotations(block, context)]
    return bool(found), any(not any(holds(text, quotation) for text in candidates) for quotation in found)
