"""Writes one conversation by rules, with or without a flaw.

An answer consists of the sentences of the document on the topic that the user asks about, and of nothing else, so a
sound turn shows no flaw. Each conversation of a pair has topics and situations of its own, so that neither is an edit
of the other. The situation in which the flaw can occur is in both, in the same round; besides, a conversation may hold
other situations, handled soundly, so that no phrase marks a flaw.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from data_builders.conversations.rules.material import Topic, changed_value, pairs, topics
from data_builders.conversations.rules.phrases import (
    AMBIGUOUS,
    CLARIFIED,
    CLARIFY,
    CORRECTION,
    DIRECTIVE,
    FIRST_QUESTIONS,
    OUTSIDE,
    OUTSIDE_QUESTION,
    QUESTIONS,
    REVISIT,
    SILENT,
)
from data_builders.conversations.sampler import Conditions
from judge_r1.core.conversations import Document
from judge_r1.core.items import ChatMessage, Conversation

_SITUATION = {
    "self_contradiction": "revisit", "fabricated_answer": "outside", "no_clarification": "ambiguous",
    "instruction_forgetting": "plain", "evasion": "plain", "unnecessary_refusal": "plain",
}  # fmt: skip
"""A failure that is missing here needs a teacher: side remarks that bury a point must fit, which rules cannot judge."""
_OTHER_SITUATION, _OTHER_DIRECTIVE = 0.35, 0.4
"""Chances of a further situation in a round, and of a directive where none is needed."""


class CannotWrite(Exception):
    """The document lacks what the conditions need. The message says what."""


@dataclass(frozen=True)
class Written:
    """A conversation and its plan, one entry per round."""

    messages: Conversation
    plan: tuple[str, ...]


def stage(conditions: Conditions, *, flawed: bool) -> list[str]:
    """Draws the situations of a conversation. After an ambiguous question comes a plain one or the end."""
    random = conditions.random(f"staging {'worse' if flawed else 'better'}")
    situations = ["plain"] * conditions.rounds
    situations[conditions.flawed_round - 1] = _SITUATION[conditions.failure.key]
    for index in range(1, conditions.rounds):
        beside = index in (conditions.flawed_round - 1, conditions.flawed_round) or situations[index - 1] == "ambiguous"
        if not beside and random.random() < _OTHER_SITUATION:
            options = ["outside"]
            if index + 2 != conditions.flawed_round:  # the flawed round has a question of its own
                options.append("ambiguous")
            answered = answered_rounds(situations[:index], conditions.flawed_round)
            if len(answered) > situations.count("revisit"):  # each asks about another one, the flawed one too
                options.append("revisit")
            situations[index] = random.choice(options)
    return situations


def answered_rounds(situations: Sequence[str], flawed_round: int) -> list[int]:
    """The rounds, from 0, whose own topic both conversations answer: plain ones without a flaw or a clarification."""
    return [
        index
        for index, situation in enumerate(situations)
        if situation == "plain" and index != flawed_round - 1 and (index == 0 or situations[index - 1] != "ambiguous")
    ]


def write(document: Document, conditions: Conditions, *, flawed: bool) -> Written:
    """One conversation of a pair. Raises: CannotWrite."""
    if conditions.failure.key not in _SITUATION:
        raise CannotWrite(f"rules cannot write {conditions.failure.key} naturally: give a teacher")
    return _Writer(document, conditions, flawed).run()


class _Writer:
    def __init__(self, document: Document, conditions: Conditions, flawed: bool) -> None:
        self._document, self._conditions = document, conditions
        self._random = conditions.random("worse" if flawed else "better")
        self._situations, self._lead = stage(conditions, flawed=flawed), conditions.flawed_round - 1
        self._flaw = conditions.failure.key if flawed else ""
        known = document.context.lower()
        self._outside_words = [word for word in OUTSIDE if word not in known]
        self._random.shuffle(self._outside_words)
        found = topics(document.context)
        self._free = self._random.sample(found, len(found))
        self._topics, self._partners, self._repeated = dict[int, Topic](), dict[int, Topic](), dict[int, int]()
        self._excluded: Topic | None = None
        self._assign(conditions.failure.key)

    def _assign(self, failure: str) -> None:
        """The topics of all rounds: first those that the failure needs, in both conversations."""
        if failure in ("evasion", "instruction_forgetting"):
            self._take_pair(self._lead, f"no two topics that are near each other, for {failure}", same_head=False)
        for index, situation in enumerate(self._situations):
            if situation == "revisit":
                answered = answered_rounds(self._situations[:index], self._conditions.flawed_round)
                left = sorted(set(answered) - set(self._repeated.values()))
                self._repeated[index] = self._random.choice([at for at in left if at + 1 < index] or left)
        if failure == "self_contradiction":
            self._topics[self._repeated[self._lead]] = self._take("no topic with a number to contradict", self._changed)
        for index, situation in enumerate(self._situations):
            if situation == "ambiguous":
                try:
                    self._take_pair(index, "no two topics with one head, for an ambiguous question", same_head=True)
                except CannotWrite:
                    if index == self._lead:
                        raise
                    self._situations[index] = "plain"
        for index, situation in enumerate(self._situations):
            clarified = index and self._situations[index - 1] == "ambiguous" and not self._is_flawed(index - 1)
            if situation == "plain" and index not in self._topics and not clarified:
                self._topics[index] = self._take("too few topics")
        if failure == "instruction_forgetting":
            self._excluded = self._partners[self._lead]
        elif self._free and self._random.random() < _OTHER_DIRECTIVE:
            self._excluded = self._take("too few topics")

    def _take(self, otherwise: str, fits: Callable[[Topic], object] = bool) -> Topic:
        """A topic that is still free; those that share a sentence with it are not free any more."""
        chosen = next(filter(fits, self._free), None)
        if chosen is None:
            raise CannotWrite(otherwise)
        self._free = [topic for topic in self._free if not topic.overlaps(chosen)]
        return chosen

    def _take_pair(self, index: int, otherwise: str, *, same_head: bool) -> None:
        heads = {topic.head for topic in (*self._topics.values(), *self._partners.values())} if same_head else set()
        pair = next(pairs([topic for topic in self._free if topic.head not in heads], same_head=same_head), None)
        if pair is None:
            raise CannotWrite(otherwise)
        self._topics[index], self._partners[index] = (self._take(otherwise, one.__eq__) for one in pair)
        if same_head:  # another answer on this head would make the question clear
            self._free = [topic for topic in self._free if topic.head != pair[0].head]

    def _changed(self, topic: Topic) -> str | None:
        return changed_value(" ".join(topic.facts), self._document.context, self._conditions.random("value"))

    def _is_flawed(self, index: int) -> bool:
        return bool(self._flaw) and index == self._lead

    def run(self) -> Written:
        messages, plan = list[ChatMessage](), list[str]()
        clarified: Topic | None = None
        for index, situation in enumerate(self._situations):
            flaw = self._flaw if self._is_flawed(index) else ""
            if clarified is not None:
                question, answer = CLARIFIED.format(topic=clarified.name), " ".join(clarified.facts)
                note = f"asked for {clarified.name!r}, gives it"
            else:
                question, answer, note = getattr(self, f"_{situation}")(index, flaw)
            clarified = self._topics[index] if situation == "ambiguous" and not flaw else None
            if index == 0 and self._excluded:
                question = f"{question} {self._pick(DIRECTIVE).format(topic=self._excluded.name)}"
            messages += [ChatMessage(role="user", content=question), ChatMessage(role="assistant", content=answer)]
            plan.append(f"round {index + 1}: {situation}; {note}")
        return Written(tuple(messages), tuple(plan))

    def _pick(self, phrases: Sequence[str]) -> str:
        return self._random.choice(phrases)

    def _plain(self, index: int, flaw: str) -> tuple[str, str, str]:
        topic, behaviour = self._topics[index], self._conditions.behaviour.key
        question = self._pick((QUESTIONS if index else FIRST_QUESTIONS)[behaviour]).format(topic=topic.name)
        question = question[0].upper() + question[1:]
        said, note = topic.facts, "gives it"
        if flaw == "unnecessary_refusal":
            return question, self._pick(SILENT).format(topic=topic.name), f"asked for {topic.name!r}, says nothing"
        if flaw == "evasion":
            said, note = self._partners[index].facts, "gives something else"
        elif flaw == "instruction_forgetting":
            said, note = (*topic.facts, *self._partners[index].facts), "breaks the directive"
        opening = [CORRECTION.format(topic=topic.name)] if behaviour == "misinformed" else []
        return question, " ".join([*opening, *said]), f"asked for {topic.name!r}, {note}"

    def _revisit(self, index: int, flaw: str) -> tuple[str, str, str]:
        earlier = self._topics[self._repeated[index]]
        question = self._pick(REVISIT).format(topic=earlier.name)
        text = (self._changed(earlier) or "") if flaw else " ".join(earlier.facts)
        note = "gives another value than before" if flaw else "repeats it unchanged"
        return question, text, f"asked again for {earlier.name!r}, {note}"

    def _outside(self, index: int, flaw: str) -> tuple[str, str, str]:
        if not self._outside_words:
            raise CannotWrite("too few questions from outside that the document does not cover")
        name, inventions = OUTSIDE[self._outside_words.pop()]
        question = self._pick(OUTSIDE_QUESTION if index else OUTSIDE_QUESTION[:1]).format(topic=name)
        answer = self._pick(inventions) if flaw else self._pick(SILENT)
        note = "invents an answer" if flaw else "says it is not there"
        return question, answer.format(topic=name, n=self._random.randint(3, 40)), f"asked for {name!r}, {note}"

    def _ambiguous(self, index: int, flaw: str) -> tuple[str, str, str]:
        one, other = self._topics[index], self._partners[index]
        question = self._pick(AMBIGUOUS).format(head=one.head)
        if flaw:
            return question, " ".join(one.facts), "ambiguous question, answers without asking"
        asked = self._pick(CLARIFY).format(one=one.name, other=other.name)
        return question, asked, "ambiguous question, asks what is meant"
