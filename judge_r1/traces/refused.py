"""Files that are known and not read. The refusal says what to give instead."""

from collections.abc import Iterator

from judge_r1.traces.base import FORMATS, BadTrace, TraceFile, TraceFormat
from judge_r1.traces.trace import EventDraft

_REFUSED = {
    "swe-agent": (
        ("trajectory.item.action", "trajectory.item.observation"), "a trajectory of SWE-agent",
        "give its list of messages, `jq .history FILE.traj > messages.json`",
    ),
    "agents-sdk-state": (
        ("$schemaVersion", "original_input"), "the state of a run of the OpenAI Agents SDK",
        "give its items, `json.dump(result.to_input_list(), file)`",
    ),
}  # fmt: skip
"""Paths that a file has, what it is, and what to do, by the name of the format."""


def _register(name: str, paths: tuple[str, ...], noun: str, advice: str) -> None:
    def read(file: TraceFile) -> Iterator[EventDraft]:
        raise BadTrace(f"{file.path} is {noun}, which is not read: {advice}")

    FORMATS.register(name)(TraceFormat(f"refused: {advice}", lambda shape: shape.has(*paths), read, 0))


for _name, _about in _REFUSED.items():
    _register(_name, *_about)
