"""Trajectories of SWE-agent: known and not read. The refusal says what to export instead."""

from collections.abc import Iterator

from judge_r1.core.trace import EventDraft
from judge_r1.core.trace_formats.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat


def _recognises(shape: Shape) -> bool:
    return shape.has("trajectory.item.action", "trajectory.item.observation")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    raise BadTrace(
        f"{file.path} is a trajectory of SWE-agent, which is not read: give its list of messages, "
        "`jq .history FILE.traj > messages.json`"
    )


FORMATS.register("swe-agent")(TraceFormat("refused: give its `history`", _recognises, _read, 0))
