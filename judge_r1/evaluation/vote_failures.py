"""Votes that a server did not give: those that a resume asks for again, those that are final, and invalid answers."""

from collections import Counter
from collections.abc import Sequence

from judge_r1.core.errors import ExitStatus
from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.text_check import are, counted
from judge_r1.core.verdicts import CONTEXT_OVERFLOW, InvalidVerdict
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.votes import EvaluationError
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.selective import ABSTAINED


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


MANY = 0.2
"""The share of invalid answers above which they are named."""
_SHOWN = 240
"""Characters of the example."""


def invalid_warning(results: PanelResults) -> str | None:
    """The warning for one panel; None if at most a fifth of its answers is invalid. Prompts that do not fit, requests
    that the server did not answer and abstentions are no answers."""
    answers, reasons, examples = 0, Counter[str](), dict[str, tuple[ItemResult, Vote]]()
    for result in results.items:
        for vote in filter(_is_answer, result.votes):
            answers += 1
            if isinstance(vote.verdict, InvalidVerdict):
                reasons[vote.verdict.reason] += 1
                examples.setdefault(vote.verdict.reason, (result, vote))
    if (invalid := reasons.total()) <= MANY * answers:
        return None
    most = reasons.most_common()
    result, vote = examples[most[0][0]]
    counts = ", ".join(f"{reason} {count}" for reason, count in most)
    return (
        f"warning: {results.panel}: {invalid} of {counted(answers, 'answer')} {are(invalid)} invalid ({counts}). For "
        f"example, the answer on item {result.item_id} is {most[0][0]}: {_text(results, result, vote)}"
    )


def _is_answer(vote: Vote) -> bool:
    verdict = vote.verdict
    if not isinstance(verdict, InvalidVerdict):
        return True
    return not (verdict.does_not_fit or verdict.unanswered or verdict.reason == ABSTAINED)


def _text(results: PanelResults, result: ItemResult, vote: Vote) -> str:
    """The last turn of a vote as one line, or its start and end. Characters that cannot be seen are escaped."""
    key = (vote.member, result.item_id, vote.order, vote.sample)
    trajectory = next(stored.trajectory for stored in results.votes[result.item_id] if stored.key == key)
    written = trajectory.turns[-1].text if trajectory.turns else trajectory.detail or ""
    half = _SHOWN // 2
    line = written if len(written) <= _SHOWN else f"{written[:half]} … {written[-half:]}"
    seen = (char if char.isprintable() else char.encode("unicode_escape").decode() for char in line.strip())
    return "".join(seen) or "(no text)"
