"""WP-Bench: which of two pieces of creative writing is better? The files hold the better one first."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from judge_r1.benchmarks.base import placed
from judge_r1.benchmarks.longjudgebench.files import GROUND_TRUTH, STANDARDIZED, Line, Output, lines
from judge_r1.benchmarks.longjudgebench.scope import Scope
from judge_r1.benchmarks.longjudgebench.subset import Query

DATASET = "wp_bench"


class Preference(BaseModel):
    chosen_model: str
    rejected_model: str


class Gold(Line):
    """The id is that of the prompt, and repeats: a pair is told by it and its two models."""

    instruction: str
    preference: Preference
    scores: Mapping[str, int]


class Tagged(Output):
    meta: Mapping[str, object] = {}


def read(root: Path, scope: Scope) -> list[Query]:
    """Candidates are placed by hash; `scope.paper` leaves the better one first. Both orders are judged in either."""
    path = root / STANDARDIZED / f"{DATASET}.jsonl"
    shown = list(lines(path, Tagged, unique=False)) if path.exists() else []
    by_pair = {(line.id, frozenset(line.by_system)): line for line in shown}
    queries = []
    for gold in lines(root / GROUND_TRUTH / "wp_bench_gt.jsonl", Gold, unique=False):
        chosen, rejected = gold.preference.chosen_model, gold.preference.rejected_model
        query_id = f"{gold.id}:{chosen}:{rejected}"
        systems, better = ((chosen, rejected), "A") if scope.paper else placed(query_id, chosen, rejected)
        output = by_pair.get((gold.id, frozenset(systems)))
        texts = output.by_system if output else {}
        tag = output.meta.get("tag") if output else None
        queries.append(
            Query(
                dataset=DATASET,
                column="WP",
                query_id=query_id,
                cluster_id=gold.id,
                instruction=gold.instruction,
                systems=systems,
                ids=(gold.id, gold.id),
                texts=tuple(texts.get(system) for system in systems),
                gold=better,
                tag=str(tag) if tag else None,
                first=chosen,
            )
        )
    return queries
