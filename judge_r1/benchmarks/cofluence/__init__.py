"""CoFluEval-LC: can a judge tell a long document from a degraded copy of it? (docs/judgememo.md)"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from judge_r1.benchmarks.aggregation import all_invalid
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, Order, place_by_hash
from judge_r1.benchmarks.cofluence.deltas import delta_metrics, detected
from judge_r1.benchmarks.pairwise import check_subset, pair_item
from judge_r1.core.deltas import AT, MISSING, ORIGINAL
from judge_r1.core.documents import DOCUMENTS_FILE, MANIPULATIONS_FILE, Document, ManipulatedDocument
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.items import AggregatedVerdict, Item, Vote
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict
from judge_r1.files.jsonl import read_jsonl
from judge_r1.judges.memo.aggregate import scores_verdict
from judge_r1.judges.memo.config import FORMS
from judge_r1.judges.memo.metrics import COHERENCE, FLUENCY
from judge_r1.judges.memo.parser import parse_evaluation
from judge_r1.judges.memo.prompts import rating_prompt
from judge_r1.judges.request import CustomPrompt

PAIRS = "pairs"
METRICS = (COHERENCE, FLUENCY)
FORM = FORMS["v6-3"]
QUESTION = "Which of the two documents is written better? One of them is a degraded copy of the other."


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a length, `pairs`, or `pairs,LENGTH`."""
    documents, manipulated = _read(path)
    lengths = list(dict.fromkeys(document.length for document in documents.values()))
    check_subset(subset, [*lengths, PAIRS, *(f"{PAIRS},{length}" for length in lengths)])
    kind, _, length = (subset or "").partition(",")
    chosen = length or (kind if kind in lengths else None)
    several = Counter(name for name, _ in {(one.name, _intensity(one)) for one in manipulated})
    manipulated = [one for one in manipulated if chosen in (None, one.length)]
    if kind == PAIRS:
        return LoadedBenchmark([_pair(documents[one.document_id], one) for one in manipulated])
    by_document: dict[str, list[ManipulatedDocument]] = {}
    for one in manipulated:
        by_document.setdefault(one.document_id, []).append(one)
    items = [_item(documents[identity], copies, several) for identity, copies in by_document.items()]
    return LoadedBenchmark(items, task=_rating, presentation_orders=_each, aggregate=detection, metrics=delta_metrics)


def _read(path: Path) -> tuple[dict[str, Document], list[ManipulatedDocument]]:
    for name in (DOCUMENTS_FILE, MANIPULATIONS_FILE):
        if not (path / name).is_file():
            raise BadBenchmark(
                f"{lacks(path, name)}: give --path a folder that `judge-r1 build cofluence` wrote"
                f"{name_below(path, name)}"
            )
    documents = {one.document_id: one for one in read_jsonl(path / DOCUMENTS_FILE, Document, unique="document_id")}
    manipulated = list(read_jsonl(path / MANIPULATIONS_FILE, ManipulatedDocument, unique="manipulation_id"))
    for one in manipulated:
        if one.document_id not in documents:
            raise BadBenchmark(f"{path}: manipulation {one.manipulation_id} is of a document that is not there")
    if not manipulated:
        raise BadBenchmark(f"{path / MANIPULATIONS_FILE} holds no manipulations")
    return documents, manipulated


def _item(document: Document, copies: Sequence[ManipulatedDocument], several: Counter[str]) -> Item:
    """A document at one length and all of its copies: the original is judged once. The gold maps each copy to the
    metric that it degrades. Copies by a manipulation of which the data have `several` intensities are named
    `typos@2`."""
    names = [one.name if several[one.name] == 1 else f"{one.name}{AT}{_intensity(one)}" for one in copies]
    if len(set(names)) < len(names):
        raise BadBenchmark(f"document {document.document_id} has two copies of one manipulation: build the data again")
    return Item(
        item_id=f"{document.base_id}/{document.length}",
        cluster_id=document.base_id,
        group=document.length,
        instruction="",
        candidates=(document.text, *(one.text for one in copies)),
        systems=(ORIGINAL, *names),
        gold={name: one.metric for name, one in zip(names, copies, strict=True)},
    )


def _intensity(copy: ManipulatedDocument) -> str:
    return f"{copy.params.get('intensity', 0):g}"


def _pair(document: Document, copy: ManipulatedDocument) -> Item:
    placed = place_by_hash(copy.manipulation_id, document.text, copy.text)
    return pair_item(copy.manipulation_id, QUESTION, *placed, copy.name, document.base_id)


def _each(item: Item) -> Sequence[Order]:
    """Every text alone."""
    return [(index,) for index in range(len(item.candidates))]


def _rating(item: Item, order: Order) -> CustomPrompt:
    prompt = rating_prompt(item.texts[order[0]], METRICS, FORM)
    return CustomPrompt(prompt, lambda answer: scores_verdict([parse_evaluation(answer, METRICS).scores]))


def detection(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """Per copy: 1 if it scores below the original on the metric that it degrades, ½ if they are equal (`SAME`), 0 if it
    scores above. The score is the mean over all copies; one without both scores counts 0 and is left out of the
    verdict."""
    found = {name: share for name, share in detected(item.gold, votes).items() if share is not None}
    if not found:
        return AggregatedVerdict(verdict=all_invalid(votes) or InvalidVerdict(reason=MISSING), score=0.0)
    score = sum(found.values()) / len(item.gold)
    return AggregatedVerdict(verdict=ChecklistVerdict(scores=found), score=score)


BENCHMARKS.register("cofluence")(
    Benchmark(
        "long documents and their degraded copies (CoFluEval-LC): ratings of every text, or pairs",
        f"{DOCUMENTS_FILE} and {MANIPULATIONS_FILE}",
        load,
        verified=True,
        subsets=f"a length (full, 2000), {PAIRS}, {PAIRS},LENGTH",
    )
)
