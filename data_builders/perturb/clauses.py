"""Parts of a sentence that an operator replaces: its reason, its opening, its advice, its aim. Spans in the text given."""

import re
from collections.abc import Iterator

from data_builders.perturb.operators import Step
from data_builders.perturb.steps import body_sentences

Clause = tuple[int, int]

_REASON = re.compile(
    r"\b(?P<link>due to|because of|because|based on|given(?! (?:to|by|in|the opportunity))|owing to|on account of|in view of|in light of"
    r"|in the light of|on the basis of|supported by|suggested by|as evidenced by|as shown by|on the ground that"
    r"|on the grounds that)\s+(?P<ground>[^.;:\n]{18,}?)(?=\s*(?:[.;:\n]|$|, (?:and|but|which|while|the|so|thus)\b))",
)
_OPENING = re.compile(
    r"^(?:In (?:the )?(?:light|view) of|Having regard to|In these circumstances|In the (?:present|instant) case|Moreover|Furthermore"
    r"|In addition|However|Therefore|Accordingly|Overall|In general|Based on|Given|Considering|As regards|Turning to|Firstly"
    r"|Lastly|Finally|Nevertheless|Consequently|First|Second|Secondly|Thirdly|In summary|In conclusion|In particular)[^,.;:\n]{0,90},\s"
)
_ADVICE = re.compile(
    r"\b(?:should|must|need(?:s)? to|ought to|please|(?:is|are|was|were) (?:required|indicated|recommended|essential|necessary"
    r"|crucial|warranted|chosen|selected|initiated|planned|performed)(?: to| for)?|would (?:suggest|recommend|advise|like)"
    r"|(?:suggest|recommend|advise)(?: that| to)?|will (?:need|have) to|required to|obliged to|obligation to|aim(?:s|ed)? to"
    r"|it (?:would|might) be (?:good|useful|helpful|important|nice|better|valuable|interesting|worth))\s+(?P<what>[^.;:?\n]{20,})(?=[.;:?\n]|$)",
    re.IGNORECASE,
)
_AIM = re.compile(
    r"(?P<what>\b(?:in order to|so as to|so that|aiming to|aimed at|with the aim of|thereby|thus|to)\s+[^\W\d_]{3,}[^.;:?\n]{14,})(?=[.;:?\n]|$)"
)
_IMPERATIVE = re.compile(r"^(?:To )?(?P<what>[A-Z][a-z]+e?(?<!ed)(?<!ing) (?!and\b)[a-z][^.;:?\n]{16,})(?=[.;:?\n]|$)")
_VERBS = frozenset(
    ["achieve", "address", "administer", "alleviate", "avoid", "begin", "control", "continue", "correct", "decrease", "delay", "eliminate", "enhance", "ensure", "eradicate", "excise", "facilitate", "halt", "improve", "initiate", "limit", "maintain", "manage", "minimize", "minimise", "mitigate", "monitor", "optimize", "perform", "preserve", "prevent", "promote", "protect", "provide", "reduce", "relieve", "remove", "repair", "replace", "resolve", "restore", "secure", "stabilize", "support", "suppress", "treat", "use", "apply", "start", "stop", "taper", "add", "avoid", "clarify", "check", "correct", "describe", "discuss", "explain", "give", "include", "indicate", "mention", "provide", "put", "remove", "rephrase", "report", "revise", "rewrite", "show", "specify", "state", "consider"]
)


def reasons(text: str, start: int, end: int) -> Iterator[Clause]:
    """`because …`, `due to …`: the link and the ground."""
    for match in _REASON.finditer(text, start, end):
        yield match.span()


def links(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The same, as matches with the groups `link` and `ground`."""
    return _REASON.finditer(text, start, end)


def opening(text: str, start: int, end: int) -> Clause | None:
    """`In view of …, `: the words before the first comma of a sentence, with comma and space."""
    match = _OPENING.match(text[start:end])
    return (start, start + match.end()) if match else None


def advice(text: str, start: int, end: int) -> Iterator[Clause]:
    """What should, must or is to be done, up to the end of its sentence."""
    for match in _ADVICE.finditer(text, start, end):
        yield match.span("what")
    order = _IMPERATIVE.match(text[start:end])
    if order and order["what"].split()[0].lower() in _VERBS:
        yield start + order.start("what"), start + order.end("what")


def aims(text: str, start: int, end: int) -> Iterator[Clause]:
    """`to …`, `so that …`: what something is done for, up to the end of its sentence."""
    for match in _AIM.finditer(text, start, end):
        yield match.span("what")


def sentences_of(step: Step, least: int = 7, most: int = 70) -> list[Clause]:
    """Whole sentences of a step that may be replaced: long enough to say something, ended, without a colon."""
    return [
        (start, end)
        for start, end in body_sentences(step, least)
        if len(step.text[start:end].split()) <= most and step.text[end - 1] in ".!?" and ":" not in step.text[start:end]
    ]
