"""Reads conversation pairs and their documents: of our builds, or in RankJudge's published format."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.conversations import CONVERSATIONS_FILE, ConversationPair
from judge_r1.core.errors import explain, lacks, name_below
from judge_r1.files.tabular import Row, file_rows
from judge_r1.files.transcripts import read_conversations


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
    try:
        pair = ConversationPair.model_validate(known)
    except ValidationError as error:
        raise BadBenchmark(f"{row.where}: {explain(error)}") from None
    if not isinstance(data.get("context"), str) or not data["context"]:
        raise row.error("metadata", "must hold the text of the document in its field context")
    return pair, data["context"]


def _mapping(row: Row, column: str) -> dict[str, Any]:
    value = row.value(column)
    if not isinstance(value, dict):
        raise row.error(column, "must be an object")
    return value
