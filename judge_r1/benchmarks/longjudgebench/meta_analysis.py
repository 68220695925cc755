"""MA: pairs of meta-analysis reports compared on their insights. Eight annotators, three pairs per paper."""

import re
from pathlib import Path
from typing import Literal

from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench.answer_parsers import Values, word
from judge_r1.benchmarks.longjudgebench.query import GROUND_TRUTH, Line, Query, lines, outputs, references
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.verdicts import PairwiseVerdict, Verdict

DATASET = "ma"
_HEADER = re.compile(r"\A# [^\n]*\n+(?:(?:\*\*[^\n]*|---)\n+)*")
"""The system's title and the lines below it that name the paper, model, retriever and date."""


class PreferredReport(Line):
    paper_id: str
    paper_title: str
    preferred: Literal["A", "B", "tie"]
    mean_rating: float
    system_a: str
    system_b: str


def read(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per pair. `options.stripped` removes the header of each report, which identifies the system."""
    shown, known = outputs(root, DATASET) or {}, references(root, DATASET)
    queries = []
    for gold in lines(root / GROUND_TRUTH / "ma_gt.jsonl", PreferredReport):
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
                texts=tuple(_report(texts.get(system), options) for system in systems),
                gold=gold.preferred,
                reference=known.get(f"paper_{gold.paper_id}"),
                rating=gold.mean_rating,
                first=gold.system_a,
            )
        )
    return queries


def _report(text: str | None, options: SubsetOptions) -> str | None:
    return _HEADER.sub("", text) if text is not None and options.stripped else text


ANSWER_KEYS: tuple[str, ...] = ("preferred_insights_consistency",)
"""Keys of an answer's JSON object."""


def read_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    return PairwiseVerdict.model_validate({"winner": word(values, "preferred_insights_consistency", "A", "B", "tie")})
