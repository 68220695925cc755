"""Writes one conversation by rules, with or without a flaw.

Each conversation of a pair has facts and situations of its own, so that neither is an edit of the other. The situation
in which the flaw can occur is in both, in the same round; besides, a conversation may hold other situations, handled
soundly, so that no phrase marks a flaw. An answer has an opening and three facts, the requested one first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from data_builders.conversations.rules.material import (
    changed_value,
    excluded_words,
    mentions,
    plain_facts,
    topic,
)
from data_builders.conversations.rules.phrases import (
    AMBIGUOUS,
    CLARIFIED,
    CLARIFY,
    DIRECTIVE,
    FIRST_QUESTIONS,
    OPENINGS,
    OUTSIDE,
    OUTSIDE_QUESTION,
    QUESTIONS,
    REVISIT,
    SILENT,
)
from data_builders.conversations.sampler import Conditions
from data_builders.perturb.rules.facts import Fact
from judge_r1.core.conversations import Document
from judge_r1.core.items import ChatMessage, Conversation

SIDES = 2
"""Facts of an answer beside the requested one."""
_SITUATION = {
    "self_contradiction": "revisit", "fabricated_answer": "outside", "no_clarification": "ambiguous",
    "instruction_forgetting": "plain", "evasion": "plain", "disorganized": "plain", "unnecessary_refusal": "plain",
}  # fmt: skip
_OTHER_SITUATION, _OTHER_DIRECTIVE = 0.35, 0.4
"""Chances of a further situation in a round, and of a directive where none is needed."""


class CannotWrite(Exception):
    """The document lacks what the conditions need. The message says what."""


@dataclass(frozen=True)
class Staging:
    """The situation of each round of a conversation, and whether there is a directive."""

    situations: tuple[str, ...]
    directive: bool


@dataclass(frozen=True)
class Written:
    """A conversation and its plan, one entry per round."""

    messages: Conversation
    plan: tuple[str, ...]


def stage(conditions: Conditions, *, flawed: bool) -> Staging:
    """Draws the situations of a conversation. After an ambiguous question comes a plain one or the end."""
    random = conditions.random(f"staging {'worse' if flawed else 'better'}")
    situations = ["plain"] * conditions.rounds
    situations[conditions.flawed_round - 1] = _SITUATION[conditions.failure.key]
    for index in range(1, conditions.rounds):
        beside = index in (conditions.flawed_round - 1, conditions.flawed_round) or situations[index - 1] == "ambiguous"
        if not beside and random.random() < _OTHER_SITUATION:
            options = ["outside"]
            if index + 1 == conditions.rounds or situations[index + 1] == "plain":
                options.append("ambiguous")
            answered = answered_rounds(situations[:index], conditions.flawed_round)
            if len(answered) > situations.count("revisit"):  # each asks about another one, the flawed one too
                options.append("revisit")
            situations[index] = random.choice(options)
    directive = conditions.failure.key == "instruction_forgetting" or random.random() < _OTHER_DIRECTIVE
    return Staging(tuple(situations), directive)


def answered_rounds(situations: Sequence[str], flawed_round: int) -> list[int]:
    """The rounds, from 0, whose own fact both conversations give: plain ones without a flaw or a clarification."""
    return [
        index
        for index, situation in enumerate(situations)
        if situation == "plain" and index != flawed_round - 1 and (index == 0 or situations[index - 1] != "ambiguous")
    ]


def write(document: Document, conditions: Conditions, *, flawed: bool) -> Written:
    """One conversation of a pair. Raises: CannotWrite."""
    return _Writer(document, conditions, stage(conditions, flawed=flawed), flawed).run()


class _Writer:
    def __init__(self, document: Document, conditions: Conditions, staging: Staging, flawed: bool) -> None:
        self._document, self._conditions, self._staging, self._flawed = document, conditions, staging, flawed
        self._random: Random = conditions.random("worse" if flawed else "better")
        found = plain_facts(document)
        self._random.shuffle(found)
        self._excluded, self._breaking = None, list[str]()
        count = conditions.rounds
        self._require(count + SIDES, found)
        if staging.directive:
            self._excluded, mentioning = self._directive(found)
            self._breaking = [fact.text for fact in mentioning if self._excluded in fact.text]
            found = [fact for fact in found if fact not in mentioning]
            self._require(count + SIDES, found)
        self._cores, self._others = found[:count], found[count:]
        known = document.context.lower()
        self._outside_words = [word for word in OUTSIDE if word not in known]
        self._random.shuffle(self._outside_words)
        self._repeated = self._choose_repeated()

    def _require(self, count: int, found: list[Fact]) -> None:
        if len(found) < count:
            raise CannotWrite(f"fewer than {count} plain sentences with a topic")

    def _directive(self, found: list[Fact]) -> tuple[str, list[Fact]]:
        """The excluded word and the facts with it; other facts and the topics do not have it."""
        for word in excluded_words(found, self._random):
            if any(mentions(topic(fact, self._document.context), word) for fact in found):
                continue
            return word, [fact for fact in found if mentions(fact.text, word)]
        raise CannotWrite("no word for a directive")

    def _choose_repeated(self) -> dict[int, int]:
        """The earlier round for each round that asks again, another for each. For a contradiction, it gets a fact with
        a number."""
        situations, flawed = self._staging.situations, self._conditions.flawed_round
        chosen = dict[int, int]()
        for index, situation in enumerate(situations):
            if situation == "revisit":
                free = set(answered_rounds(situations[:index], flawed)) - set(chosen.values())
                chosen[index] = self._random.choice(sorted(free))
        if self._conditions.failure.key == "self_contradiction":
            slot, every = chosen[flawed - 1], [*self._cores, *self._others]
            numbered = next((fact for fact in every[slot:] if self._changed(fact)), None)
            if numbered is None:
                raise CannotWrite("no fact with a number to contradict")
            index = every.index(numbered)
            every[slot], every[index] = every[index], every[slot]
            self._cores, self._others = every[: len(self._cores)], every[len(self._cores) :]
        return chosen

    def _changed(self, fact: Fact) -> str | None:
        return changed_value(fact, self._document.context, self._conditions.random("value"))

    def _is_flawed(self, index: int) -> bool:
        return self._flawed and index == self._conditions.flawed_round - 1

    def run(self) -> Written:
        messages, plan = list[ChatMessage](), list[str]()
        clarified: Fact | None = None
        for index, situation in enumerate(self._staging.situations):
            core = clarified or self._cores[index]
            flaw = self._conditions.failure.key if self._is_flawed(index) else ""
            question, answer, note = getattr(self, f"_{situation}")(index, core, flaw)
            if clarified is not None:
                question = CLARIFIED.format(topic=self._topic(clarified))
            clarified = self._cores[index] if situation == "ambiguous" and not flaw else None
            if index == 0 and self._excluded:
                question = f"{question} {self._pick(DIRECTIVE).format(word=self._excluded)}"
            messages += [ChatMessage(role="user", content=question), ChatMessage(role="assistant", content=answer)]
            plan.append(f"round {index + 1}: {situation}; {note}")
        return Written(tuple(messages), tuple(plan))

    def _pick(self, phrases: Sequence[str]) -> str:
        return self._random.choice(phrases)

    def _topic(self, fact: Fact) -> str:
        return topic(fact, self._document.context)

    def _sides(self, *without: Fact) -> list[str]:
        pool = [fact.text for fact in self._others if fact not in without]
        return self._random.sample(pool, min(SIDES, len(pool)))

    def _said(self, *sentences: str) -> str:
        return " ".join(part for part in (self._pick(OPENINGS), *sentences) if part)

    def _plain(self, index: int, core: Fact, flaw: str) -> tuple[str, str, str]:
        name = self._topic(core)
        phrases = QUESTIONS if index else FIRST_QUESTIONS
        question = self._pick(phrases[self._conditions.behaviour.key]).format(topic=name)
        question = question[0].upper() + question[1:]
        sides = self._sides()
        if flaw == "evasion":
            sides = [*sides, self._pick([fact.text for fact in self._others if fact.text not in sides] or sides[:1])]
            return question, self._said(*sides), f"asked for {name!r}, gives other facts"
        if flaw == "disorganized":
            return question, self._said(sides[0], core.text, *sides[1:]), f"asked for {name!r}, buries it"
        if flaw == "unnecessary_refusal":
            return question, " ".join((self._pick(SILENT), *sides)), f"asked for {name!r}, says it is not there"
        if flaw == "instruction_forgetting":
            return (
                question,
                self._said(core.text, sides[0], self._pick(self._breaking)),
                f"breaks the directive on {self._excluded!r}",
            )
        return question, self._said(core.text, *sides), f"asked for {name!r}, gives it first"

    def _revisit(self, index: int, core: Fact, flaw: str) -> tuple[str, str, str]:
        earlier = self._cores[self._repeated[index]]
        question = self._pick(REVISIT).format(topic=self._topic(earlier))
        text = (self._changed(earlier) or "") if flaw else earlier.text
        note = "gives another value than before" if flaw else "repeats it unchanged"
        return question, self._said(text, *self._sides(earlier)), f"asked again for {self._topic(earlier)!r}, {note}"

    def _outside(self, index: int, core: Fact, flaw: str) -> tuple[str, str, str]:
        if not self._outside_words:
            raise CannotWrite("too few questions from outside that the document does not cover")
        name, inventions = OUTSIDE[self._outside_words.pop()]
        question = self._pick(OUTSIDE_QUESTION).format(topic=name)
        number = self._random.randint(3, 40)
        first = self._pick(inventions).format(n=number) if flaw else self._pick(SILENT)
        note = "invents an answer" if flaw else "says it is not there"
        return question, " ".join((first, *self._sides())), f"asked for {name!r}, {note}"

    def _ambiguous(self, index: int, core: Fact, flaw: str) -> tuple[str, str, str]:
        question = self._pick(AMBIGUOUS)
        other = self._pick([self._topic(fact) for fact in self._others])
        if flaw:
            return question, self._said(core.text, *self._sides()), "ambiguous question, answers without asking"
        asked = self._pick(CLARIFY).format(one=self._topic(core), other=other)
        return question, self._said(*self._sides(), asked), "ambiguous question, asks what is meant"
