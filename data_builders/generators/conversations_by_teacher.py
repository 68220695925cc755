"""Pairs of conversations about documents, written by a teacher and verified by the same or another one."""

from collections.abc import Sequence
from typing import Any

from data_builders.conversations import Written
from data_builders.conversations.sampler import Conditions
from data_builders.conversations.teacher import Asker, plan, write, write_at_once
from data_builders.conversations.teacher_checks import check, ground, plan_texts, ungrounded
from data_builders.generators import register
from data_builders.generators.base import BuildPlan
from data_builders.generators.conversations import (
    CONVERSATIONS,
    Candidate,
    ConversationGenerator,
    VerifiedGroup,
    group_of,
    incoherent,
    pair_of,
)
from data_builders.teachers import Attempts, NoAnswer, Teacher, together
from judge_r1.core.conversations import ConversationPair, Document, Verification
from judge_r1.core.text_check import counted


@register
class ConversationsByTeacher(ConversationGenerator):
    """pairs of conversations about documents (a table with id and context, or a built folder), one with a flaw"""

    name = CONVERSATIONS
    needs_teacher = True
    trial = 2

    def __init__(self, plan: BuildPlan, teachers: Sequence[Teacher] = ()) -> None:
        super().__init__(plan, teachers)
        self._attempts = Attempts()
        self._writer, self._verifier = (Asker(teacher, self._attempts) for teacher in (teachers[0], teachers[-1]))

    @property
    def attempts(self) -> Attempts:
        return self._attempts

    async def generate(self, item: Document) -> VerifiedGroup:
        return group_of(item, await together(self._candidate(item, conditions) for conditions in self.conditions(item)))

    async def _candidate(self, document: Document, conditions: Conditions) -> Candidate:
        """Plans, checks them, writes and checks the texts; with `single_call` the texts come with the plans. Calls that
        do not need each other's answers are concurrent, so that a batch has all of them."""
        verified, writer = incoherent(conditions, document, ""), self._writer
        written: list[Written] | None = None
        try:
            if self.own.single_call:
                written = await together(
                    write_at_once(writer, document, conditions, flawed=flawed) for flawed in (False, True)
                )
                plans = [one.plan for one in written]
            else:
                plans = await together(plan(writer, document, conditions, flawed=flawed) for flawed in (False, True))
            texts = {"plan_better": "\n".join(plans[0]), "plan_worse": "\n".join(plans[1])}
            coherent, issue = await check(self._verifier, "coherence", document, conditions, **texts)
        except NoAnswer as error:
            return verified.model_copy(update={"issue": str(error)}), None
        if not coherent:
            return verified.model_copy(update={"issue": issue}), None
        verified = verified.model_copy(update={"coherence": True, "adherence": False})
        try:
            if written is None:
                texts_of_plans = await together(
                    write(writer, document, conditions, entries, flawed=flawed)
                    for entries, flawed in zip(plans, (False, True), strict=True)
                )
                written = [Written(text, entries) for text, entries in zip(texts_of_plans, plans, strict=True)]
            better, worse = written
            pair = pair_of(document, conditions, better, worse, writer.teacher.name)
            adheres, issue = await check(self._verifier, "adherence", document, conditions, **plan_texts(pair))
        except NoAnswer as error:
            return verified.model_copy(update={"issue": str(error)}), None
        if not adheres:
            return verified.model_copy(update={"issue": issue}), pair
        return await self._grounding(document, verified.model_copy(update={"adherence": True}), pair), pair

    async def _grounding(self, document: Document, base: Verification, pair: ConversationPair) -> Verification:
        try:
            better, worse = await together(
                ground(self._verifier, document, talk, skipped)
                for talk, skipped in ((pair.better, None), (pair.worse, pair.flawed_round))
            )
        except NoAnswer as error:
            return base.model_copy(update={"issue": str(error)})
        unlisted = better.unlisted_turns + worse.unlisted_turns
        gap = f"an answer states something without a listed claim: {counted(unlisted, 'answer')}" if unlisted else ""
        return base.model_copy(
            update={
                "grounded_better": better.share,
                "grounded_worse": worse.share,
                "empty_turns": better.empty_turns + worse.empty_turns,
                "unlisted_turns": unlisted,
                "claims_better": better.claims,
                "claims_worse": worse.claims,
                "issue": ungrounded(better.share, worse.share) or gap,
            }
        )

    def details(self) -> dict[str, Any]:
        tried, names = self._attempts, [asker.teacher.name for asker in (self._writer, self._verifier)]
        return {
            **super().details(),
            "teacher": {"name": names[0], "answers": tried.answers, "rejected": dict(sorted(tried.rejected.items()))},
            "conversation_verifier": {"name": names[1], "is_the_writer": names[0] == names[1]},
        }
