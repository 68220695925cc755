"""WP-Bench: pairs of creative texts. The files list the better one first."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from judge_r1.benchmarks.base import Order, place_by_hash
from judge_r1.benchmarks.longjudgebench.answer_parsers import Values, word
from judge_r1.benchmarks.longjudgebench.query import GROUND_TRUTH, STANDARDIZED, Line, Output, Query, lines
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.verdicts import PairwiseVerdict, Verdict

DATASET = "wp_bench"


class Preference(BaseModel):
    chosen_model: str
    rejected_model: str


class PreferredStory(Line):
    """One pair. `id` is the prompt's and repeats; the id and the two models identify the pair."""

    instruction: str
    preference: Preference
    scores: Mapping[str, int]


class Tagged(Output):
    meta: Mapping[str, object] = {}


def read(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per pair. Candidates are ordered by hash; `options.paper` keeps the better one first. Both orders are
    judged in either case."""
    path = root / STANDARDIZED / f"{DATASET}.jsonl"
    shown = list(lines(path, Tagged, unique=False)) if path.exists() else []
    by_pair = {(line.id, frozenset(line.by_system)): line for line in shown}
    queries = []
    for gold in lines(root / GROUND_TRUTH / "wp_bench_gt.jsonl", PreferredStory, unique=False):
        chosen, rejected = gold.preference.chosen_model, gold.preference.rejected_model
        query_id = f"{gold.id}:{chosen}:{rejected}"
        systems, better = ((chosen, rejected), "A") if options.paper else place_by_hash(query_id, chosen, rejected)
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


ANSWER_KEYS: tuple[str, ...] = ("preferred_response",)
"""Keys of an answer's JSON object."""


def read_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    return PairwiseVerdict.model_validate({"winner": word(values, "preferred_response", "A", "B")})
