"""Pairs of conversations, of which one has a single flawed turn: RankJudge (arXiv 2605.21748).

They are those of `judge-r1 build conversations`, or RankJudge's published pairs. With the document inline or missing, a
judge answers the benchmark's prompt with the better side, the flawed round and the type of the flaw. With
`context=search` it compares two transcripts and may search the document; only the side counts then. With `joint=true`,
too, its prompt is one of those for conversations, and all three parts count.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from judge_r1.benchmarks.base import (
    BENCHMARKS,
    BadBenchmark,
    Benchmark,
    LoadedBenchmark,
    Order,
    both_orders,
    one_order,
    option_names,
    subset_options,
)
from judge_r1.benchmarks.pairwise import unique_items
from judge_r1.benchmarks.rankjudge.checks import baseline_results
from judge_r1.benchmarks.rankjudge.prompt import (
    RevisionName,
    pairwise_prompt,
    pointwise_prompt,
    read_pairwise,
    read_pointwise,
    write_pairwise,
)
from judge_r1.benchmarks.rankjudge.scoring import aggregate_joint, aggregate_pointwise, aggregate_side, metrics, tables
from judge_r1.core.conversations import CONVERSATIONS_FILE, ConversationPair
from judge_r1.core.errors import invalid_as
from judge_r1.core.folders import lacks, name_below
from judge_r1.core.items import Conversation, Item
from judge_r1.core.principles import GENERAL
from judge_r1.episode.task import PairwiseTask
from judge_r1.files.tabular import Row, file_rows
from judge_r1.files.transcripts import QUESTION, read_conversations, transcript
from judge_r1.files.yaml_config import ConfigModel
from judge_r1.judges.request import CustomPrompt


def read_pairs(path: Path) -> tuple[list[ConversationPair], dict[str, str]]:
    """The pairs, and the text of each document by id. Raises: JudgeError."""
    if path.is_file():
        return _published(path)
    if not (path / CONVERSATIONS_FILE).is_file():
        raise BadBenchmark(
            f"{lacks(path, CONVERSATIONS_FILE)}: run `judge-r1 build conversations`, or give pairs.json"
            f"{name_below(path, CONVERSATIONS_FILE)}"
        )
    pairs, documents = read_conversations(path)
    return pairs, {document_id: document.context for document_id, document in documents.items()}


def _published(path: Path) -> tuple[list[ConversationPair], dict[str, str]]:
    pairs: list[ConversationPair] = []
    texts: dict[str, str] = {}
    for row in file_rows(path):
        pair, context = _pair(row)
        pairs.append(pair)
        texts[pair.document_id] = context
    return pairs, texts


def _pair(row: Row) -> tuple[ConversationPair, str]:
    data = _mapping(row, "metadata")
    plan = _mapping(row, "plan")
    better = row.value("better_is_a")
    if not isinstance(better, bool):
        raise row.error("better_is_a", "must be true or false")
    rounds = data.get("n_rounds")
    known = {
        "pair_id": row.name("id"), "document_id": row.name("id"), "domain": row.name("domain"),
        "conversation_a": row.value("convo_a"), "conversation_b": row.value("convo_b"),
        "preferred": "A" if better else "B", "failure": data.get("assistant_behavior_type"),
        "flawed_round": data.get("bad_round_index"), "user_behaviour": data.get("user_behavior_type"), "rounds": rounds,
        "plan_better": (str(plan.get("good", "")),), "plan_worse": (str(plan.get("bad", "")),),
        "generator": "published", "seed": 0,
    }  # fmt: skip
    with invalid_as(BadBenchmark, row.where):
        pair = ConversationPair.model_validate(known)
    if not isinstance(data.get("context"), str) or not data["context"]:
        raise row.error("metadata", "must hold the text of the document in its field context")
    return pair, data["context"]


def _mapping(row: Row, column: str) -> dict[str, Any]:
    value = row.value(column)
    if not isinstance(value, dict):
        raise row.error(column, "must be an object")
    return value


class RankJudgeOptions(ConfigModel):
    """How the pairs are shown."""

    context: Literal["inline", "search", "none"] = Field(
        "inline", description="the document is in the prompt, can be searched, or is missing"
    )
    both: bool = Field(False, description="each pair in both orders")
    pointwise: bool = Field(False, description="each conversation alone")
    numbered: bool = Field(True, description="whether the rounds of the transcripts are marked")
    joint: bool = Field(False, description="a judge that searches must name the round and the type, too")
    revision: RevisionName | None = Field(None, description="a longer prompt")

    @model_validator(mode="after")
    def _consistent(self) -> "RankJudgeOptions":
        if self.joint and self.context != "search":
            raise ValueError("joint belongs to context=search: without a search all three parts count anyway")
        if self.pointwise and (self.both or self.context == "search"):
            raise ValueError("pointwise rates one conversation at a time: leave out both and context=search")
        if self.revision and (self.pointwise or self.context == "search"):
            raise ValueError(f"{self.revision} revises the prompt for two conversations without a search")
        return self


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """One item per pair, clustered by document, grouped by domain. Raises: JudgeError."""
    options = subset_options(RankJudgeOptions, subset, "rankjudge")
    pairs, texts = read_pairs(path)
    items = unique_items((item_of(pair) for pair in pairs), path)
    compared = aggregate_side if options.context == "search" and not options.joint else aggregate_joint
    aggregate = aggregate_pointwise if options.pointwise else compared
    baselines = partial(baseline_results, texts=texts, aggregate=compared)
    orders = _each_alone if options.pointwise else both_orders if options.both else one_order
    return LoadedBenchmark(
        items,
        task=partial(_task, options, texts),
        presentation_orders=orders,
        aggregate=aggregate,
        texts=texts if options.context == "search" else {},
        metrics=metrics,
        tables=tables,
        baselines=(lambda items: {}) if options.pointwise else baselines,
    )


def item_of(pair: ConversationPair) -> Item:
    """The pair as an item; its gold holds the labels."""
    return Item(
        item_id=pair.pair_id,
        cluster_id=pair.document_id,
        group=pair.domain,
        case_id=pair.document_id,
        instruction=QUESTION,
        candidates=(pair.conversation_a, pair.conversation_b),
        gold={
            "better": pair.preferred, "round": pair.flawed_round, "failure": pair.failure,
            "user_behaviour": pair.user_behaviour, "generator": pair.generator,
        },
    )  # fmt: skip


def _each_alone(item: Item) -> Sequence[Order]:
    return [(0,), (1,)]


def _conversation(item: Item, index: int) -> Conversation:
    candidate = item.candidates[index]
    assert not isinstance(candidate, str), "item_of makes conversations"
    return candidate


def _task(options: RankJudgeOptions, texts: Mapping[str, str], item: Item, order: Order) -> PairwiseTask | CustomPrompt:
    shown = [_conversation(item, index) for index in order]
    document = texts[item.cluster_id]
    if options.context == "search":
        first, second = (transcript(talk, numbered=options.numbered) for talk in shown)
        talks = (shown[0], shown[1])
        return PairwiseTask(GENERAL, item.instruction, first, second, item.cluster_id, document, conversations=talks)
    given = document if options.context == "inline" else None
    if options.pointwise:
        return CustomPrompt(pointwise_prompt(shown[0], given, numbered=options.numbered), read_pointwise)
    prompt = pairwise_prompt(shown[0], shown[1], given, numbered=options.numbered, revision=options.revision)
    return CustomPrompt(prompt, read_pairwise, form=partial(write_pairwise, rounds=len(max(shown, key=len)) // 2))


BENCHMARKS.register("rankjudge")(
    Benchmark(
        "pairs of conversations about a document: the better one, the flawed round and the type of the flaw",
        "a folder of `judge-r1 build conversations`, or RankJudge's pairs.json",
        load,
        verified=True,
        subsets=option_names(RankJudgeOptions),
    )
)
