"""Finds the parts of a step that operators replace or add to: sentences, and the reason, opening or tail of one.

The finders of one sentence take a text and the characters `[start, end)` of the sentence, and yield intervals of the
text.
"""

import re
from collections.abc import Iterator

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.steps import body_sentences


class _Words(Lexicon):
    openings: tuple[str, ...]
    subordinate_openings: tuple[str, ...]
    finite_verbs: tuple[str, ...]
    action_verbs: tuple[str, ...]


_WORDS = load_lexicon("clauses", _Words)
ACTION_VERBS = frozenset(_WORDS.action_verbs)
_REASON = re.compile(
    r"(?<!not )(?<!partly )\b(?P<link>due to|because of|because|based on|given that|given(?! (?:to|by|in|the opportunity|up))|owing to"
    r"|on account of|in view of|in light of|in the light of|on the basis of|supported by|suggested by|as evidenced by"
    r"|as shown by|on the ground that|on the grounds that)\s+(?P<ground>[^.;:\n]{14,}?)"
    r"(?=\s*(?:\.(?!\w)|[;\n]|$|, (?:but|which|while|whereas|so|thus|therefore|although)\b))",
)
_OPENING = re.compile(rf"^(?:{'|'.join(_WORDS.openings)})[^,.;:\n]{{0,90}},\s")
_AGENT = (
    r"(?:\b(?:authors?|researchers?|reviewers?|editors?|clinicians?|physicians?|doctors?|surgeons?|team|State|States"
    r"|Government|authorities|[Ww]e|I|you|they)(?: (?:also|still|then|now|therefore|certainly|really))? )"
)
_TASK = re.compile(
    rf"(?:{_AGENT}(?:should|must|needs? to|ought to|will (?:need|have) to|would (?:need|have) to)"
    r"|\b[Pp]lease|\b(?:I|[Ww]e) (?:would |also |strongly )?(?:suggest|recommend|advise|urge) (?:the authors )?to"
    r"|\b[Ii]t (?:would|might) be (?:good|useful|helpful|important|nice|better|valuable|interesting) to)"
    r"\s+(?!be\b|have\b|not\b|only\b|then\b)(?P<action>[a-z]+(?<!ly) (?:[^.;:?\n]|\.\w){14,})(?=\.(?!\w)|[;:?\n]|$)"
)
_MEASURE = re.compile(
    r"\b(?:should|must|needs? to|ought to|will (?:need|have) to)(?: also| then| still| therefore)?"
    r"\s+(?P<action>be [a-z]+ed\b(?:[^.;:?\n]|\.\w){8,})(?=\.(?!\w)|[;:?\n]|$)"
)
_NO_AIM = re.compile(
    r"(?:\b(?:fail\w*|needs?|ought|able|unable|likely|unlikely|shown|found|used|requir\w+|refus\w+|order\w*"
    r"|decid\w+|decision|tend\w*|seem\w*|appear\w*|continu\w+|attempt\w*|allow\w*|right|rights|opportunity|duty"
    r"|obligation|obliged|ability|possib\w+|sufficient|enough|how|when|whether|where|what|and|or|not|free|going|has|have"
    r"|had|is|are|was|were|been|be|entitled|expected|power|reluctan\w+|way|ways|difficult|easy|important|useful|helpful"
    r"|necessary|good|better|suggest|recommend|like|want\w*|wish\w*|intend\w*|aim|aims|aimed|request\w*|chosen|try"
    r"|tried|hard|reason|time|permission|consent|too|leads?|led|made|make|considered|thought|known|said|believed)"
    r"|[,(])\s*$"
)
_AIM = re.compile(
    rf"(?<!order )(?<!as )(?P<aim>\b(?:in order to|so as to|to)\s+(?:{'|'.join(_WORDS.action_verbs)})\b"
    r"[^.;:?\n]{14,})(?=[.;:?\n]|$)"
)
_IMPERATIVE = re.compile(
    r"^(?:To )?(?P<action>[A-Z][a-z]+e?(?<!ed)(?<!ing) (?!and\b)[a-z](?:[^.;:?\n]|\.\w){16,})(?=\.(?!\w)|[;:?\n]|$)"
)
_SUBORDINATE = re.compile(
    rf"^(?:{'|'.join(_WORDS.subordinate_openings)})\b"
    r"|(?:^|[,;–—-] |\band |\bbut )"
    r"(?:which|who|whose|whom|where|when|if|as|while|although|because|since|that|unless)\b[^,]*$",
    re.IGNORECASE,
)
_FINITE = re.compile(
    rf"(?<!\bto )\b(?:{'|'.join(_WORDS.finite_verbs)})\b|n['’]t\b|^[\"*]*(?:(?:Initially|Strongly|Less|Highly|Also) )?"
    r"(?:Excluded|Considered|Indicated|Supported|Suspected|Suggested|Confirmed|Ruled out|Identified|Deemed|Preferred|Chosen"
    r"|Likely|Unlikely|Possible)\b"
)
_CLOSED = re.compile(r"[.)\]”\"’]$|\betc$|\b(?:if|unless|, who|, which|, because|, since)\b[^,]*$")
_OPEN_GROUND = re.compile(r"\b(?:is|are|was|were|has|have|had|should|must) (?:therefore|thus|accordingly|also)\b")
_GROUNDED = re.compile(
    r"[*]*(?:Based on|Given|Because|Since|In view of|In (?:the )?light of|Due to|Having regard to|In these circumstances"
    r"|For th(?:is|ese) reasons?|Therefore|Thus|Accordingly|Consequently|Hence)\b[^;:]*[, ]$"
)
_DRAWN = re.compile(
    r"(?:, (?:so|hence|thus|therefore)|; therefore|\btherefore|\bconcludes that|\bit follows that)\b[^,;:]*$"
)
_FRAGMENT = re.compile(
    r"(?:(?:Initially|Strongly|Also|Less) )?(?:Excluded|Ruled out|Considered|Suspected|Less likely|Unlikely|Supported)\b"
)
_ADVICE = re.compile(
    r"\b(?:should|must|needs? to|ought to|recommend\w*|I (?:would )?suggest|is to be|will be|can be|[Pp]lease|plan\w*|necessary to)\b"
)
_OPEN_ADVICE = re.compile(
    r"\b(?:should|must|can) (?:not|never|be (?:noted|seen|considered|understood|declared|rejected|examined|kept in mind))"
    r"|\b(?:not|never|cannot|could have|should have|would have|without|unless|if)\b"
)
_TAIL_START = re.compile(
    r", (?=(?:which|while|whereas|although|though|because|since|thereby|thus|so|but|with|without|given|especially"
    r"|particularly|where|unless|despite|[a-z]{3,}ing)\b)"
)
_DEPENDENT = re.compile(
    r"[\"'“‘(\[*]*(?:It|This|These|Those|That|They|He|She|His|Her|Their|Its|Such|Both|Here|There|Then|However|But"
    r"|Nevertheless|Moreover|Furthermore|Also|In (?:addition|particular|this|that|such|these|contrast)|Thus|Therefore"
    r"|Hence|Accordingly|Consequently|Otherwise|Instead|Similarly|Likewise|The (?:latter|former|same|other|second)|So"
    r"|And|Or|Yet|For (?:example|instance|this|that)|Nor|Neither|Indeed|Another|Others?|As (?:a|such)|On the (?:other"
    r"|contrary)|Some|Again|Even|Finally|Secondly?|Thirdly?|Rather|Still|Similar)\b"
)


def reasons(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield `because …`, `due to …`: a link and its ground."""
    for match in reason_matches(text, start, end):
        yield match.span()


def reason_matches(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the reasons behind a main clause as matches with the groups `link` and `ground`."""
    for match in _REASON.finditer(text, start, end):
        before = text[start : match.start()].rstrip(" ,*")
        if is_balanced(match[0]) and is_main_clause(before) and not _OPEN_GROUND.search(match["ground"]):
            yield match


def reason_tails(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield reasons that end a sentence, with the comma or space before them: a clause can take their place."""
    for match in reason_matches(text, start, end):
        before = text[start : match.start()].rstrip(" ,")
        if match.end() >= end - 1 and before[-1:].isalnum():
            yield start + len(before), match.end()


def in_inference(text: str, start: int, position: int, end: int) -> bool:
    """Whether the word at `position` of a sentence belongs to a conclusion with a stated ground."""
    for match in reason_matches(text, start, end):
        return position < match.start()
    before = text[start:position]
    return _GROUNDED.match(before) is not None or _DRAWN.search(before) is not None


def openings(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield `In view of …, `: an opening phrase up to the first comma and the space after it."""
    if match := _OPENING.match(text[start:end]):
        yield start, start + match.end()


def tasks(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield what somebody should do: the action after `the authors should`, `please` and the like, and imperatives."""
    for match in _TASK.finditer(text, start, end):
        yield match.span("action")
    imperative = _IMPERATIVE.match(text[start:end])
    if imperative and imperative["action"].split()[0].lower() in _WORDS.action_verbs:
        yield start + imperative.start("action"), start + imperative.end("action")


def measures(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield what should be done to the subject: `be repeated in June`, up to the end of the sentence."""
    for match in _MEASURE.finditer(text, start, end):
        yield match.span("action")


def aims(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield `to …`: the purpose of an action, from behind a main clause up to the end of the sentence."""
    for match in _AIM.finditer(text, start, end):
        before = text[start : match.start()]
        is_order = before.partition(" ")[0].lower() in (*ACTION_VERBS, "please")
        if (is_order or is_main_clause(before)) and not _NO_AIM.search(before):
            yield match.span("aim")


def is_balanced(text: str) -> bool:
    """Whether all brackets, quotation marks and bold markers close within the text."""
    pairs = (("(", ")"), ("[", "]"), ("“", "”"))
    return all(text.count(a) == text.count(b) for a, b in pairs) and not (text.count('"') % 2 or text.count("**") % 2)


def whole_sentences(step: Step, min_words: int = 7, max_words: int = 70) -> list[Interval]:
    """Return the statements of a step that are complete, without a colon, and neither short nor long."""
    return [
        (start, end)
        for start, end in body_sentences(step, min_words)
        if len((text := step.text[start:end]).split()) <= max_words
        and text[-1] == "."
        and text[0].isupper()
        and ":" not in text
        and is_balanced(text)
    ]


def replaceable_sentences(step: Step) -> list[Interval]:
    """Return the whole sentences that no other text of the step depends on: no heading names them, and no sentence
    refers to the one before."""
    return [
        (start, end)
        for start, end in whole_sentences(step, max_words=45)
        if not _has_dependent(step, end)
        and not step.text[:start].rstrip(" *\n").endswith((":", "–", "—"))
        and is_main_clause(
            re.split(r",", step.text[start:end])[0] + " "
            if "," not in step.text[start:end]
            else step.text[start : end - 1]
        )
    ]


def _has_dependent(step: Step, end: int) -> bool:
    return _DEPENDENT.match(step.text[end:].lstrip()) is not None


def is_main_clause(text: str) -> bool:
    """Whether the text up to its last comma or end has a finite verb outside subordinate clauses."""
    return bool(_FINITE.search(text)) and not _SUBORDINATE.search(text)


def sentence_ends(step: Step) -> list[Interval]:
    """Return the empty intervals behind whole sentences, where a sentence can be added."""
    return [(end, end) for _, end in whole_sentences(step) if not _has_dependent(step, end)]


def sentence_closings(step: Step) -> list[Interval]:
    """Return the empty intervals before the full stops of whole statements, where a clause can be added."""
    return [
        (end - 1, end - 1)
        for start, end in whole_sentences(step, max_words=35)
        if step.text[end - 1] == "."
        and not _CLOSED.search(step.text[start : end - 1])
        and _FINITE.search(step.text[start:end])
    ]


def exclusions(step: Step) -> list[Interval]:
    """Return the fragments that say why an alternative was excluded or considered, without the full stop."""
    return [
        (start, end - (step.text[end - 1] == "."))
        for start, end in body_sentences(step, 4)
        if _FRAGMENT.match(step.text, start) and is_balanced(step.text[start:end]) and not _has_dependent(step, end)
    ]


def advice_closings(step: Step) -> list[Interval]:
    """Return the empty intervals before the full stops of sentences that say what should be done."""
    return [
        (place, place)
        for place, _ in sentence_closings(step)
        if _ADVICE.search(text := sentence_of(step, place)) and not _OPEN_ADVICE.search(text)
    ]


def sentence_of(step: Step, place: int) -> str:
    """Return the sentence that contains `place`."""
    return next((step.text[start:end] for start, end in body_sentences(step, 1) if start <= place <= end), "")


def sentence_tails(step: Step) -> list[Interval]:
    """Return, for whole sentences of at least 12 words, the text from a comma in the middle to the full stop."""
    return [tail for start, end in whole_sentences(step, 12) for tail in _tails(step.text, start, end)]


def _tails(text: str, start: int, end: int) -> Iterator[Interval]:
    for match in _TAIL_START.finditer(text[start:end]):
        comma = start + match.start()
        tail = text[comma : end - 1]
        if (
            0.3 < match.start() / (end - start) < 0.85
            and len(re.split(r"[;,]", text[start:comma])[-1].split()) > 3
            and is_main_clause(text[start:comma])
            and is_balanced(tail)
            and len(tail.split()) >= 4
        ):
            yield comma, end - 1
