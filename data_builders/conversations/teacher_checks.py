"""The verifier's layers by a teacher: coherence of the plans, adherence of the texts, and grounding of the claims."""

from typing import Any

from data_builders.conversations.sampler import Conditions
from data_builders.conversations.teacher import TAGS, Asker, WrongForm, condition_fields, joined
from data_builders.prompts import fill, guard
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.items import Conversation
from judge_r1.core.transcripts import transcript

_TOKENS = 8000
_CHECKS = {
    "coherence": ("good_ok", "worse_ok"),
    "adherence": ("good_followed", "worse_followed", "flaw_round_correct"),
}


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


async def ground(asker: Asker, document: Document, talk: Conversation, skipped: int | None) -> tuple[float | None, int]:
    """The share of grounded claims outside the round `skipped`, and the turns without a claim. Raises: NoAnswer."""
    rounds = len(talk) // 2
    note = "" if skipped is None else f" Leave out round {skipped}."
    fields = {
        "context": guard(document.context, *TAGS), "conversation": guard(transcript(talk), *TAGS), "skipped": note
    }  # fmt: skip

    def read(found: dict[str, Any]) -> tuple[float | None, int]:
        claims: dict[int, list[bool]] = {}
        entries = found.get("rounds")
        if not isinstance(entries, list):
            raise WrongForm("grounding: rounds must be a list")
        for entry in entries:
            number, listed = (entry.get("round"), entry.get("claims")) if isinstance(entry, dict) else (None, None)
            if type(number) is not int or not isinstance(listed, list):
                raise WrongForm("grounding: a round needs its number and its claims")
            if not 1 <= number <= rounds:
                raise WrongForm("grounding: a round has a number that the conversation lacks")
            grounded = [claim.get("grounded") if isinstance(claim, dict) else None for claim in listed]
            if not all(isinstance(value, bool) for value in grounded):
                raise WrongForm("grounding: grounded must be true or false")
            claims.setdefault(number, []).extend(bool(value) for value in grounded)
        counted = [number for number in range(1, rounds + 1) if number != skipped]
        values = [value for number in counted for value in claims.get(number, [])]
        return (sum(values) / len(values) if values else None), sum(not claims.get(number) for number in counted)

    return await asker.ask(fill("conversation_grounding", fields), _TOKENS, read)


def plan_texts(pair: ConversationPair) -> dict[str, str]:
    """The fields of the checks that a pair fills."""
    return {
        "plan_better": joined(pair.plan_better), "plan_worse": joined(pair.plan_worse),
        "better": transcript(pair.better), "worse": transcript(pair.worse),
    }  # fmt: skip
