"""Writes and verifies pairs of conversations with teachers, in two phases: plans first, then conversations.

The flawed round comes from the sampler, not from the teacher. The verifier's layers run one after the other, so a
candidate that fails costs no further calls. Each call is asked again up to `ATTEMPTS` times if its answer has a wrong
form; the answers are cached like those of every teacher.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from data_builders.conversations.sampler import Conditions
from data_builders.prompts import fill, guard
from data_builders.teachers import Teacher, TeacherRefused, TeacherRequest
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.items import ChatMessage, Conversation
from judge_r1.core.transcripts import transcript
from judge_r1.episode.json_objects import json_objects

ATTEMPTS = 3
_PLAN_TOKENS, _WRITE_TOKENS, _CHECK_TOKENS = 4000, 8000, 8000
_TAGS = ("document", "plan", "plan_good", "plan_worse", "conversation", "conversation_good", "conversation_worse")
_CHECKS = {
    "coherence": ("good_ok", "worse_ok"),
    "adherence": ("good_followed", "worse_followed", "flaw_round_correct"),
}
T = TypeVar("T")


class WrongForm(Exception):
    """An answer does not have the form that was asked for. The message says why."""


class NoAnswer(Exception):
    """No attempt gave an answer of the right form, or the teacher refuses."""


@dataclass
class Calls:
    """Counts of answers, and of rejected ones by reason."""

    answers: int = 0
    rejected: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Asker:
    """Asks a teacher about one pair until an answer has the right form."""

    teacher: Teacher
    calls: Calls

    async def ask(self, user: str, max_tokens: int, read: Callable[[dict[str, Any]], T], *, free: bool = False) -> T:
        """Raises: NoAnswer; the teacher's errors except TeacherRefused."""
        reason = "no answer"
        for attempt in range(ATTEMPTS):
            request = TeacherRequest(
                system=fill("conversation_system", {}),
                user=user,
                max_tokens=max_tokens,
                temperature=0.7 if free else 0.0,
                sample=attempt,
            )
            try:
                reply = await self.teacher.ask(request)
            except TeacherRefused:
                raise NoAnswer("the teacher refused the request") from None
            self.calls.answers += 1
            found = json_objects(reply.answer)
            try:
                if not found:
                    raise WrongForm("no JSON object" if reply.finished else "cut off")
                return read(found[-1])
            except WrongForm as error:
                reason = str(error)
                self.calls.rejected[reason] += 1
        raise NoAnswer(f"no answer of the right form: {reason}")


async def plan(asker: Asker, document: Document, conditions: Conditions, *, flawed: bool) -> tuple[str, ...]:
    """The plan of one conversation, one entry per round. Raises: NoAnswer."""
    fields = _fields(document, conditions)
    task = fill("conversation_plan_worse" if flawed else "conversation_plan_better", fields)

    def read(found: dict[str, Any]) -> tuple[str, ...]:
        rounds = found.get("rounds")
        if not isinstance(rounds, list) or not all(isinstance(text, str) and text.strip() for text in rounds):
            raise WrongForm("rounds must be a list of texts")
        if len(rounds) != conditions.rounds:
            raise WrongForm("the plan has another number of rounds")
        return tuple(rounds)

    return await asker.ask(fill("conversation_plan", fields | {"task": task}), _PLAN_TOKENS, read, free=True)


async def write(
    asker: Asker, document: Document, conditions: Conditions, entries: tuple[str, ...], *, flawed: bool
) -> Conversation:
    """The conversation of a plan. Raises: NoAnswer."""
    fields = _fields(document, conditions)
    task = fill("conversation_plan_worse", fields) if flawed else "No answer has a flaw."
    more = {"plan": _joined(entries), "task": task, "messages": str(2 * conditions.rounds)}

    def read(found: dict[str, Any]) -> Conversation:
        messages = found.get("conversation")
        if not isinstance(messages, list) or len(messages) != 2 * conditions.rounds:
            raise WrongForm("the conversation has another number of messages")
        roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
        if roles != ["user", "assistant"] * conditions.rounds:
            raise WrongForm("the roles do not alternate")
        texts = [message.get("content") for message in messages]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise WrongForm("a message has no text")
        return tuple(ChatMessage(role=role, content=text) for role, text in zip(roles, texts, strict=True))

    return await asker.ask(fill("conversation_write", fields | more), _WRITE_TOKENS, read, free=True)


async def check(asker: Asker, name: str, document: Document, conditions: Conditions, **texts: str) -> tuple[bool, str]:
    """Whether a pair passes the layer `coherence` or `adherence`, and the issue. Raises: NoAnswer."""
    keys = _CHECKS[name]
    fields = _fields(document, conditions) | {key: guard(text, *_TAGS) for key, text in texts.items()}

    def read(found: dict[str, Any]) -> tuple[bool, str]:
        answers = [found.get(key) for key in keys]
        if not all(isinstance(value, bool) for value in answers):
            raise WrongForm(f"{name}: {', '.join(keys)} must be true or false")
        failed = [key for key, value in zip(keys, answers, strict=True) if not value]
        return not failed, f"{', '.join(failed)}: {found.get('issue', '')}" if failed else ""

    return await asker.ask(fill(f"conversation_{name}", fields), _CHECK_TOKENS, read)


async def ground(asker: Asker, document: Document, talk: Conversation, skipped: int | None) -> tuple[float | None, int]:
    """The share of grounded claims outside the round `skipped`, and the turns without a claim. Raises: NoAnswer."""
    note = "" if skipped is None else f" Leave out round {skipped}."
    fields = {
        "context": guard(document.context, *_TAGS), "conversation": guard(transcript(talk), *_TAGS), "skipped": note
    }  # fmt: skip

    def read(found: dict[str, Any]) -> tuple[float | None, int]:
        claims: dict[int, list[bool]] = {}
        rounds = found.get("rounds")
        if not isinstance(rounds, list):
            raise WrongForm("grounding: rounds must be a list")
        for entry in rounds:
            number, listed = (entry.get("round"), entry.get("claims")) if isinstance(entry, dict) else (None, None)
            if not isinstance(number, int) or not isinstance(listed, list):
                raise WrongForm("grounding: a round needs its number and its claims")
            grounded = [claim.get("grounded") if isinstance(claim, dict) else None for claim in listed]
            if not all(isinstance(value, bool) for value in grounded):
                raise WrongForm("grounding: grounded must be true or false")
            claims.setdefault(number, []).extend(bool(value) for value in grounded)
        counted = [number for number in range(1, len(talk) // 2 + 1) if number != skipped]
        values = [value for number in counted for value in claims.get(number, [])]
        return (sum(values) / len(values) if values else None), sum(not claims.get(number) for number in counted)

    return await asker.ask(fill("conversation_grounding", fields), _CHECK_TOKENS, read)


def plan_texts(pair: ConversationPair) -> dict[str, str]:
    """The fields of the checks that a pair fills."""
    return {
        "plan_better": _joined(pair.plan_better), "plan_worse": _joined(pair.plan_worse),
        "better": transcript(pair.better), "worse": transcript(pair.worse),
    }  # fmt: skip


def _joined(entries: tuple[str, ...]) -> str:
    return "\n".join(guard(entry, *_TAGS) for entry in entries)


def _fields(document: Document, conditions: Conditions) -> dict[str, str]:
    return {
        "context": guard(document.context, *_TAGS), "rounds": str(conditions.rounds),
        "behaviour": conditions.behaviour.style, "flaw": conditions.failure.flaw, "virtue": conditions.failure.virtue,
        "flawed_round": str(conditions.flawed_round),
    }  # fmt: skip
