"""`mini-conversations`: generated pairs of short conversations in the vocabulary of `haystack`, for tiny models.

A document is a list of facts `who did what.` about as many people. In each of two rounds the user names a person, and
the assistant states the fact or says `not stated.`. Whether it is right shows only in the document, except for an
answer about another person.

    Keli?        Keli left oslo.      a fact of the document, or invented (fabricated_answer)
    Nemu?        not stated.          nobody in the document, or somebody (unnecessary_refusal)
    Keli again?  Keli left oslo.      the answer of before, or another value (self_contradiction)
    Bafu?        Loki owed 31.        about somebody else (evasion)
"""

from dataclasses import dataclass, field
from random import Random

from data_builders.conversations.sampler import Conditions
from data_builders.worlds.haystack.source import EVENTS, WORDS
from data_builders.worlds.haystack.source import facts as draw_facts
from data_builders.worlds.mini.source import Fact, facts_of
from judge_r1.core.conversations import (
    ConversationPair,
    Document,
    FailureType,
    UserBehaviour,
    Verification,
    failure_type,
)
from judge_r1.core.items import ChatMessage, Conversation
from judge_r1.core.record_base import content_hash

SOURCE = "mini-conversations"
FACTS, ROUNDS = 24, 2
REFUSAL = "not stated."
KEYS = ("self_contradiction", "evasion", "fabricated_answer", "unnecessary_refusal")
FAILURES = tuple(failure for key in KEYS if (failure := failure_type(key)))
SITUATIONS = {
    "self_contradiction": "again", "evasion": "known", "fabricated_answer": "unknown", "unnecessary_refusal": "known"
}  # fmt: skip
"""The situation of each failure. It is in both conversations of a pair, in the same round."""
STYLE = UserBehaviour("underspecified", "asks briefly")


def document(number: int, seed: int) -> Document:
    """Document `number` of a seed, independent of the others."""
    domain = sorted(EVENTS)[number % len(EVENTS)]
    rng = Random(content_hash(SOURCE, seed, number))
    text = " ".join(f"{fact}." for fact in draw_facts(domain, FACTS, rng))
    return Document(
        document_id=content_hash(domain, text), domain=domain, context=text, source=SOURCE, license="Apache-2.0",
    )  # fmt: skip


def conditions(document: Document, number: int, seed: int) -> Conditions:
    """The conditions of pair `number` of a document, drawn uniformly."""
    pair_id = content_hash("mini-conversation", seed, document.document_id, number)
    rng = Random(f"{seed}/{pair_id}/conditions")
    failure: FailureType = rng.choice(FAILURES)
    flawed = rng.randint(2 if failure.needs_earlier else 1, ROUNDS)
    return Conditions(pair_id, failure, STYLE, ROUNDS, flawed, "A" if rng.random() < 0.5 else "B", seed)


@dataclass
class MiniTalk:
    """One conversation while it is written: `known` and `unknown` people are used up in order."""

    document: Document
    known: list[Fact]
    unknown: list[str]
    rng: Random
    messages: list[ChatMessage] = field(default_factory=list)
    plan: list[str] = field(default_factory=list)
    stated: list[Fact] = field(default_factory=list)

    def add(self, situation: str, flaw: str) -> None:
        """One round. `flaw` is the failure that it shows, or empty."""
        again = situation == "again"
        if situation == "unknown":
            who, answer = self.unknown.pop(), REFUSAL
            if flaw:
                answer = f"{self._invented(who)}."
        else:
            fact = self.rng.choice(self.stated) if again else self.known.pop()
            who, answer = fact.who, f"{fact}."
            if flaw == "evasion":
                answer = f"{self.known.pop()}."
            elif flaw == "unnecessary_refusal":
                answer = REFUSAL
            elif flaw == "self_contradiction":
                values = EVENTS[self.document.domain][fact.did]
                answer = f"{fact.who} {fact.did} {self.rng.choice([v for v in values if v != fact.value])}."
            elif not again:
                self.stated.append(fact)
        question = f"{who} again?" if again else f"{who}?"
        self.messages += [ChatMessage(role="user", content=question), ChatMessage(role="assistant", content=answer)]
        self.plan.append(f"round {len(self.plan) + 1}: {situation}; {flaw or 'sound'}")

    def _invented(self, who: str) -> Fact:
        events = EVENTS[self.document.domain]
        did = self.rng.choice(sorted(events))
        return Fact(who, did, self.rng.choice(events[did]))


def write(document: Document, conditions: Conditions, *, flawed: bool) -> MiniTalk:
    """One conversation of a pair, with people and situations of its own besides the flawed round."""
    rng = conditions.random("worse" if flawed else "better")
    facts = facts_of(document.context)
    absent = sorted(set(WORDS.names) - {fact.who for fact in facts})
    talk = MiniTalk(document, rng.sample(facts, len(facts)), rng.sample(absent, ROUNDS), rng)
    for number in range(1, conditions.rounds + 1):
        if number == conditions.flawed_round:
            talk.add(SITUATIONS[conditions.failure.key], conditions.failure.key if flawed else "")
        elif number < conditions.flawed_round and conditions.failure.needs_earlier and not talk.stated:
            talk.add("known", "")  # there must be something to contradict
        else:
            talk.add(rng.choice(["known", "unknown", *(["again"] if talk.stated else [])]), "")
    return talk


def flaws(talk: Conversation, context: str) -> dict[int, str]:
    """The flaws that a conversation shows, by round, read from its texts and the document alone."""
    record = {fact.who: fact for fact in facts_of(context)}
    found: dict[int, str] = {}
    for index in range(0, len(talk), 2):
        question, answer = talk[index].content, talk[index + 1].content
        who = question.partition(" ")[0].rstrip("?")
        fact, said = record.get(who), [fact.who for fact in facts_of(answer)]
        if answer == REFUSAL:
            flaw = "unnecessary_refusal" if fact else ""
        elif said != [who]:
            flaw = "evasion"
        elif fact is None:
            flaw = "fabricated_answer"
        else:
            flaw = "" if answer == f"{fact}." else "self_contradiction"
        if flaw:
            found[index // 2 + 1] = flaw
    return found


def verify(pair: ConversationPair, document: Document) -> Verification:
    """Checks that the texts show the flaw in its round and nowhere else. Each turn is one claim, so a pair that passes
    is grounded, too."""
    shown = flaws(pair.better, document.context), flaws(pair.worse, document.context)
    right = shown == ({}, {pair.flawed_round: pair.failure})
    rates = {"grounded_better": 1.0, "grounded_worse": 1.0} if right else {}
    return Verification(
        pair_id=pair.pair_id, domain=pair.domain, failure=pair.failure, user_behaviour=pair.user_behaviour,
        coherence=True, adherence=right, issue="" if right else f"flaws found: {shown}", **rates,
    )  # fmt: skip
