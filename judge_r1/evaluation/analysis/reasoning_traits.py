"""The reasoning of a judge before its decision (supplementary Table 15): principles named, evidence quoted."""

import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from judge_r1.core.records import Trajectory, evidence_of
from judge_r1.episode.segments import segments
from judge_r1.episode.tags import unescape_tags
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError, Judged
from judge_r1.evaluation.analysis.principle_mentions import named_principles
from judge_r1.evaluation.analysis.quote_detection import holds, quotations, quotes, units
from judge_r1.evaluation.report.tables import NONE, Estimate, Grid, share
from judge_r1.statistics.intervals import clustered_mean_ci
from retrieval.bm25 import words

PAPER = (("Qwen3-8B", 0.496, 1.0, 0.956), ("GRPO-8B", 0.574, 1.0, 0.964))
"""Table 15: accuracy, Principle Naming and Evidence Citation, on out-of-distribution pairs without a case corpus."""
NOTE = (
    "Of valid answers, the share whose reasoning (thoughts and explanation, not the answer's labels) ... any, right: "
    "names a principle at all, one that the pair violates; named: principles named, mean (six would always hold the "
    "right one). Case: quotes the case, 5 words in a row or 6 of 8; own: quotes it where neither reasoning reads the "
    "same; passage: quotes a passage that a search showed. 95 % intervals, clustered. Accuracy counts invalid answers"
    " as wrong."
)

_ANSWER = re.compile(
    r'\{\s*"(?:comparison|violated_principles)"|^\s*[AB]\s*[<>]\s*[AB]\b', re.IGNORECASE | re.MULTILINE
)
"""Where an answer without tags begins."""


class Traits(NamedTuple):
    """One valid vote. `right` is None where the item has no principles, `case` where it has no case; `own` asks for a
    quotation of the case that is not in either candidate."""

    cluster_id: str
    named: frozenset[int]
    right: bool | None
    case: bool | None
    own: bool | None
    passage: bool


def reasoning_of(trajectory: Trajectory) -> list[str]:
    """The blocks of a reasoning: thoughts, text between blocks and the explanation; never queries or the answer."""
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
    """The valid votes of a judge."""
    found = []
    for item in judged.suite.items:
        for trace in judged.results.traces[item.item_id]:
            question = judged.suite.task(item, trace.order)
            if (
                trace.trajectory.judgment is None
                or not trace.trajectory.turns
                or not isinstance(question, PairwiseTask)
            ):
                continue
            blocks = reasoning_of(trace.trajectory)
            style = str(judged.members[trace.member].settings.get("prompt", "standard"))
            said = [words(unescape_tags(block)) for block in blocks]
            named = named_principles(blocks, style)
            pair = judged.suite.labels.get(item.item_id)
            case, own = _cites(said, question) if question.context else (None, None)
            shown = [unit for passage in evidence_of(trace.trajectory.turns) for unit in units(passage.text)]
            found.append(
                Traits(
                    item.cluster_id,
                    named,
                    None if pair is None else bool(named & set(pair.violated)),
                    case,
                    own,
                    any(quotes(block, shown) for block in said),
                )
            )
    return found


def reasoning_row(judged: Judged) -> dict[str, Any]:
    """The shares of one judge, each as {value, ci95} or None where nothing is known. Raises: AnalysisError."""
    found = traits(judged)
    votes = sum(len(result.votes) for result in judged.results.items)
    if not found:
        raise AnalysisError(f"row {judged.name!r} has no valid answer with text: there is no reasoning to look into")
    credits = judged.credits
    accuracy = _measured([credits[i] for i in credits], [judged.clusters[i] for i in credits])
    clusters = [trait.cluster_id for trait in found]

    def measured(values: Sequence[bool | None]) -> dict[str, Any] | None:
        known = [(float(v), c) for v, c in zip(values, clusters, strict=True) if v is not None]
        return _measured([v for v, _ in known], [c for _, c in known]) if known else None

    return {
        "games": votes,
        "valid": len(found),
        "accuracy": accuracy,
        "any": measured([bool(trait.named) for trait in found]),
        "right": measured([trait.right for trait in found]),
        "named": fmean(len(trait.named) for trait in found),
        "case": measured([trait.case for trait in found]),
        "own": measured([trait.own for trait in found]),
        "passage": measured([trait.passage for trait in found]),
    }


def reasoning_grid(rows: Mapping[str, Mapping[str, Any]]) -> Grid:
    def cell(part: Mapping[str, Any] | None) -> str | Estimate:
        return NONE if part is None else Estimate(part["value"], *part["ci95"])

    measures = ("any", "right", "named", "case", "own", "passage")
    cells = tuple(
        (
            name,
            f"{row['valid']}/{row['games']}",
            cell(row["accuracy"]),
            *(share(row[key]) if key == "named" else cell(row[key]) for key in measures),
        )
        for name, row in rows.items()
    )
    paper = tuple(
        (f"{name} (paper)", NONE, share(accuracy), share(any_), NONE, NONE, share(case), NONE, NONE)
        for name, accuracy, any_, case in PAPER
    )
    columns = ("judge", "valid", "accuracy", *measures)
    return Grid("Reasoning (supplementary Table 15)", NOTE, columns, (*cells, *paper))


def _cites(said: Sequence[Sequence[str]], question: PairwiseTask) -> tuple[bool, bool]:
    """Does a block quote the case at all, and does one quote it where no candidate reads the same?

    The second asks for a quotation that neither candidate holds: a judge that repeats a reasoning repeats whatever the
    reasoning took from the case.
    """
    context = units(question.context)
    candidates = [words(question.reasoning_a), words(question.reasoning_b)]
    found = [stretch for block in said for stretch in quotations(block, context)]
    return bool(found), any(not any(holds(text, stretch) for text in candidates) for stretch in found)


def _measured(values: Sequence[float], clusters: Sequence[str]) -> dict[str, Any]:
    return {"value": fmean(values), "ci95": list(clustered_mean_ci(values, clusters))}
