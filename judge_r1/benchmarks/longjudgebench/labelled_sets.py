"""The data sets with one label per query: WP-Bench and MA (preferences), VerifyBench-Hard (correct or not)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter

from judge_r1.benchmarks.base import BadBenchmark, Order, place_by_hash
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, Values, number, word
from judge_r1.benchmarks.longjudgebench.query import (
    GROUND_TRUTH,
    STANDARDIZED,
    Line,
    Output,
    Query,
    lines,
    outputs,
    references,
)
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.verdicts import PairwiseVerdict, ScoresVerdict, Verdict
from judge_r1.files.strict_json import read_checked

_HEADER = re.compile(r"\A# [^\n]*\n+(?:(?:\*\*[^\n]*|---)\n+)*")
"""The title of an MA report and the lines below it: they name the system, paper, model, retriever and date."""


class Preference(BaseModel):
    chosen_model: str
    rejected_model: str


class PreferredStory(Line):
    """One pair of WP-Bench. `id` is the prompt's and repeats; the id and the two models identify the pair."""

    instruction: str
    preference: Preference
    scores: Mapping[str, int]


class Tagged(Output):
    meta: Mapping[str, object] = {}


class PreferredReport(Line):
    """One pair of MA: eight annotators, three pairs per paper."""

    paper_id: str
    paper_title: str
    preferred: Literal["A", "B", "tie"]
    mean_rating: float
    system_a: str
    system_b: str


class AnnotatedPaper(BaseModel):
    """A paper of MA with the fields of the file that its annotators used."""

    ID: int
    Key_Insights: str = Field(min_length=1)


ANNOTATED_PAPERS = Path("data", "MA", "human_annotation_subset", "gt", "papers_annotated_30.json")


class SolutionLabel(Line):
    gold_correct: bool


def read_wp(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per pair of stories. The files list the better one first; candidates are ordered by hash, with
    `options.paper` as in the files. Both orders are judged in either case."""
    path = root / STANDARDIZED / "wp_bench.jsonl"
    shown = list(lines(path, Tagged, unique=False)) if path.exists() else []
    by_pair = {(line.id, frozenset(line.by_system)): line for line in shown}
    queries = []
    for gold in lines(root / GROUND_TRUTH / "wp_bench_gt.jsonl", PreferredStory, unique=False):
        chosen, rejected = gold.preference.chosen_model, gold.preference.rejected_model
        query_id = f"{gold.id}:{chosen}:{rejected}"
        systems, better = ((chosen, rejected), "A") if options.paper else place_by_hash(query_id, chosen, rejected)
        output = by_pair.get((gold.id, frozenset(systems)))
        tag = output.meta.get("tag") if output else None
        queries.append(
            Query(
                column="WP",
                query_id=query_id,
                cluster_id=gold.id,
                instruction=gold.instruction,
                systems=systems,
                ids=(gold.id, gold.id),
                texts=tuple(output.by_system.get(system) if output else None for system in systems),
                gold=better,
                tag=str(tag) if tag else None,
                first=chosen,
            )
        )
    return queries


def read_ma(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per pair of reports. `options.stripped` removes the header of each report. The reference is the
    paper's conclusion, or with `options.key_insights` the list of insights that the annotators saw."""
    shown = outputs(root, "ma") or {}
    known = key_insights(root) if options.key_insights else references(root, "ma")
    queries = []
    for gold in lines(root / GROUND_TRUTH / "ma_gt.jsonl", PreferredReport):
        output, systems = shown.get(gold.id), (gold.system_a, gold.system_b)
        texts = [output.by_system.get(system) if output else None for system in systems]
        queries.append(
            Query(
                column="MA",
                query_id=gold.id,
                cluster_id=gold.paper_id,
                instruction=output.instruction if output else gold.paper_title,
                systems=systems,
                ids=(gold.id, gold.id),
                texts=tuple(_HEADER.sub("", text) if text and options.stripped else text for text in texts),
                gold=gold.preferred,
                reference=known.get(f"paper_{gold.paper_id}"),
                rating=gold.mean_rating,
                first=gold.system_a,
            )
        )
    return queries


def key_insights(root: Path) -> dict[str, str]:
    """The key insights of each paper, by the ids of the reference file. Raises BadBenchmark."""
    path = root / ANNOTATED_PAPERS
    if not path.exists():
        raise BadBenchmark(f"{path} is missing: key_insights needs a checkout of LongJudgeBench that has this file")
    papers = read_checked(path, TypeAdapter(list[AnnotatedPaper]))
    return {f"paper_{paper['ID']}": paper["Key_Insights"] for paper in papers}


def read_verify(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per solution."""
    name = "verify_bench_hard"
    shown, known = outputs(root, name) or {}, references(root, name)
    queries = []
    for gold in lines(root / GROUND_TRUTH / f"{name}_gt.jsonl", SolutionLabel):
        output = shown.get(gold.id)
        response = output.responses[0] if output and output.responses else None
        queries.append(
            Query(
                column="Verify",
                query_id=gold.id,
                cluster_id=gold.id.partition("_")[0],
                instruction=output.instruction if output else "",
                systems=(response.model if response else gold.id,),
                ids=(gold.id,),
                texts=(response.content if response else None,),
                gold="Yes" if gold.gold_correct else "No",
                reference=known.get(gold.id),
            )
        )
    return queries


def wp_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    return PairwiseVerdict.model_validate({"winner": word(values, "preferred_response", "A", "B")})


def ma_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    return PairwiseVerdict.model_validate({"winner": word(values, "preferred_insights_consistency", "A", "B", "tie")})


def verify_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    """1 for Yes, 0 for No. The score and the verdict must agree; the release uses only the score."""
    labels = {float(word(values, "verdict", "Yes", "No") == "Yes")} if "verdict" in values else set()
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
