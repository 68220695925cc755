"""Pairs of conversations about a document, of which one has a single flawed turn (RankJudge)."""

from dataclasses import dataclass

from judge_r1.core.items import Conversation


@dataclass(frozen=True)
class Written:
    """A conversation and its plan, one entry per round."""

    messages: Conversation
    plan: tuple[str, ...]
