"""VerifyBench-Hard: judges verify one long solution; the metric is label accuracy."""

from pathlib import Path

from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, Values, number, word
from judge_r1.benchmarks.longjudgebench.query import GROUND_TRUTH, Line, Query, lines, outputs, references
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.verdicts import ScoresVerdict, Verdict

DATASET = "verify_bench_hard"


class SolutionLabel(Line):
    gold_correct: bool


def read(root: Path, options: SubsetOptions) -> list[Query]:
    shown, known = outputs(root, DATASET) or {}, references(root, DATASET)
    queries = []
    for gold in lines(root / GROUND_TRUTH / f"{DATASET}_gt.jsonl", SolutionLabel):
        output = shown.get(gold.id)
        responses = output.responses if output else ()
        queries.append(
            Query(
                dataset=DATASET,
                column="Verify",
                query_id=gold.id,
                cluster_id=gold.id.partition("_")[0],
                instruction=output.instruction if output else "",
                systems=(responses[0].model if responses else gold.id,),
                ids=(gold.id,),
                texts=(responses[0].content if responses else None,),
                gold="Yes" if gold.gold_correct else "No",
                reference=known.get(gold.id),
            )
        )
    return queries


ANSWER_KEYS: tuple[str, ...] = ("verdict", "score")
"""Keys of an answer's JSON object."""


def read_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    """1 for Yes, 0 for No. The score and the verdict must agree; the release uses only the score."""
    labels = {1.0 if word(values, "verdict", "Yes", "No") == "Yes" else 0.0} if "verdict" in values else set()
    if "score" in values:
        score = number(values, "score", 1)
        if score not in (0, 1):
            raise UnreadableAnswer("bad_value")
        labels = {score} if options.paper else labels | {score}
    if not labels:
        raise UnreadableAnswer("missing_field")
    if len(labels) > 1:
        raise UnreadableAnswer("contradiction")
    return ScoresVerdict(scores=(labels.pop(),))
