"""SurGE: four surveys of one topic, ranked by people for structure and for content. The human survey is always best."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

from judge_r1.benchmarks.base import BadBenchmark, Order
from judge_r1.benchmarks.longjudgebench.answer_parsers import Unread, Values, number
from judge_r1.benchmarks.longjudgebench.query import GROUND_TRUTH, LETTERS, Line, Query, judged, lines, outputs
from judge_r1.benchmarks.longjudgebench.subset import SubsetOptions
from judge_r1.core.records import ChecklistVerdict, ScoresVerdict, Verdict, content_hash

DATASET = "surge"
SYSTEMS = ("GT", "Autosurvey", "ID", "Naive")
"""In the release's order of presentation, which is almost that of quality."""
RAW = Path("data", "SurGE", "baselines")


class SurveyRankings(Line):
    instruction: str
    structure_ranking: Mapping[str, int]
    content_ranking: Mapping[str, int]


def read(root: Path, options: SubsetOptions) -> list[Query]:
    """One query a topic and dimension; ranks become scores by their sign. `options.paper` shows Autosurvey's file as
    the
    release does, as raw JSON; else its survey."""
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
                    dataset=DATASET,
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
    """Shuffled by hash, so that the place says nothing; with a reference, which must be A, the others are. As released
    with `options.paper`."""
    places = list(range(len(query.systems)))
    if options.paper:
        return tuple(places)
    fixed = 1 if options.reference else 0
    moved = places[fixed:]
    random.Random(content_hash("order", query.item_id)).shuffle(moved)
    return tuple(places[:fixed] + moved)


def _raw(root: Path, topic: str, options: SubsetOptions) -> dict[str, str]:
    """The systems' own files: one in each folder, Autosurvey's twice (.md and .json)."""
    found = {}
    for system in SYSTEMS:
        files = sorted((root / RAW / system / "output" / topic).glob("*"))
        wanted = [file for file in files if (file.suffix == ".json") == (options.paper and system == "Autosurvey")]
        chosen = wanted or ([] if options.paper else files)
        if len(chosen) > 1:
            raise BadBenchmark(f"{files[0].parent} holds {len(chosen)} surveys, and there should be one")
        if chosen:
            found[system] = chosen[0].read_text(encoding="utf-8", errors="strict")
    return found


def _survey(text: str | None, options: SubsetOptions) -> str | None:
    """The `survey` of a text that is JSON."""
    if text is None or options.paper or not text.lstrip().startswith("{"):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return str(found["survey"]) if isinstance(found, dict) and "survey" in found else text


ANSWER_KEYS: tuple[str, ...] = tuple(LETTERS)
"""Keys of the JSON object that an answer consists of."""


def read_answer(values: Values, query: Query, options: SubsetOptions, order: Order) -> Verdict:
    """A score for each letter; those of the letters that are there, where some are missing."""
    key = "structural_score" if query.column == "Structure" else "content_score"
    places = judged(query, options.reference)
    letters = [LETTERS[at] for at, place in enumerate(order) if place in places]
    given = {letter: values[letter] for letter in letters if letter in values}
    scores = {
        letter: number(entry if isinstance(entry, dict) else {key: entry}, key, 5) for letter, entry in given.items()
    }
    if not scores:
        raise Unread("missing_field")
    if len(scores) < len(letters):
        return ChecklistVerdict(scores=scores)
    return ScoresVerdict(scores=tuple(scores.values()))
