"""P1, logical correctness: a step no longer follows from what stands before it, or contradicts it."""

import re
from random import Random

from data_builders.perturb.rules.clauses import balanced, links
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.steps import body, body_sentences, split_steps
from data_builders.perturb.rules.templates import fitted, wording
from judge_r1.core.records import Case

_OPPOSITES = """
    excluded/confirmed, ruled out/confirmed, likely/unlikely, consistent with/inconsistent with, supports/refutes,
    supported/contradicted, supporting/contradicting, necessary/unnecessary, appropriate/inappropriate,
    justified/unjustified, sufficient/insufficient, adequate/inadequate, effective/ineffective, probable/improbable,
    proportionate/disproportionate, reasonable/unreasonable, admissible/inadmissible, compatible/incompatible,
    relevant/irrelevant, possible/impossible, clear/unclear, convincing/unconvincing, valid/invalid,
    reliable/unreliable, complete/incomplete, plausible/implausible, essential/superfluous, feasible/unfeasible,
    well-founded/ill-founded, satisfied/unconvinced, foreseeable/unforeseeable, useful/useless, correct/incorrect,
    strong/weak, confirms/disproves, suggests/disproves, indicates/disproves, suitable/unsuitable,
    accurate/inaccurate, warranted/unwarranted, interesting/uninteresting, important/unimportant, helpful/unhelpful,
    arbitrary/well-reasoned, agree/disagree, accept/reject, accepts/rejects, sound/unsound, definitive/doubtful,
    benefit/disadvantage, favorable/unfavorable, suggested/disproved, suggesting/disproving, indicating/disproving,
    confirming/disproving, aligns with/conflicts with, aligned with/conflicted with, well written/badly written,
    strengthens/weakens, violation of/full respect of, amounted to/fell short of, difficult/easy,
    successful/unsuccessful, original/unoriginal, novel/unoriginal
"""
_FLIPS: dict[str, list[str]] = {}
for _pair in _OPPOSITES.split(","):
    _one, _other = _pair.strip().split("/")
    _FLIPS.setdefault(_one, []).append(_other)
    _FLIPS.setdefault(_other, []).append(_one)
_FLIP = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, _FLIPS), key=len, reverse=True))})(?![\w-])", re.I)
_INFERENCE = re.compile(
    r"\b(due to|because|since|given|therefore|thus|hence|accordingly|consequently|so|as|based on|suggest\w*"
    r"|indicat\w*|support\w*"
    r"|follows?|confirm\w*|despite|although|in view of|in light of|having regard|conclu\w+|finds?|considers?"
    r"|for this reason)\b",
    re.IGNORECASE,
)
_HEDGES = """
    may/must, might/must, could/must, suggests/proves, suggested/proved, suggesting/proving, suggest/prove,
    likely/certain, often/always, typically/invariably, usually/always, generally/always, sometimes/always,
    some/all, many/all, most/all, rarely/never, unlikely/impossible, indicates/proves, indicated/proved, consistent
    with/proof of, possible/certain, potential/certain, appears to/is bound to, seems to/is bound to, in
    part/entirely, partly/wholly, several/all, probably/undoubtedly, mainly/exclusively, primarily/exclusively,
    possibly/undoubtedly, indicating/proving
"""
_CERTAIN = dict(pair.strip().split("/") for pair in _HEDGES.split(","))
_AFTER_HEDGE = r"(?![\w-]|\s+(?:not|possibly|perhaps|only|also|have|even)\b)"
_HEDGE = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, _CERTAIN), key=len, reverse=True))}){_AFTER_HEDGE}")
_NEGATED = re.compile(
    r"\b(?:not|cannot|no|nor|never|without|neither|fail\w*|lack\w*|absence|refus\w*|unable)\b[^,;]*$"
    r"|\b(?:less|more|most|as|an?)\s$",
    re.IGNORECASE,
)
_FINDINGS = ("excluded", "confirmed", "ruled out", "suggested", "supported")
_VERBAL = re.compile(r"(?:^|[:*.]\s*|\b(?:was|were|is|are|be|been|and|or|then|later)\s)$")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|should|would|must|will|did|does)( not)?\b(?! (?:been )?no\b)"
    r"|\b(cannot)\b"
)
_DEPENDENT = re.compile(
    r"^(?:But|And|However|So|Or)\b|[\n(,]"
    r"|\b(?:how|whether|if|when|where|what|why|because|since|although|while|who|which|as)\b"
)
_CONNECTIVES = {
    "due to": ("despite", "in spite of", "regardless of"),
    "because of": ("despite", "in spite of", "regardless of"),
    "because": ("although", "even though", "despite the fact that"),
    "based on": ("despite", "contrary to", "in spite of"),
    "given": ("despite", "in spite of", "notwithstanding"),
    "supported by": ("contradicted by", "in conflict with", "called into question by"),
    "suggested by": ("contradicted by", "in conflict with"),
    "in view of": ("in spite of", "regardless of", "contrary to"),
    "in light of": ("in spite of", "regardless of", "contrary to"),
    "in the light of": ("in spite of", "regardless of", "contrary to"),
    "owing to": ("despite", "in spite of"),
    "Therefore": ("Nevertheless", "Even so", "By contrast"),
    "therefore": ("nevertheless", "none the less", "by contrast"),
    "Accordingly": ("Even so", "Nevertheless", "On the contrary"),
    "accordingly": ("nevertheless", "none the less"),
    "Consequently": ("Even so", "Nevertheless"),
    "thus": ("nevertheless", "none the less"),
    "Thus": ("Nevertheless", "Even so"),
    "However": ("For this very reason", "As a result", "Consequently"),
    "Although": ("Because", "Since"),
    "although": ("because", "since"),
    "Even though": ("Because", "Since"),
    "Despite": ("Because of", "On account of"),
    "despite": ("because of", "on account of", "as a result of"),
    "Nevertheless": ("Therefore", "As a result"),
    "Moreover": ("Conversely", "For that reason"),
    "notwithstanding": ("because of", "on account of"),
}
_CONNECTIVE = re.compile(
    rf"\b(?:{'|'.join(sorted(_CONNECTIVES, key=len, reverse=True))})\b(?! (?:mild|moderate|some) )"
)
_CIRCULAR = [
    "because {it} {so}",
    "since {it} {so}",
    "for the simple reason that {it} {so}",
    "which {follows} from the very fact that {it} {so}",
    "because {no}",
    "as {no}",
]
_CIRCLE = {
    "it": ["this", "this point", "that conclusion", "the statement made here", "this view"],
    "so": ["has just been stated", "is the case", "must be taken as given", "is already settled",
           "is what is being said here", "holds by its own terms", "has to be presupposed in order to be shown",
           "is true whenever it is true"],
    "follows": ["follows", "results", "is evident"],
    "no": ["anything else would mean that this was not the case", "the opposite would not be what is maintained here",
           "it could not be otherwise if it is as stated",
           "this is precisely what had to be shown and is therefore shown",
           "the conclusion would otherwise not be the conclusion that was drawn"],
}  # fmt: skip


def _alike(new: str, old: str) -> str:
    return new[0].upper() + new[1:] if old[0].isupper() and new[0].islower() else new


def _choose(places: list[re.Match[str]], rng: Random) -> re.Match[str] | None:
    return rng.choice(places) if places else None


@operator(1, "reversed_conclusion")
def reversed_conclusion(case: Case, step: Step, rng: Random) -> Edit | None:
    """The conclusion of an inference becomes its opposite, its grounds stay."""
    places = [
        match
        for start, end in body_sentences(step, 5)
        if _INFERENCE.search(step.text, start, end)
        for match in _FLIP.finditer(step.text, start, end)
        if not _NEGATED.search(step.text[start : match.start()])
        and step.text[match.start() - 1] not in "\"'‘“"
        and (match[0].lower() not in _FINDINGS or _VERBAL.search(step.text[body(step) : match.start()]))
    ]
    match = _choose(places, rng)
    return step.edit(match.span(), _alike(rng.choice(_FLIPS[match[0].lower()]), match[0])) if match else None


@operator(1, "wrong_connective")
def wrong_connective(case: Case, step: Step, rng: Random) -> Edit | None:
    """What was a reason is named an obstacle, what was an obstacle a reason."""
    places = [m for start, end in body_sentences(step, 6) for m in _CONNECTIVE.finditer(step.text, start, end)]
    match = _choose([m for m in places if not step.text[: m.start()].endswith(("and ", "or ", "not ", "less "))], rng)
    return step.edit(match.span(), rng.choice(_CONNECTIVES[match[0]])) if match else None


@operator(1, "overreach")
def overreach(case: Case, step: Step, rng: Random) -> Edit | None:
    """What the grounds make likely, or show of some, is said to be certain, or of all."""
    places = [m for start, end in body_sentences(step, 6) for m in _HEDGE.finditer(step.text, start, end)]
    match = _choose(
        [m for m in places if not re.search(r"\b(?:not|the|very|more|an?)\s$", step.text[: m.start()])], rng
    )
    return step.edit(match.span(), _CERTAIN[match[0]]) if match else None


@operator(1, "circular_reason")
def circular_reason(case: Case, step: Step, rng: Random) -> Edit | None:
    """The ground of a conclusion is replaced by the conclusion itself."""
    places = [m for start, end in body_sentences(step, 8) for m in links(step.text, start, end)]
    match = _choose([m for m in places if m["link"] not in ("supported by", "suggested by")], rng)
    return step.edit(match.span(), fitted(_CIRCULAR, _CIRCLE, len(match[0]), rng)) if match else None


@operator(1, "contradicts_earlier_step")
def contradicts_earlier_step(case: Case, step: Step, rng: Random) -> Edit | None:
    """A sentence gives way to the denial of what an earlier step has said."""
    targets = [(a, b) for a, b in body_sentences(step, 8) if step.text[b - 1] == "."]
    denials = [
        denial
        for earlier in split_steps(case.reference)
        if earlier.end <= step.start
        for start, end in body_sentences(earlier, 7)
        if (denial := _denied(earlier.text[start:end]))
    ]
    fits = [(t, d) for t in targets for d in denials if 0.6 * (t[1] - t[0]) <= len(d) <= 1.5 * (t[1] - t[0])]
    if not fits:
        return None
    (start, end), denial = rng.choice(fits)
    lead = wording(["{lead}", "{lead}", "{none}"], {"none": [""], "lead": [
        "As stated above, ", "It is recalled that ", "As already noted, ", "To repeat, ", "As has been shown, ",
        "Again, ", "As explained earlier, ", "In line with what was said above, ", "It has been established that ",
    ]}, rng)  # fmt: skip
    if not re.match(r"(?:The|This|It|In|There|A|An|These|Those|All|Both|His|Her|Their|No) ", denial):
        lead = ""
    text = lead + (denial[0].lower() + denial[1:] if lead else denial)
    return step.edit((start, end), text)


def _denied(sentence: str) -> str | None:
    """The sentence with its first auxiliary negated, or freed of its `not`; None where it has none or is a question."""
    match = _AUXILIARY.search(sentence)
    if match is None or sentence[-1] != "." or not balanced(sentence) or _DEPENDENT.search(sentence[: match.start()]):
        return None
    new = "can" if match[3] else match[1] if match[2] else f"{match[1]} not"
    return sentence[: match.start()] + new + sentence[match.end() :]
