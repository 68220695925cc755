"""MA: which of two meta-analysis reports holds the insights better? Eight annotators, three pairs a paper."""

import re
from pathlib import Path
from typing import Literal

from judge_r1.benchmarks.longjudgebench.files import GROUND_TRUTH, Line, lines, outputs, references
from judge_r1.benchmarks.longjudgebench.scope import Scope
from judge_r1.benchmarks.longjudgebench.subset import Query

DATASET = "ma"
_HEADER = re.compile(r"\A# [^\n]*\n+(?:(?:\*\*[^\n]*|---)\n+)*")
"""The title, which is the system's, and the lines under it that name paper, model, retriever and date."""


class Gold(Line):
    paper_id: str
    paper_title: str
    preferred: Literal["A", "B", "tie"]
    mean_rating: float
    system_a: str
    system_b: str


def read(root: Path, scope: Scope) -> list[Query]:
    """`scope.stripped` takes the header off each report: by it the system can be told."""
    shown, known = outputs(root, DATASET) or {}, references(root, DATASET)
    queries = []
    for gold in lines(root / GROUND_TRUTH / "ma_gt.jsonl", Gold):
        output = shown.get(gold.id)
        texts = output.by_system if output else {}
        systems = (gold.system_a, gold.system_b)
        queries.append(
            Query(
                dataset=DATASET,
                column="MA",
                query_id=gold.id,
                cluster_id=gold.paper_id,
                instruction=output.instruction if output else gold.paper_title,
                systems=systems,
                ids=(gold.id, gold.id),
                texts=tuple(_report(texts.get(system), scope) for system in systems),
                gold=gold.preferred,
                reference=known.get(f"paper_{gold.paper_id}"),
                rating=gold.mean_rating,
                first=gold.system_a,
            )
        )
    return queries


def _report(text: str | None, scope: Scope) -> str | None:
    return _HEADER.sub("", text) if text is not None and scope.stripped else text
