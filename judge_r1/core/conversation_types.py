"""The taxonomies of conversation pairs: seven failures of the assistant, and seven behaviours of the user.

They follow RankJudge (arXiv 2605.21748), in our own words. Judges name a failure by its letter.
"""

from typing import NamedTuple


class FailureType(NamedTuple):
    """A failure of one assistant turn. `flaw` describes it to judges and writers, `virtue` the sound behaviour in the
    same situation. `needs_earlier` says that an earlier turn is part of the flaw, so round 1 cannot hold it."""

    letter: str
    key: str
    flaw: str
    virtue: str
    needs_earlier: bool = False


class UserBehaviour(NamedTuple):
    """A style of asking."""

    key: str
    style: str


FAILURES = (
    FailureType(
        "A", "self_contradiction",
        "A later turn no longer agrees with a correct statement of an earlier turn: a value, qualifier or implication "
        "has changed, and the assistant does not say so. The flawed turn is the later one.",
        "Statements keep their scope and strength over all turns. A change of view is announced with its reason.",
        True,
    ),
    FailureType(
        "B", "evasion",
        "The turn sounds informed but does not give what was asked: it is precise about something else and leaves the "
        "requested point out.",
        "Every turn gives the requested point, with its numbers and terms.",
    ),
    FailureType(
        "C", "disorganized",
        "The turn holds the right content in a poor order: the requested point is buried between side remarks.",
        "The requested point comes first, and the rest follows in order.",
    ),
    FailureType(
        "D", "fabricated_answer",
        "The document does not answer the question, and the turn gives an invented answer with confidence.",
        "A question that the document cannot answer is answered by saying so.",
    ),
    FailureType(
        "E", "instruction_forgetting",
        "The user gave an early directive about the content. It is kept at first, then silently broken in this turn.",
        "The directive shapes all later turns.",
        True,
    ),
    FailureType(
        "F", "no_clarification",
        "The question has several readings, and the turn picks one without asking and answers firmly.",
        "An ambiguous question is met with a question about what is meant. Clear questions are answered.",
        True,
    ),
    FailureType(
        "G", "unnecessary_refusal",
        "The turn declines to answer or says that the document is silent, although the document holds the answer.",
        "Questions that the document answers are answered without hedging.",
    ),
)  # fmt: skip
BEHAVIOURS = (
    UserBehaviour("focused", "stays with one or two aspects and asks follow-up questions"),
    UserBehaviour("integrative", "connects and compares parts of the document"),
    UserBehaviour("scattered", "jumps between unrelated parts"),
    UserBehaviour("skeptical", "doubts statements and asks for what the document says"),
    UserBehaviour("misinformed", "states false premises with confidence, which the assistant has to correct"),
    UserBehaviour("exploratory", "asks about consequences and extensions"),
    UserBehaviour("underspecified", "asks briefly and with vague references"),
)
FAILURE_KEYS = tuple(failure.key for failure in FAILURES)
BEHAVIOUR_KEYS = tuple(behaviour.key for behaviour in BEHAVIOURS)
ROUNDS = (3, 4, 5, 6, 7)
_BY_NAME = {name: failure for failure in FAILURES for name in (failure.letter, failure.key)}


def failure_type(name: str) -> FailureType | None:
    """The failure with this letter or key, in any case; None for another name."""
    return _BY_NAME.get(name.strip().upper()) or _BY_NAME.get(name.strip().lower())
