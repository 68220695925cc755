"""Answers about two conversations: the worse one's round and type of problem, and the better side, as JSON."""

import json

from judge_r1.core.conversations import FAILURES, failure_type
from judge_r1.core.verdicts import Judgment, LocatedVerdict
from judge_r1.episode.parsing import Rejected, is_text, json_object

KEYS = ("problem_type", "verdict", "worst_round")


def problem_list() -> str:
    """The types of problems by letter."""
    return "\n".join(f"{failure.letter}. {failure.flaw}" for failure in FAILURES)


def located_answer(verdict: LocatedVerdict) -> str:
    """The answer that states a verdict. Raises: ValueError for an unknown failure type."""
    failure = failure_type(verdict.failure or "")
    if failure is None:
        raise ValueError(f"no failure type is named {verdict.failure!r}")
    return json.dumps({"worst_round": verdict.round, "problem_type": failure.letter, "verdict": verdict.winner})


def parse_located(text: str) -> Judgment | Rejected:
    """Parses exactly one JSON object, surrounded by nothing but white space.

    Its keys are `worst_round` (an integer from 1), `problem_type` (the letter of a type) and `verdict` ("A" or "B", the
    better conversation), and optionally `analysis` (a string).
    """
    answer = json_object(text, *KEYS, optional="analysis")
    if isinstance(answer, Rejected):
        return answer
    round_, letter, winner = answer["worst_round"], answer["problem_type"], answer["verdict"]
    if type(round_) is not int or round_ < 1:  # True is an int, too
        return Rejected("bad_round", repr(round_))
    failure = next((failure for failure in FAILURES if failure.letter == letter), None)
    if failure is None:
        return Rejected("bad_problem_type", repr(letter))
    if winner not in ("A", "B"):
        return Rejected("bad_verdict", repr(winner))
    analysis = answer.get("analysis")
    if "analysis" in answer and not is_text(analysis):
        return Rejected("bad_explanation", repr(analysis))
    return Judgment(verdict=LocatedVerdict(winner=winner, round=round_, failure=failure.key), explanation=analysis)
