"""Votes that a server did not give: those that a resume asks for again, and those that are final."""

from collections.abc import Sequence

from judge_r1.core.errors import ExitStatus
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import CONTEXT_OVERFLOW, InvalidVerdict
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.votes import EvaluationError
from judge_r1.judges.base import JudgeOutput


class VotesMissing(EvaluationError):
    """Votes that ended by an infrastructure failure. `results` are those of the items that have all their votes."""

    exit_status = ExitStatus.TRY_AGAIN

    def __init__(self, message: str, results: PanelResults) -> None:
        super().__init__(message)
        self.results = results


class NoAnswers(EvaluationError):
    """The server answers no request of a judge. `failed` are the outputs of its requests."""

    def __init__(self, panel: str, failed: Sequence[JudgeOutput]) -> None:
        first = failed[0].trajectory
        said = f": {first.detail}" if first.detail else ""
        long = "; give the server a longer context, or take a model that reads more" if refused(failed[0]) else ""
        super().__init__(
            f"judge {panel!r}: the server answered none of {counted(len(failed), 'request')}, the first one ended as "
            f"{first.ended}{said}. Change the judge's options, or the server, and run again with --resume{long}"
        )


def refused(output: JudgeOutput) -> bool:
    """Whether an endpoint refused the prompt because it is too long for the model."""
    return output.trajectory.ended == CONTEXT_OVERFLOW


def final_vote(output: JudgeOutput) -> JudgeOutput:
    """The output, with a failure that concerns its request alone as the reason of an invalid verdict."""
    name = output.trajectory.unanswered
    if name is None:
        return output
    trajectory = output.trajectory.model_copy(update={"ended": name})
    return output._replace(trajectory=trajectory, verdict=InvalidVerdict(reason=name))
