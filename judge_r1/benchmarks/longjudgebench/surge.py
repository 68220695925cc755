"""SurGE: four surveys per topic, ranked by people on structure and content. The human survey always ranks first."""

import random
from collections.abc import Mapping
from pathlib import Path

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, Values, number
from judge_r1.benchmarks.longjudgebench.query import (
    GROUND_TRUTH,
    LETTERS,
    FileId,
    Line,
    Query,
    lines,
    outputs,
    scored_indices,
)
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import ChecklistVerdict, ScoresVerdict, Verdict
from judge_r1.files.strict_json import parse_json

DATASET = "surge"
SYSTEMS = ("GT", "Autosurvey", "ID", "Naive")
"""In the release's presentation order, which is close to the order of quality."""
RAW = Path("data", "SurGE", "baselines")


class SurveyRankings(Line):
    id: FileId
    instruction: str
    structure_ranking: Mapping[str, int]
    content_ranking: Mapping[str, int]


def read(root: Path, options: SubsetOptions) -> list[Query]:
    """One query per topic and dimension, scored by the negated rank. With `options.paper`, Autosurvey's file is shown
    as raw JSON, as in the release, instead of its survey."""
    shown = outputs(root, DATASET)
    queries = []
    for gold in lines(root / GROUND_TRUTH / "surge_gt.jsonl", SurveyRankings):
        texts = shown[gold.id].by_system if shown and gold.id in shown else _raw(root, gold.id, options)
        for dimension in options.dimensions:
            ranking = gold.structure_ranking if dimension == "structure" else gold.content_ranking
            if set(ranking) != set(SYSTEMS):
                raise BadBenchmark(f"surge_gt.jsonl, id {gold.id}: {dimension}_ranking must rank {', '.join(SYSTEMS)}")
            queries.append(
                Query(
                    column=dimension.capitalize(),
                    query_id=gold.id,
                    cluster_id=gold.id,
                    instruction=gold.instruction,
                    systems=SYSTEMS,
                    ids=(gold.id,) * len(SYSTEMS),
                    texts=tuple(_survey(texts.get(system), options) for system in SYSTEMS),
                    gold=tuple(-float(ranking[system]) for system in SYSTEMS),
                    reference=texts.get("GT"),
                )
            )
    return queries


def shown_order(query: Query, options: SubsetOptions) -> Order:
    """The order shuffled by hash, so that positions carry no information. A reference stays first. With `options.paper`
    the order is the release's."""
    indices = list(range(len(query.systems)))
    if options.paper:
        return tuple(indices)
    fixed = 1 if options.reference else 0
    shuffled = indices[fixed:]
    random.Random(content_hash("order", query.item_id)).shuffle(shuffled)
    return tuple(indices[:fixed] + shuffled)


def _raw(root: Path, topic: str, options: SubsetOptions) -> dict[str, str]:
    """The texts from the systems' own folders: one file each, two (.md and .json) for Autosurvey."""
    found = {}
    for system in SYSTEMS:
        files = sorted((root / RAW / system / "output" / topic).glob("*"))
        wanted = [file for file in files if (file.suffix == ".json") == (options.paper and system == "Autosurvey")]
        chosen = wanted or ([] if options.paper else files)
        if len(chosen) > 1:
            raise BadBenchmark(f"{files[0].parent} must hold one survey, not {len(chosen)}")
        if chosen:
            try:
                found[system] = chosen[0].read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise BadBenchmark(f"{chosen[0]} is not a text in UTF-8 ({error}): download it again") from None
    return found


def _survey(text: str | None, options: SubsetOptions) -> str | None:
    """The field `survey` of a JSON text, or the text itself."""
    if text is None or options.paper or not text.lstrip().startswith("{"):
        return text
    try:
        found = parse_json(text, "a survey")
    except ValueError:
        return text
    return str(found["survey"]) if isinstance(found, dict) and "survey" in found else text


def read_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    """A score per letter; a ChecklistVerdict of the available ones if some are missing."""
    key = "structural_score" if query.column == "Structure" else "content_score"
    indices = scored_indices(query, options.reference)
    letters = [LETTERS[position] for position, index in enumerate(order) if index in indices]
    scores = {}
    for letter in letters:
        if letter in values:
            entry = values[letter]
            scores[letter] = number(entry if isinstance(entry, dict) else {key: entry}, key, 5)
    if not scores:
        raise UnreadableAnswer("missing_field")
    if len(scores) < len(letters):
        return ChecklistVerdict(scores=scores)
    return ScoresVerdict(scores=tuple(scores.values()))
