"""The warning that many answers of a judge are invalid: the reasons, and one example."""

from collections import Counter

from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.text_check import are, counted
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.evaluation.results import PanelResults
from judge_r1.judges.selective import ABSTAINED

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
