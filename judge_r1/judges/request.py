"""One game of a judge: an item of a benchmark, in one order of its candidates."""

from collections.abc import Callable
from dataclasses import dataclass

from judge_r1.core.items import Item
from judge_r1.core.records import InvalidVerdict, Trajectory, Verdict
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.task import PairwiseTask


@dataclass(frozen=True)
class CustomPrompt:
    """A prompt that a benchmark words itself, and how its answer is read: in terms of the candidates as shown."""

    prompt: Prompt
    read: Callable[[str], Verdict]


@dataclass(frozen=True)
class JudgeRequest:
    """The candidates `order` of an item, in the order shown, for the `sample`-th time."""

    item: Item
    order: tuple[int, ...]
    sample: int
    task: PairwiseTask | CustomPrompt

    @property
    def key(self) -> tuple[str, tuple[int, ...], int]:
        return self.item.item_id, self.order, self.sample

    @property
    def case_id(self) -> str | None:
        """The text that may be searched; a benchmark may have one for each order of the candidates."""
        return None if isinstance(self.task, CustomPrompt) else self.task.case_id

    def read(self, trajectory: Trajectory) -> Verdict:
        """What the trajectory says of the candidates as shown."""
        if isinstance(self.task, CustomPrompt):
            if trajectory.ended == "answer":
                return self.task.read(trajectory.turns[-1].text)
            return InvalidVerdict(reason=trajectory.ended)
        if trajectory.judgment is None:
            return InvalidVerdict(reason=trajectory.ended)
        return trajectory.judgment.verdict
