"""One request to a judge: an item of a benchmark with its candidates in one order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge_r1.core.items import Item
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import InvalidVerdict, ScoresVerdict, Verdict
from judge_r1.episode.answer_form import AnswerForm
from judge_r1.episode.answer_text import answer_text
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.task import PairwiseTask


@dataclass(frozen=True)
class TokenLimits:
    """The token limits that a benchmark declares. None: those of the judge's configuration."""

    prompt_tokens: int | None = None
    response_tokens: int | None = None

    @property
    def options(self) -> dict[str, str]:
        """The limits as options of an episode configuration (`judge_r1.episode.config.with_options`)."""
        named = {"prompt_tokens": self.prompt_tokens, "budget.response_tokens": self.response_tokens}
        return {name: str(limit) for name, limit in named.items() if limit is not None}


@dataclass(frozen=True)
class CustomPrompt:
    """A benchmark's own prompt, and the parser of its answer, which gives a verdict on the candidates as shown.

    `form` is the template of the answer for judges with constrained decoding; None leaves the answer free. `fields` are
    the texts by name for a judge that asks in words of its own (`judge_r1.judges.prompted`)."""

    prompt: Prompt
    read: Callable[[str], Verdict]
    form: AnswerForm | None = field(default=None, kw_only=True)
    fields: Mapping[str, str] = field(default_factory=dict, kw_only=True)


def answer_fields(request: str, answers: Sequence[str]) -> dict[str, str]:
    """The `fields` of a prompt about answers to a request: `input`, and `output` or `output_1`, `output_2`, …"""
    names = ["output"] if len(answers) == 1 else [f"output_{number}" for number in range(1, len(answers) + 1)]
    return {"input": request, **dict(zip(names, answers, strict=True))}


def any_text(text: str) -> Verdict:
    """Reads the answer to a prompt whose text is the result: every one is valid."""
    return ScoresVerdict(scores=(1.0,))


RequestKey = tuple[str, tuple[int, ...], int]
"""Id of the item, order and sample."""


@dataclass(frozen=True)
class JudgeRequest:
    """The task on the candidates `order` of an item, in the order shown. Repeated requests differ in `sample`."""

    item: Item
    order: tuple[int, ...]
    sample: int
    task: PairwiseTask | CustomPrompt

    @property
    def key(self) -> RequestKey:
        return self.item.item_id, self.order, self.sample

    @property
    def case_id(self) -> str | None:
        """The id of the text that may be searched. It may depend on the order of the candidates."""
        return None if isinstance(self.task, CustomPrompt) else self.task.case_id

    def read(self, trajectory: Trajectory) -> Verdict:
        """The verdict of a trajectory, on the candidates as shown. A judge of several calls has stored its judgment."""
        if trajectory.judgment is not None:
            return trajectory.judgment.verdict
        if isinstance(self.task, CustomPrompt) and trajectory.ended == "answer":
            return self.task.read(answer_text(trajectory.turns[-1].text))
        return InvalidVerdict(reason=trajectory.ended)
