"""The verifier's layers by a teacher: coherence of the plans, adherence of the texts, and grounding of the claims."""

from typing import Any, NamedTuple

from data_builders.conversations.sampler import Conditions
from data_builders.conversations.teacher import TAGS, Asker, WrongForm, condition_fields, joined
from data_builders.prompts import fill, guard
from judge_r1.benchmarks.rankjudge.checks import SAYS_NOTHING
from judge_r1.core.conversations import Claim, ConversationPair, Document
from judge_r1.core.items import Conversation
from judge_r1.files.transcripts import transcript

_TOKENS = 8000
_CHECKS = {
    "coherence": ("good_ok", "worse_ok"),
    "adherence": ("good_followed", "worse_followed", "flaw_round_correct"),
}


class Grounding(NamedTuple):
    """The claims of each round of a conversation, and its answers. The round `skipped` (from 1) holds the flaw and has
    none."""

    claims: tuple[tuple[Claim, ...], ...]
    answers: tuple[str, ...]
    skipped: int | None

    @property
    def share(self) -> float | None:
        """Of grounded claims; None without claims."""
        values = [claim.grounded for listed in self.claims for claim in listed]
        return sum(values) / len(values) if values else None

    @property
    def _empty(self) -> list[str]:
        """The answers without a claim."""
        rounds = enumerate(zip(self.answers, self.claims, strict=True), 1)
        return [answer for number, (answer, listed) in rounds if number != self.skipped and not listed]

    @property
    def empty_turns(self) -> int:
        return len(self._empty)

    @property
    def unlisted_turns(self) -> int:
        """Counts the answers without a claim that neither ask back nor say that the document is silent: they state
        something that was not checked."""
        return sum("?" not in answer and not SAYS_NOTHING.search(answer) for answer in self._empty)


async def check(asker: Asker, name: str, document: Document, conditions: Conditions, **texts: str) -> tuple[bool, str]:
    """Whether a pair passes the layer `coherence` or `adherence`, and the issue. Raises: NoAnswer."""
    keys = _CHECKS[name]
    fields = condition_fields(document, conditions) | {key: guard(text, *TAGS) for key, text in texts.items()}

    def read(found: dict[str, Any]) -> tuple[bool, str]:
        answers = [found.get(key) for key in keys]
        if not all(isinstance(value, bool) for value in answers):
            raise WrongForm(f"{name}: {', '.join(keys)} must be true or false")
        failed = [key for key, value in zip(keys, answers, strict=True) if not value]
        return not failed, f"{', '.join(failed)}: {found.get('issue', '')}" if failed else ""

    return await asker.ask(fill(f"conversation_{name}", fields), _TOKENS, read)


async def ground(asker: Asker, document: Document, talk: Conversation, skipped: int | None) -> Grounding:
    """The claims outside the round `skipped`. Raises: NoAnswer."""
    rounds = len(talk) // 2
    note = "" if skipped is None else f" Leave out round {skipped}."
    fields = {
        "context": guard(document.context, *TAGS), "conversation": guard(transcript(talk), *TAGS), "skipped": note
    }  # fmt: skip

    def read(found: dict[str, Any]) -> Grounding:
        claims: list[list[Claim]] = [[] for _ in range(rounds)]
        entries = found.get("rounds")
        if not isinstance(entries, list):
            raise WrongForm("grounding: rounds must be a list")
        for entry in entries:
            number, listed = (entry.get("round"), entry.get("claims")) if isinstance(entry, dict) else (None, None)
            if type(number) is not int or not isinstance(listed, list):
                raise WrongForm("grounding: a round needs its number and its claims")
            if not 1 <= number <= rounds:
                raise WrongForm("grounding: a round has a number that the conversation lacks")
            if number != skipped:
                claims[number - 1] += map(_claim, listed)
        answers = tuple(message.content for message in talk[1::2])
        return Grounding(tuple(map(tuple, claims)), answers, skipped)

    return await asker.ask(fill("conversation_grounding", fields), _TOKENS, read)


def ungrounded(*shares: float | None) -> str:
    """Why conversations with these shares of grounded claims fail at grounding, or an empty text."""
    if None in shares:
        return "a conversation without a claim"
    return "" if set(shares) == {1.0} else "a claim is not grounded"


def _claim(found: Any) -> Claim:
    try:
        return Claim(claim=found["claim"], grounded=found["grounded"])
    except (KeyError, TypeError, ValueError):
        raise WrongForm("grounding: a claim needs a text, and grounded must be true or false") from None


def plan_texts(pair: ConversationPair) -> dict[str, str]:
    """The fields of the checks that a pair fills."""
    return {
        "plan_better": joined(pair.plan_better), "plan_worse": joined(pair.plan_worse),
        "better": transcript(pair.better), "worse": transcript(pair.worse),
    }  # fmt: skip
