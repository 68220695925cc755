"""Writes conversations with a teacher: a plan first, then its text, or both in one call.

The flawed round comes from the sampler, not from the teacher. Each call is asked again up to `ATTEMPTS` times if its
answer has a wrong form; the answers are cached like those of every teacher.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from data_builders.conversations import Written
from data_builders.conversations.sampler import Conditions
from data_builders.prompts import fill, guard, shared_beginning
from data_builders.teachers import REFUSED, Attempts, NoAnswer, Teacher, TeacherRefused, TeacherRequest
from judge_r1.core.conversations import Document
from judge_r1.core.items import ChatMessage, Conversation
from judge_r1.episode.json_objects import json_objects

ATTEMPTS = 3
_PLAN_TOKENS, _WRITE_TOKENS = 4000, 8000
TAGS = ("document", "plan", "plan_good", "plan_worse", "conversation", "conversation_good", "conversation_worse")
T = TypeVar("T")


class WrongForm(Exception):
    """An answer does not have the form that was asked for. The message says why."""


@dataclass(frozen=True)
class Asker:
    """Asks a teacher about one pair until an answer has the right form."""

    teacher: Teacher
    attempts: Attempts

    async def ask(self, user: str, max_tokens: int, read: Callable[[dict[str, Any]], T], *, free: bool = False) -> T:
        """Raises: NoAnswer; the teacher's errors except TeacherRefused."""
        reason = "no answer"
        for attempt in range(ATTEMPTS):
            request = TeacherRequest(
                system=fill("conversation_system", {}),
                user=user,
                prefix=shared_beginning(user, "document"),
                max_tokens=max_tokens,
                temperature=0.7 if free else 0.0,
                sample=attempt,
            )
            try:
                reply = await self.teacher.ask(request)
            except TeacherRefused:
                raise NoAnswer(REFUSED) from None
            self.attempts.answers += 1
            found = json_objects(reply.answer)
            try:
                if not found:
                    raise WrongForm("no JSON object" if reply.finished else "cut off")
                read_answer = read(found[-1])
            except WrongForm as error:
                reason = str(error)
                self.attempts.reject(reason, "a conversation", reply.answer)
                continue
            self.attempts.used += 1
            return read_answer
        raise NoAnswer(f"no answer of the right form: {reason}")


async def plan(asker: Asker, document: Document, conditions: Conditions, *, flawed: bool) -> tuple[str, ...]:
    """The plan of one conversation, one entry per round. Raises: NoAnswer."""
    fields = condition_fields(document, conditions) | {"task": _plan_task(document, conditions, flawed)}
    return await asker.ask(
        fill("conversation_plan", fields), _PLAN_TOKENS, lambda found: _read_plan(found, conditions.rounds), free=True
    )


async def write(
    asker: Asker, document: Document, conditions: Conditions, entries: tuple[str, ...], *, flawed: bool
) -> Conversation:
    """The conversation of a plan. Raises: NoAnswer."""
    fields = condition_fields(document, conditions)
    task = fill("conversation_plan_worse", fields) if flawed else "No answer has a flaw."
    more = {"plan": joined(entries), "task": task, "style": fill("conversation_style", fields)}
    return await asker.ask(
        fill("conversation_write", fields | more),
        _WRITE_TOKENS,
        lambda found: _read_conversation(found, conditions.rounds),
        free=True,
    )


async def write_at_once(asker: Asker, document: Document, conditions: Conditions, *, flawed: bool) -> Written:
    """Plan and conversation by one call, as the public code has it. Raises: NoAnswer."""
    fields = condition_fields(document, conditions)
    more = {"task": _plan_task(document, conditions, flawed), "style": fill("conversation_style", fields)}
    return await asker.ask(
        fill("conversation_at_once", fields | more),
        _PLAN_TOKENS + _WRITE_TOKENS,
        lambda found: Written(_read_conversation(found, conditions.rounds), _read_plan(found, conditions.rounds)),
        free=True,
    )


def _plan_task(document: Document, conditions: Conditions, flawed: bool) -> str:
    name = "conversation_plan_worse" if flawed else "conversation_plan_better"
    return fill(name, condition_fields(document, conditions))


def _read_plan(found: dict[str, Any], rounds: int) -> tuple[str, ...]:
    entries = found.get("rounds")
    if not isinstance(entries, list) or not all(isinstance(text, str) and text.strip() for text in entries):
        raise WrongForm("rounds must be a list of texts")
    if len(entries) != rounds:
        raise WrongForm("the plan has another number of rounds")
    return tuple(entries)


def _read_conversation(found: dict[str, Any], rounds: int) -> Conversation:
    messages = found.get("conversation")
    if not isinstance(messages, list) or len(messages) != 2 * rounds:
        raise WrongForm("the conversation has another number of messages")
    roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
    if roles != ["user", "assistant"] * rounds:
        raise WrongForm("the roles do not alternate")
    texts = [message.get("content") for message in messages]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise WrongForm("a message has no text")
    return tuple(ChatMessage(role=role, content=text) for role, text in zip(roles, texts, strict=True))


def joined(entries: tuple[str, ...]) -> str:
    """The entries of a plan as text for a prompt."""
    return "\n".join(guard(entry, *TAGS) for entry in entries)


def condition_fields(document: Document, conditions: Conditions) -> dict[str, str]:
    """The fields of all prompts: the document and the conditions of the pair."""
    return {
        "context": guard(document.context, *TAGS), "rounds": str(conditions.rounds),
        "behaviour": conditions.behaviour.style, "flaw": conditions.failure.flaw, "virtue": conditions.failure.virtue,
        "flawed_round": str(conditions.flawed_round), "messages": str(2 * conditions.rounds),
    }  # fmt: skip
