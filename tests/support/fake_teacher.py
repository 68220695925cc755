"""A fake teacher: the rule engine behind a prompt. Like a model, it reads the case from the prompt.

    honest(system, user, sample)    the variants that the rules make of the case, in the form that the prompt asks for
    liar(system, user, sample)      the same, but about a third of the variants is spoiled, in one of the ways of LIES

Both are functions of their arguments alone and also answer the verifier's question. Where rules find no variant, it is
missing from the answer. The rule set `fake teacher` has more rules than `text`, so that each principle has a place.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from random import Random

from data_builders.perturb.rules.engine import operators, perturb
from data_builders.perturb.rules.operators import OPERATORS, operator
from data_builders.prompts import DOMAINS
from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step, body_sentences
from data_builders.text_units.text_match import contains, occurrences
from data_builders.worlds.mini.source import FACT
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair

RULES = "fake teacher"
SHARE = 0.35
ECHO = "repeat the user message"
"""A system prompt that makes it repeat the user message."""
_SEEN_REFERENCES: set[str] = set()
_MATERIAL = re.compile(r"<case>\n(.*)\n</case>\n\n<decision>\n(.*)\n</decision>\n\n(.*)", re.DOTALL)
_REASONING = re.compile(r"<reasoning>\n(.*)\n</reasoning>", re.DOTALL)
_PAIR = re.compile(r"<reasoning_a>\n(.*)\n</reasoning_a>\n\n<reasoning_b>\n(.*)\n</reasoning_b>", re.DOTALL)
_TARGET = re.compile(r"^Target principle: (\d)\.", re.MULTILINE)
_WANTED = re.compile(r"^Flawed Variant (\d+):$", re.MULTILINE)
_LONG_WORD = re.compile(r"(?<![\w-])[a-z]{6,}(?![\w-])")
_OTHER_WORDS = ("velvet", "granite", "copper", "lantern", "harbour", "orchard")
_UNSTATED = (
    "the lighthouse was painted green by two sailors",
    "eleven swans crossed the frozen harbour before sunrise",
    "the orchestra lost its only bassoon on the ferry",
    "a violet lantern hung above the bakery window",
    "the glacier swallowed seven tents of the expedition",
    "an owl nested inside the abandoned observatory",
)

_REMARKS = {
    1: ("so the opposite must be true as well", "because it could not be otherwise"),
    3: ("people like that cannot be trusted", "nothing else can be expected of such a family"),
    5: ("this may or may not matter", "something should be done about it at some point"),
    6: ("nobody needs to be warned of the danger", "a little harm has to be accepted"),
}

OPERATORS[RULES] = list(chain.from_iterable(operators("text").values()))


@operator(2, "changed_word", rule_set=RULES)
def changed_word(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Replaces a word of the context by one that the context does not have."""
    words = [match for start, end in body_sentences(step) for match in _LONG_WORD.finditer(step.text, start, end)]
    for match in rng.sample(words, len(words)):
        stated = occurrences(case.context, match[0])
        new = [word for word in _OTHER_WORDS if not contains(case.context, word)]
        if stated and new:
            yield step.edit(match.span(), rng.choice(new), stated[0])


@operator(4, "added_fact", rule_set=RULES)
def added_fact(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Adds a clause of which no case says anything."""
    ends = [end - 1 for _, end in body_sentences(step) if step.text[end - 1] == "."]
    if ends:
        yield step.edit((ends[-1], ends[-1]), f", and {rng.choice(_UNSTATED)}")


def _register_added_remark(principle: int) -> None:
    @operator(principle, f"added_remark_{principle}", rule_set=RULES)
    def added_remark(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
        """Adds a flawed remark, before the full stop."""
        ends = [end - 1 for _, end in body_sentences(step) if step.text[end - 1] == "."]
        if ends:
            yield step.edit((ends[-1], ends[-1]), f"; {rng.choice(_REMARKS[principle])}")


for _principle in _REMARKS:
    _register_added_remark(_principle)


def honest(system: str, user: str, sample: int) -> str:
    return _answer(system, user, sample, share=0.0)


def liar(system: str, user: str, sample: int) -> str:
    return _answer(system, user, sample, share=SHARE)


def _answer(system: str, user: str, sample: int, share: float) -> str:
    if system == ECHO:
        return user
    material = _MATERIAL.search(user)
    assert material, "the prompt holds no case"
    context, decision, rest = material.groups()
    domain = next((name for name, text in DOMAINS.items() if f"You are {text.role}." in system), "other")
    rng = Random(content_hash("liar", system, user, sample))
    if shown := _PAIR.search(rest):
        return _opinion(domain, context, decision, shown[1], shown[2], rng, share)
    reasoning = _REASONING.search(rest)
    assert reasoning, "the prompt holds no reasoning"
    target = _TARGET.search(rest)
    _SEEN_REFERENCES.add(reasoning[1])
    wanted = [int(number) for number in _WANTED.findall(rest[reasoning.end() :])]
    made = [
        pair
        for pair in variants_of(domain, context, decision, reasoning[1])
        if (pair.kind == "single" and pair.violated == (int(target[1]),) if target else pair.kind == "multi")
    ]
    there = {k: made[k - 1] for k in wanted if k <= len(made)}
    parts = [_part(k, pair, [p.flawed for p in made], rng, share) for k, pair in there.items()]
    if parts and rng.random() < share / 2:
        parts.insert(0, "Let me think about the case first. Each variant needs a step of its own.")
    return "\n\n".join(part for part in parts if part) or "I cannot find a suitable step in this reasoning."


@lru_cache(maxsize=512)
def variants_of(domain: str, context: str, decision: str, reference: str) -> tuple[ReasoningPair, ...]:
    """All pairs that the rules make from a case."""
    case = Case.of(
        domain=domain, context=context, decision=decision, reference=reference, source="prompt", license="none"
    )
    return tuple(
        perturb(case, rule_set="mini" if re.match(rf"{FACT.pattern}\.", context) else RULES, abstained=Counter())
    )


def _part(number: int, pair: ReasoningPair, texts: list[str], rng: Random, share: float) -> str:
    listed = [flaw.principle for flaw in sorted(pair.origin.flaws, key=lambda flaw: flaw.span.start)]
    text, header = pair.flawed, f"Flawed Variant {number}:"
    lie = rng.choice(sorted(LIES)) if rng.random() < share else None
    if lie == "missing":
        return ""
    if lie == "bad list" and pair.kind == "multi":
        listed = [*listed, 9]
    elif lie == "bold header":
        header = f"**{header}**"
    elif lie == "twice":
        return f"{header}\n{text}\n\n{header}\n{text}"
    elif lie == "another's text" and pair.kind == "single":  # with other principles the corruption would not be visible
        text = rng.choice(texts)
    elif lie:
        text = LIES[lie](pair, text, rng)
    if pair.kind == "multi":
        header += f"\nViolated Principles: {listed}"
    return f"{header}\n{text}"


def _annotated(pair: ReasoningPair, text: str, rng: Random) -> str:
    note = rng.choice([" [flaw]", " (incorrect)", " (this violates Groundedness)", " **(changed)**"])
    end = pair.origin.flaws[0].span.end
    return text[:end] + note + text[end:]


def _second_flaw(pair: ReasoningPair, text: str, rng: Random) -> str:
    """Adds another change, as far from the flaws as possible."""
    words = list(re.finditer(r"[^\W\d_]{3,}", text))
    starts = [flaw.span.start for flaw in pair.origin.flaws]
    word = max(words, key=lambda match: min(abs(match.start() - start) for start in starts))
    return text[: word.start()] + "perhaps " + text[word.start() :]


def _wrong_numbering(pair: ReasoningPair, text: str, rng: Random) -> str:
    return re.sub(r"^(\s*)(?:\d+[.)]|[-*•])", r"\g<1>7.", text, count=1, flags=re.MULTILINE)


def _retyped(pair: ReasoningPair, text: str, rng: Random) -> str:
    """Adds harmless copying errors: other quotation marks, trailing spaces."""
    return text.replace("’", "'").replace("“", '"').replace("”", '"').replace("\n", "  \n")


def _longer(pair: ReasoningPair, text: str, rng: Random) -> str:
    end = pair.origin.flaws[0].span.end
    return text[:end] + " and so on" * (len(text) // 20) + text[end:]


LIES: dict[str, Callable[[ReasoningPair, str, Random], str]] = {
    "annotated": _annotated,
    "second flaw": _second_flaw,
    "wrong numbering": _wrong_numbering,
    "retyped": _retyped,
    "longer": _longer,
    "lines joined": lambda pair, text, rng: text.replace("\n", " ", 1),
    "unchanged": lambda pair, text, rng: pair.reference,
    "comment below": lambda pair, text, rng: f"{text}\n\nI hope these variants are of use.",
    "missing": lambda pair, text, rng: "",
    "bad list": lambda pair, text, rng: text,
    "bold header": lambda pair, text, rng: text,
    "twice": lambda pair, text, rng: text,
    "another's text": lambda pair, text, rng: text,
}
"""Ways to corrupt a variant; the last five do not change its text."""


def _opinion(domain: str, context: str, decision: str, a: str, b: str, rng: Random, share: float) -> str:
    """Judges a pair: the worse reasoning is one that the rules derive from the other. Known cases are tried first."""
    for worse, flawed, reference in sorted(
        (("A", a, b), ("B", b, a)), key=lambda option: option[2] not in _SEEN_REFERENCES
    ):
        try:
            found = [p for p in variants_of(domain, context, decision, reference) if p.flawed == flawed]
        except ValueError:  # not a valid reference, so it is the flawed one
            continue
        if found:
            if rng.random() < share / 2:
                return "Both have their merits."
            if rng.random() < share / 2:
                worse = "B" if worse == "A" else "A"
            return f"Worse: {worse}\nViolated Principles: {list(found[0].violated)}\nWhy: the case says otherwise."
    return "Worse: A\nViolated Principles: [1]\nWhy: it reads worse."
