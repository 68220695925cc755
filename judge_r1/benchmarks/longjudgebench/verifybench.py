"""VerifyBench-Hard: is one long solution correct? (label accuracy)"""

from pathlib import Path

from judge_r1.benchmarks.longjudgebench.files import GROUND_TRUTH, Line, lines, outputs, references
from judge_r1.benchmarks.longjudgebench.scope import Scope
from judge_r1.benchmarks.longjudgebench.subset import Query

DATASET = "verify_bench_hard"


class Gold(Line):
    gold_correct: bool


def read(root: Path, scope: Scope) -> list[Query]:
    shown, known = outputs(root, DATASET) or {}, references(root, DATASET)
    queries = []
    for gold in lines(root / GROUND_TRUTH / f"{DATASET}_gt.jsonl", Gold):
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
