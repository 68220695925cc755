"""Traces of verifiers v1: in `traces.jsonl`, whose lines are episodes with the traces of their agents, or one by one.

A trace is a graph with a message in each node. All nodes are events, in the order in which they were made. A node whose
parent is not the node before it begins another branch, and keeps `parent` in `meta`. Token ids, masks,
log-probabilities and the fields of the episode are left out.
"""

from collections.abc import Iterator

from judge_r1.traces.base import FORMATS, Shape, TraceFile, TraceFormat, without
from judge_r1.traces.chat_messages import message_events, with_fields
from judge_r1.traces.content import time_text
from judge_r1.traces.trace import EventDraft

_NODES, _EPISODE = "nodes", "traces.item"
_TOKENS = (
    "token_ids", "mask", "is_content", "logprobs", "advantages", "reference_logprobs", "trainer_logprobs", "entropies",
    "loss_weights",
)  # fmt: skip


def _recognises(shape: Shape) -> bool:
    return shape.has(f"{_NODES}.item.message.role") or shape.has(f"{_EPISODE}.{_NODES}.item.message.role")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    if file.shape.has(f"{_EPISODE}.{_NODES}"):
        file = file.within(_EPISODE)
    yield from with_fields(file.fields(_NODES, refuses=False), _nodes(file))


def _nodes(file: TraceFile) -> Iterator[EventDraft]:
    for number, node in enumerate(file.records(f"{_NODES}.item")):
        rest = without(node, "message", "timestamp", *_TOKENS)
        if rest.get("parent", -1) == number - 1:
            rest.pop("parent", None)
        time = time_text(node["timestamp"]) if "timestamp" in node else None
        for position, draft in enumerate(message_events(node.get("message"), f"{file.path}, node {number}")):
            yield draft._replace(time=draft.time or time, meta={**draft.meta, **({} if position else rest)})


FORMATS.register("verifiers")(TraceFormat("traces.jsonl of verifiers v1", _recognises, _read, 2))
