"""Scores released judgements without a judge, by the release's rules."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from judge_r1.benchmarks.checklist.items import ChecklistEntry, aggregate_checklists
from judge_r1.benchmarks.hellobench.files import released_scores
from judge_r1.benchmarks.hellobench.gold import add_gold
from judge_r1.benchmarks.hellobench.options import HelloBenchOptions, parse_options
from judge_r1.benchmarks.hellobench.responses import chosen_texts, chosen_weights
from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.items import ItemResult, item_result
from judge_r1.core.tabular import Row
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, Verdict

_UNUSED = {"legacy_join": "changes what a judge reads, and --predictions runs none"}


def predictions_options(subset: str | None) -> HelloBenchOptions:
    """Raises: BadBenchmark for an option that has no effect on published judgements."""
    return parse_options(subset, _UNUSED)


def predictions(path: Path, file: Path, subset: str | None) -> Sequence[ItemResult]:
    """Scores released judgements, a results file of one task or the folder of one or several systems, by the release's
    rules (results/scripts/compute.py): a line with another number of scores, or a score outside [0, 1], is left out of
    S and counts as invalid."""
    options = replace(predictions_options(subset), responses=file)
    chosen = list(chosen_texts(path, options, chosen_weights(path, options)))
    entries = add_gold([one.entry for one in chosen], options, part=True)
    return [_published(entry, one.row) for entry, one in zip(entries, chosen, strict=True)]


def _published(entry: ChecklistEntry, row: Row) -> ItemResult:
    scores = released_scores(row, len(entry.checklist.criteria))
    verdict: Verdict = InvalidVerdict(reason="released_skipped")
    if scores is not None:
        verdict = ChecklistVerdict(scores={str(number): score for number, score in enumerate(scores)})
    vote = vote_of((0,), verdict)
    return item_result("published", entry.item, [vote], aggregate_checklists(entry.checklist, [vote]))
