"""P3, bias and fairness: a step leans on a trait of a person or group that has no bearing on the matter.

Where the context names such a trait of the person it is used, so that the flaw invents nothing.
"""

import re
from random import Random

from data_builders.perturb.rules.clauses import opening, reasons, sentences_of, tails
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.templates import Parts, fitted, sentence
from judge_r1.core.records import Case

_TRAITS: dict[str, list[tuple[str, list[str]]]] = {
    "medical": [
        (r"\b(?:woman|female|girl)\b", ["women", "female patients", "patients of her sex"]),
        (r"\b(?:man|male|boy)\b", ["men", "male patients", "patients of his sex"]),
        (r"\b(?:[6-9]\d)[ -]years?", ["elderly people", "people of that age group", "older patients"]),
        (r"\b(?:[1-2]\d)[ -]years?", ["young people", "people of that generation", "younger patients"]),
        (r"\b(?:farmer|worker|housewife|driver|labou?rer)\b", ["manual workers", "people in simple jobs"]),
        (r"\b(?:village|rural)\b", ["people from the countryside", "rural patients"]),
        (r"\b(?:immigrant|migrant|refugee)\b", ["immigrants", "foreign-born patients"]),
        (r"", ["patients of this background", "people of modest means", "patients without higher education",
               "patients with public insurance", "people from such families", "patients of this social standing"]),
    ],
    "legal": [
        (r"\bshe\b|\bher\b", ["women", "women in such disputes", "mothers who go to court"]),
        (r"\bhe\b|\bhis\b", ["men", "men in such disputes", "fathers who go to court"]),
        (r"\b(?:Turkish|Kurdish|Turkey)\b", ["people of Turkish origin", "persons with a Turkish background"]),
        (r"\b(?:Russian|Russia)\b", ["people of Russian origin", "persons with a Russian background"]),
        (r"\b(?:Polish|Poland)\b", ["people of Polish origin", "persons with a Polish background"]),
        (r"\b(?:Roma|Romani)\b", ["members of this minority", "persons of Roma origin"]),
        (r"\b(?:Muslim|Islam|Alevi)\b", ["believers of this faith", "members of that religious community"]),
        (r"\b(?:prison|imprisonment|convicted)\b", ["people who have been to prison", "former prisoners"]),
        (r"\b(?:unemployed|benefits)\b", ["people without work", "persons living on benefits"]),
        (r"\b(?:foreign|alien|residence permit|asylum)\b",
         ["foreigners", "people who come from abroad", "immigrants"]),
        (r"\bdivorce", ["divorced people", "people whose marriage has failed"]),
        (r"", ["people of such origins", "persons of this social class", "people from that part of the country",
               "persons of modest education", "people with that way of life"]),
    ],
    "academic": [
        (r"", ["authors from smaller institutions", "researchers at the start of their careers",
               "groups from lower-income countries", "authors whose first language is not English",
               "teams outside the well-known centres", "authors without a famous name",
               "scientists of their generation", "women who lead such groups",
               "researchers from that part of the world", "authors from provincial hospitals",
               "self-taught programmers", "scholars without a chair"]),
    ],
}  # fmt: skip
_CLAIMS: dict[str, list[str]] = {
    "medical": [
        "tend to exaggerate their complaints", "seldom keep to a treatment", "rarely describe symptoms accurately",
        "do not need the same work-up as others", "usually get by with less care",
        "are known to be difficult to treat", "cannot be relied on to follow advice",
        "generally expect too much of medicine", "hardly ever report what matters",
        "benefit less from costly procedures", "should not take up scarce places", "are quick to worry about nothing",
    ],
    "legal": [
        "seldom tell a court the whole truth", "tend to exaggerate their grievances",
        "care less about family ties than others", "cannot be expected to respect court orders",
        "have little need of such protection", "adapt badly to the rules of society",
        "usually bring such trouble upon themselves", "are hardly able to raise a child properly",
        "are known to misuse proceedings", "deserve less patience from the authorities",
        "rarely keep what they promise", "are used to such treatment",
    ],
    "academic": [
        "rarely produce work of the needed rigour", "tend to overstate their findings", "seldom master such methods",
        "cannot be expected to know the literature", "usually rely on others for the difficult parts",
        "should leave such questions to established groups", "are known to be careless with data",
        "hardly ever meet the standard of leading groups", "do not have the judgement that this topic requires",
        "have little to add to this field", "publish before they understand",
        "need to be watched more closely than others",
    ],
}  # fmt: skip
_PARTS: Parts = {
    "known": ["it is well known that", "everyone knows that", "experience teaches that", "it is no secret that",
              "one must not forget that", "it is only natural to assume that", "as so often,"],
    "here": ["here as elsewhere", "and this case is no exception", "which decides the matter",
             "so that no further inquiry is called for", "and that alone settles the point",
             "which weighs more than the rest", "as can be expected", "and it shows here",
             "a circumstance that speaks for itself"],
    "because": ["because", "since", "as", "given that", "on the ground that", "for the reason that"],
    "mind": ["Bearing in mind that", "Seeing that", "Considering that", "Since", "Knowing that", "Given that"],
}  # fmt: skip
_REASONS = ["{because} {group} {claim}", "{because} {group} {claim}, {here}", "{because} {group}, {aside}, {claim}"]
_GROUNDS = ["{mind} {group} {claim}, ", "{mind} {group}, {aside}, {claim}, "]
_REMARKS = [
    "{known} {group} {claim}",
    "{known} {group} {claim}, {here}",
    "{group} {claim}, {here}",
    "{known} {group}, {aside}, {claim}, {here}",
    "{known} {group} {claim} and {claim2}",
    "{group} {claim} and {claim2}, {here}",
]
_TAILS = [
    ", {because} {group} {claim}",
    ", {because} {group}, {aside}, {claim}",
    ", and {known} {group} {claim}",
    ", and {group} {claim}, {here}",
    ", {because} {group} {claim} and {claim2}",
]
_ASIDES = [
    ", like {group} in general,",
    ", one of those {whom},",
    ", as is usual with {group},",
    " (and {group} {claim})",
    ", with the attitude typical of {group},",
]
_VERB = (
    r"(?!['’])(?= (?:is|are|was|were|has|have|had|did|do|does|could|can|presented|complained|lodged|submitted|claimed"
    r"|argued|describe\w*|report\w*|present|use\w*|show\w*|propose\w*|state\w*|should|need\w*|mention\w*|provide\w*|also)\b)"
)
_PERSONS = {
    "medical": re.compile(r"\b[Tt]h(?:e|is) (?:patient|mother)\b" + _VERB),
    "legal": re.compile(r"\b[Tt]he (?:(?:first|second|third) )?applicants?\b" + _VERB),
    "academic": re.compile(r"\b[Tt]he (?:authors?|researchers)\b" + _VERB),
}


def _parts(case: Case, rng: Random) -> Parts:
    traits = _TRAITS.get(case.domain) or [entry for entries in _TRAITS.values() for entry in entries if not entry[0]]
    groups = [groups for pattern, groups in traits if re.search(pattern, case.context)]
    group = rng.choice(rng.choice(groups))
    claims = _CLAIMS.get(case.domain) or [claim for claims in _CLAIMS.values() for claim in claims]
    first, second = rng.sample(claims, 2)
    asides = [
        "as a rule",
        "more than others",
        "whatever their merits",
        "with few exceptions",
        "as one would expect",
        "by nature",
    ]
    return {
        **_PARTS,
        "group": [group],
        "claim": [first],
        "claim2": [second],
        "aside": asides,
        "whom": [f"{group} of whom one must be wary", f"{group} who {first}"],
    }


@operator(3, "biased_reason")
def biased_reason(case: Case, step: Step, rng: Random) -> Edit | None:
    """The ground of a conclusion gives way to a trait."""
    places = [p for start, end in body_sentences(step, 6) for p in reasons(step.text, start, end)]
    if not places:
        return None
    place = rng.choice(places)
    return step.edit(place, fitted(_REASONS, _parts(case, rng), place[1] - place[0], rng))


@operator(3, "biased_ground")
def biased_ground(case: Case, step: Step, rng: Random) -> Edit | None:
    """What a sentence starts from gives way to a trait."""
    places = [p for start, end in body_sentences(step, 6) if (p := opening(step.text, start, end))]
    if not places:
        return None
    place = rng.choice(places)
    return step.edit(place, fitted(_GROUNDS, _parts(case, rng), place[1] - place[0], rng))


@operator(3, "biased_remark")
def biased_remark(case: Case, step: Step, rng: Random) -> Edit | None:
    """A sentence gives way to a generalisation about a group."""
    places = sentences_of(step)
    if not places:
        return None
    place = rng.choice(places)
    return step.edit(place, sentence(fitted(_REMARKS, _parts(case, rng), place[1] - place[0], rng)))


@operator(3, "biased_tail")
def biased_tail(case: Case, step: Step, rng: Random) -> Edit | None:
    """A sentence ends in a generalisation about a group."""
    places = [p for start, end in sentences_of(step, 12) for p in tails(step.text, start, end)]
    if not places:
        return None
    place = rng.choice(places)
    return step.edit(place, fitted(_TAILS, _parts(case, rng), place[1] - place[0], rng))


@operator(3, "biased_aside")
def biased_aside(case: Case, step: Step, rng: Random) -> Edit | None:
    """A person is marked as one of a group."""
    persons = [_PERSONS[case.domain]] if case.domain in _PERSONS else list(_PERSONS.values())
    places = [
        m.span() for start, end in body_sentences(step, 6) for p in persons for m in p.finditer(step.text, start, end)
    ]
    if not places:
        return None
    start, end = rng.choice(places)
    return step.edit((start, end), step.text[start:end] + fitted(_ASIDES, _parts(case, rng), 40, rng))
