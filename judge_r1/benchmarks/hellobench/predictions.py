"""Scores released judgements without a judge, by the release's rules."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from judge_r1.benchmarks.checklist_items import aggregate_checklists
from judge_r1.benchmarks.hellobench.files import Response, released_scores
from judge_r1.benchmarks.hellobench.options import parse_options
from judge_r1.benchmarks.hellobench.responses import answered, chosen_weights, response_folders, weighted_checklist
from judge_r1.core.checklist import Checklist
from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, Verdict


def predictions(path: Path, file: Path, subset: str | None) -> Sequence[ItemResult]:
    """Scores released judgements, a results file of one task or the folder of one system, by the release's rules
    (results/scripts/compute.py): a line with another number of scores, or a score outside [0, 1], is left out of S and
    counts as invalid."""
    options = replace(parse_options(subset), responses=file)
    weights = chosen_weights(path, options)
    results = []
    for system, folder in response_folders(path, options).items():
        for response, instruction in answered(path, folder, options):
            checklist = weighted_checklist(instruction, weights)
            item_id = f"{system}/{response.stem}/{response.id}"
            results.append(_published(item_id, response, checklist))
    return results


def _published(item_id: str, response: Response, checklist: Checklist) -> ItemResult:
    scores = released_scores(response.row, len(checklist.criteria))
    verdict: Verdict = InvalidVerdict(reason="released_skipped")
    if scores is not None:
        verdict = ChecklistVerdict(scores={str(number): score for number, score in enumerate(scores)})
    vote = Vote(order=(0,), sample=0, member=0, verdict=verdict, ended="answer", searches=0)
    aggregated = aggregate_checklists(checklist, [vote])
    return ItemResult(
        judge="published",
        item_id=item_id,
        cluster_id=response.id,
        group=response.stem,
        gold={"scores": None, "overall": None},
        verdict=aggregated.verdict,
        score=aggregated.score,
        votes=(vote,),
    )
