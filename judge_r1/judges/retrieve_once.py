"""Retrieves passages once, before the judge answers: the case file of a task is replaced by its best passages."""

from collections import defaultdict
from dataclasses import replace
from math import fsum

from judge_r1.core.verdicts import Evidence
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import BadJudge
from judge_r1.judges.rewritten import Rewrite
from judge_r1.judges.search import CaseSearcher

_RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""


def retrieve_once(searcher: CaseSearcher, k: int) -> Rewrite:
    """The rewrite that puts the `k` best passages of the case in the place of its context.

    The queries are the decision and each reasoning. Reciprocal rank fusion combines their results, so the order of the
    two reasonings does not matter. Passages are shown in the order of the case.
    """

    def rewrite(task: PairwiseTask) -> PairwiseTask:
        if task.case_id is None:
            raise BadJudge("retrieve searches the case of a pair, but these items have none: leave out retrieve")
        queries = [text for text in (task.decision, task.reasoning_a, task.reasoning_b) if text.strip()]
        ranked = searcher.search([(task.case_id, query) for query in queries], k)
        found: dict[int, Evidence] = {}
        parts: defaultdict[int, list[float]] = defaultdict(list)
        for passages in ranked:
            for rank, passage in enumerate(passages, 1):
                found.setdefault(passage.start, passage)
                parts[passage.start].append(1 / (_RRF + rank))
        scores = {start: fsum(values) for start, values in parts.items()}
        best = sorted(found, key=lambda start: (-scores[start], start))[:k]
        return replace(
            task, passages=tuple(found[start].model_copy(update={"score": scores[start]}) for start in sorted(best))
        )

    return rewrite
