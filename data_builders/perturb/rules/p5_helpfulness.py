"""P5, helpfulness: what could be acted on or understood gives way to vaguer words of about the same length."""

import re
from random import Random

from data_builders.perturb.rules.clauses import advice, aims, reasons, sentences_of
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.templates import Parts, fitted, sentence
from judge_r1.core.records import Case

_PARTS: Parts = {
    "thing": ["the matter", "this aspect", "the whole", "the situation", "this part", "the point in question",
              "the issue"],
    "view": ["from one angle or another", "in one way or another", "on the whole", "all things considered",
             "to a certain extent", "in the usual manner", "as far as that goes", "more or less",
             "when taken together", "as the case may be", "at some point", "in due course", "within reason",
             "broadly speaking"],
    "various": ["various", "several", "a number of", "certain", "some", "different", "a range of", "one or two"],
    "factors": ["considerations", "factors", "aspects", "circumstances", "elements", "points of a general kind",
                "things of this sort"],
    "known": ["that are familiar enough", "that need not be listed", "which speak for themselves",
              "that one could name", "that come to mind", "which hardly call for detail", "that play some part",
              "of the kind one meets in such matters"],
    "looked": ["looked at", "dealt with", "kept in mind", "thought about", "given some attention", "handled",
               "taken into account"],
    "may": ["may", "might", "could", "can", "will probably"],
    "mean": ["mean something", "be of interest", "matter", "make a difference", "be seen differently",
             "lead somewhere", "be relevant"],
    "because": ["because of", "owing to", "on account of", "for reasons to do with", "in view of", "given",
                "by reason of"],
    "so": ["so that things go as well as they can", "to arrive at something suitable",
           "in order to have a good outcome", "so as to improve matters", "to be on the right side of things",
           "to meet what is called for", "in order to make the best of it", "to do what the occasion requires",
           "so that it all works out"],
    "doing": ["do whatever seems suitable", "take the steps that appear fitting",
              "see to it that things are in order", "give some thought to what might be done",
              "do something about it", "deal with this as is customary", "find an approach that suits",
              "keep the options open", "look after the usual things", "act as seems best"],
}  # fmt: skip
_SENTENCES = [
    "{various} {factors} {known} have to be {looked} {view}",
    "{thing} {may} {mean}, and {various} {factors} have to be {looked} {view}",
    "there are {various} {factors} {known}, and {thing} {may} {mean} {view}",
    "{view}, {thing} {may} {mean}, depending on {various} {factors} {known}",
    "{thing} was {looked} {view}",
    "{thing} {may} {mean} {view}",
    "{various} {factors} were {looked} {view}, and {thing} {may} then {mean}",
    "{thing} has been {looked} {view}, together with {various} {factors} {known}, and {may} {mean}",
    "one {may} {doing}, {view}, {so}",
]
_REASONS = [
    "{because} {various} {factors}",
    "{because} {various} {factors} {known}",
    "{because} {various} {factors} {known}, {view}",
    "{because} how {thing} {may} {mean} {view}",
]
_ADVICE = [
    "{doing}",
    "{doing} {view}",
    "{doing} {so}",
    "{doing}, {view}, {so}",
    "{doing} with regard to {various} {factors} {known}",
    "{doing}, taking {various} {factors} into account, {so}",
]
_AIMS = [
    "{so}",
    "{so}, {view}",
    "{so}, with {various} {factors} {looked} {view}",
    "{so}, as far as {various} {factors} {known} allow",
]
_EXAMPLES = re.compile(
    r"\((?:e\.g\.|i\.e\.|for example|such as|including|namely)?,? ?[^()\n]{12,}\)"
    r"|(?:such as|including|e\.g\.,?|namely) [^.;:()\n]{14,}?(?=[.;:\n]|$)"
)
_VAGUE_EXAMPLES = [
    "{various} {factors}",
    "{various} {factors} {known}",
    "{various} {factors}, {view}",
    "{various} {factors} {known}, {view}",
]


@operator(5, "vague_sentence")
def vague_sentence(case: Case, step: Step, rng: Random) -> Edit | None:
    """A sentence says nothing in particular."""
    places = sentences_of(step)
    if not places:
        return None
    place = rng.choice(places)
    return step.edit(place, sentence(fitted(_SENTENCES, _PARTS, place[1] - place[0], rng)))


@operator(5, "vague_reason")
def vague_reason(case: Case, step: Step, rng: Random) -> Edit | None:
    """A reason is no longer told."""
    places = [p for start, end in body_sentences(step, 6) for p in reasons(step.text, start, end)]
    if not places:
        return None
    place = rng.choice(places)
    return step.edit(place, fitted(_REASONS, _PARTS, place[1] - place[0], rng))


@operator(5, "vague_advice")
def vague_advice(case: Case, step: Step, rng: Random) -> Edit | None:
    """What is to be done is left open."""
    places = [p for start, end in body_sentences(step, 4) for p in advice(step.text, start, end)]
    if not places:
        return None
    place = rng.choice(places)
    text = fitted(_ADVICE, _PARTS, place[1] - place[0], rng)
    return step.edit(place, text[0].upper() + text[1:] if step.text[place[0]].isupper() else text)


@operator(5, "vague_aim")
def vague_aim(case: Case, step: Step, rng: Random) -> Edit | None:
    """What something is for is left open."""
    places = [p for start, end in body_sentences(step, 6) for p in aims(step.text, start, end)]
    if not places:
        return None
    place = rng.choice(places)
    return step.edit(place, fitted(_AIMS, _PARTS, place[1] - place[0], rng))


@operator(5, "vague_examples")
def vague_examples(case: Case, step: Step, rng: Random) -> Edit | None:
    """The particulars in brackets, or after `such as`, are no longer named."""
    places = [m for start, end in body_sentences(step, 4) for m in _EXAMPLES.finditer(step.text, start, end)]
    places = [
        m for m in places if re.search(r"[a-z]{4}", m[0]) and not re.search(r"\bsee\b|cited above|\bv\. |§", m[0])
    ]
    if not places:
        return None
    match = rng.choice(places)
    text = fitted(_VAGUE_EXAMPLES, _PARTS, len(match[0]), rng)
    lead = re.match(r"such as|including|e\.g\.,?|namely", match[0])
    return step.edit(match.span(), f"{lead[0]} {text}" if lead else f"({text})")
