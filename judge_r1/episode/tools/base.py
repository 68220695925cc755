"""What a tool of an episode is. A judge calls one with `<tool>NAME⏎INPUT</tool>`.

The result is a function of the case, the passages that the episode was shown, and the input alone: no clock, no chance,
no state between calls. So every trainer and a replay observe the same ids. A tool gets the scope of its own episode and
nothing else: no other case can be reached from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import Registry
from judge_r1.core.verdicts import Evidence


class ToolBudget(BaseModel):
    """Limits of one tool in an episode. `seconds` and `memory_mb` bound each call of a tool that runs code."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    max_calls: int = Field(3, ge=1, le=10_000)
    output_tokens: int = Field(512, ge=16, le=100_000_000)
    seconds: float = Field(2.0, gt=0, le=60)
    memory_mb: int = Field(64, ge=1, le=4096)


@dataclass(frozen=True)
class CaseScope:
    """What a tool may see: the text of the case, its further documents by name, the passages that the last observation
    with passages showed, and the length of a passage in words."""

    case_id: str = ""
    text: str = ""
    documents: Mapping[str, str] = field(default_factory=dict)
    shown: tuple[Evidence, ...] = ()
    passage_words: int = 100


@dataclass(frozen=True)
class ToolResult:
    """What a call returns. `error`: the input was wrong; `limit`: it used too much time, memory or output. Both are
    observations, which the judge reads. `passages` of the case are shown as those of a search, instead of `text`."""

    text: str
    status: Literal["ok", "error", "limit"] = "ok"
    passages: tuple[Evidence, ...] = ()


class ToolFailed(JudgeError):
    """A tool itself failed: an infrastructure failure, which does not count against the judge."""


class Tool(Protocol):
    """`help` is its line in the prompt. `max_calls` is the default of its budget.

    `check` returns why an input cannot run, from the text alone, or None. `run` runs in a thread and may be called by
    many episodes at a time. `require` raises JudgeError if a package is missing."""

    help: str
    max_calls: int

    def check(self, text: str) -> str | None: ...
    def run(self, text: str, scope: CaseScope, budget: ToolBudget) -> ToolResult: ...
    def require(self) -> None: ...


TOOLS: Registry[Tool] = Registry("tool", "judge_r1.episode.tools")


def last_line(text: str) -> str:
    """The last line of an error that has text: the one that says what is wrong (TIR-Judge, section 4.2)."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
