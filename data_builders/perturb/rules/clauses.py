"""Parts of a sentence that an operator replaces: its reason, opening, advice, aim or tail; spans in the text given."""

import re
from collections.abc import Iterator

from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.steps import body_sentences

Clause = tuple[int, int]

_REASON = re.compile(
    r"\b(?P<link>due to|because of|because|based on|given(?! (?:to|by|in|the opportunity))|owing to|on account of"
    r"|in view of"
    r"|in light of|in the light of|on the basis of|supported by|suggested by|as evidenced by|as shown by"
    r"|on the ground that"
    r"|on the grounds that)\s+(?P<ground>[^.;:\n]{18,}?)(?=\s*(?:[.;:\n]|$|, (?:and|but|which|while|the|so|thus)\b))",
)
_OPENINGS = """
    Moreover|Furthermore|In addition|However|Therefore|Accordingly|Overall|In general|Based on|Given|Considering|
    As regards|Turning to|Firstly|Secondly|Thirdly|Lastly|Finally|Nevertheless|Consequently|First|Second|In summary|
    In conclusion|In particular|In view of|In light of|In the light of|Having regard to|In these circumstances|
    In the present case|In the instant case
"""
_OPENING = re.compile(rf"^(?:{'|'.join(words.strip() for words in _OPENINGS.split('|'))})[^,.;:\n]{{0,90}},\s")
_ADVICE = re.compile(
    r"\b(?:should|must|needs? to|ought to|please|would (?:suggest|recommend|advise|like) to"
    r"|(?:is|are|was|were) (?:required|indicated|recommended|essential|necessary|crucial|warranted|chosen|selected"
    r"|initiated|planned|performed) to"
    r"|(?:suggest|recommend|advise) to|will (?:need|have) to|required to|obliged to|obligation to|aim(?:s|ed)? to"
    r"|it (?:would|might) be (?:good|useful|helpful|important|nice|better|valuable|interesting) to)"
    r"\s+(?!have\b|not\b)(?P<what>[^.;:?\n]{20,})(?=[.;:?\n]|$)",
    re.IGNORECASE,
)
_ORDERS = """
    achieve add address administer alleviate apply avoid begin check clarify consider continue control correct
    decrease delay describe discuss eliminate enhance ensure eradicate excise explain facilitate give halt improve
    include indicate initiate limit maintain manage mention minimise minimize mitigate monitor optimize perform
    preserve prevent promote protect provide put reduce relieve remove repair rephrase replace report resolve restore
    revise rewrite secure show specify stabilize start state stop support suppress taper treat use
"""
_VERBS = frozenset(_ORDERS.split())
_AIM = re.compile(
    rf"(?P<what>\b(?:(?:in order to|so as to|aiming to|aimed at|with the aim of|so that)\s+[^\W\d_]{{3,}}"
    rf"|to\s+(?:{'|'.join(sorted(_VERBS))})\b)[^.;:?\n]{{14,}})(?=[.;:?\n]|$)"
)
_IMPERATIVE = re.compile(r"^(?:To )?(?P<what>[A-Z][a-z]+e?(?<!ed)(?<!ing) (?!and\b)[a-z][^.;:?\n]{16,})(?=[.;:?\n]|$)")


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


def tails(text: str, start: int, end: int) -> list[Clause]:
    """What stands between a comma in the middle of a sentence and its full stop."""
    spans = [
        (start + m.start(), end - 1)
        for m in re.finditer(r", (?![\w-]+(?: [\w-]+)?(?:,| and | or ))(?=[a-z])", text[start:end])
        if 0.3 < m.start() / (end - start) < 0.75
        and len(re.split(r"[;,]", text[start : start + m.start()])[-1].split()) > 3
    ]
    return [(a, b) for a, b in spans if text[b] == "." and balanced(text[a:b]) and len(text[a:b].split()) >= 4]


def balanced(text: str) -> bool:
    """Whether brackets, quotation marks and bold face close within the text."""
    pairs = (("(", ")"), ("[", "]"), ("“", "”"))
    return all(text.count(a) == text.count(b) for a, b in pairs) and not (text.count('"') % 2 or text.count("**") % 2)


def sentences_of(step: Step, least: int = 7, most: int = 70) -> list[Clause]:
    """Whole sentences of a step that may be replaced: long enough to say something, ended, without a colon."""
    return [
        (start, end)
        for start, end in body_sentences(step, least)
        if len((text := step.text[start:end]).split()) <= most
        and text[-1] in ".!?"
        and text[0].isupper()
        and ":" not in text
        and balanced(text)
    ]
