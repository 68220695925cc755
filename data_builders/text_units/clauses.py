"""Finds the parts of a sentence: its reason, and what it asks for.

The finders take a text and the characters `[start, end)` of the sentence, and yield intervals of the text.
"""

import re
from collections.abc import Iterator

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.text_units.edits import Interval


class _Words(Lexicon):
    subordinate_openings: tuple[str, ...]
    finite_verbs: tuple[str, ...]
    action_verbs: tuple[str, ...]


_WORDS = load_lexicon("clauses", _Words)
ACTION_VERBS = frozenset(_WORDS.action_verbs)
_TEXT = r"(?:[^.;:?\n]|\.(?=[\w,)]|[’']s\b))"
_STOP = r"\.[\"'”’»)\]*]*\s*$"
"""The last full stop of the sentence. Behind a full stop within it, as in `E. coli`, nothing is replaced."""
_END = rf"(?={_STOP}|[;:?\n]|$)"
_REASON = re.compile(
    r"(?<!not )(?<!even )(?<!partly )"
    r"(?<!and )(?<!have )(?<!has )(?<!had )(?<!is )(?<!was )(?<!are )(?<!were )(?<!been )(?<!be )"
    r"\b(?:due to|because of|because|(?:(?<=ed )|(?<=out )|(?<=ly )|(?<=, ))based on|given that"
    r"|given(?! (?:to|by|in|the opportunity|up))|owing to|on account of|in view of|in light of|in the light of"
    r"|on the basis of|(?<=, )(?:supported|suggested) by|as evidenced by|as shown by|on the grounds? that)"
    r"\s+(?![A-Z][a-z])(?P<ground>[^.;:?\n]{14,}?)"
    rf"(?=\s*(?:{_STOP}|[;\n]|$|, (?:but|while|whereas|so|thus|therefore|although)\b))",
)
_AGENT = (
    r"(?:\b(?:authors?|researchers?|reviewers?|editors?|clinicians?|physicians?|doctors?|surgeons?|team|State|States"
    r"|Government|authorities|you|they)(?: (?:also|still|then|now|therefore|certainly|really))? )"
)
_TASK = re.compile(
    rf"(?:{_AGENT}(?:should|must|needs? to|ought to|will (?:need|have) to|would (?:need|have) to)"
    r"|\b[Pp]lease|\b(?:I|[Ww]e) (?:would |also |strongly )?(?:suggest|recommend|advise|urge) (?:the authors )?to"
    r"|\b[Ii]t (?:would|might) be (?:good|useful|helpful|important|nice|better|valuable|interesting) to)"
    r"\s+(?!be\b|have\b|not\b|only\b|then\b|could\b|can\b|see\b|note\b)"
    rf"(?P<action>[a-z]+(?<!ly) {_TEXT}{{14,}}){_END}"
)
_MEASURE = re.compile(
    r"\b(?:should|must|needs? to|ought to|will (?:need|have) to)(?: also| then| still| therefore)?"
    rf"\s+(?P<action>be [a-z]+ed\b{_TEXT}{{8,}}){_END}"
)
_NOBODY = re.compile(r"\b(?:no(?!\. ?\d)|none|nobody|nothing|neither|not|cannot|few|never)\b[^,;]*$", re.IGNORECASE)
_SUBORDINATE = re.compile(
    rf"^(?:{'|'.join(_WORDS.subordinate_openings)})\b"
    r"|(?:^|[,;–—-] |\band |\bbut )"
    r"(?:which|who|whose|whom|where|when|if|as|while|although|because|since|that|unless)\b[^,]*$",
    re.IGNORECASE,
)
FINITE = re.compile(
    rf"(?<!\bto )\b(?:{'|'.join(_WORDS.finite_verbs)})\b|n['’]t\b"
    r"|^[\"*]*(?:(?:Initially|Strongly|Less|Highly|Also) )?"
    r"(?:Excluded|Considered|Indicated|Supported|Suspected|Suggested|Confirmed|Ruled out|Identified|Deemed|Preferred"
    r"|Chosen|Likely|Unlikely|Possible)\b"
)
_OPEN_GROUND = re.compile(r"\b(?:is|are|was|were|has|have|had|should|must) (?:therefore|thus|accordingly|also)\b")
_GROUNDED = re.compile(
    r"[*]*(?:Based on|Given|Because|Since|In view of|In (?:the )?light of|Due to|Having regard to"
    r"|In these circumstances"
    r"|For th(?:is|ese) reasons?|Therefore|Thus|Accordingly|Consequently|Hence)\b[^;:]*[, ]$"
)
_DRAWN = re.compile(
    r"(?:, (?:so|hence|thus|therefore)|; therefore|\btherefore|\bconcludes that|\bit follows that)\b[^,;:]*$"
)


def reasons(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield the reasons behind a main clause, such as `because …` and `due to …`."""
    for match in _REASON.finditer(text, start, end):
        before = text[start : match.start()].rstrip(" ,*")
        if is_balanced(match[0]) and is_main_clause(before) and not _OPEN_GROUND.search(match["ground"]):
            yield match.span()


def in_inference(text: str, start: int, position: int, end: int) -> bool:
    """Whether the word at `position` of a sentence belongs to a conclusion with a stated ground."""
    for begin, _ in reasons(text, start, end):
        return position < begin
    before = text[start:position]
    return _GROUNDED.match(before) is not None or _DRAWN.search(before) is not None


def tasks(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield what somebody should do: the action after `the authors should`, `please` and the like.

    Imperatives are left out: a vague one that is a whole sentence reads as a placeholder."""
    for match in _TASK.finditer(text, start, end):
        yield match.span("action")


def measures(text: str, start: int, end: int) -> Iterator[Interval]:
    """Yield what should be done to the subject: `be repeated in June`, up to the end of the sentence."""
    for match in _MEASURE.finditer(text, start, end):
        if not _NOBODY.search(text, start, match.start()):
            yield match.span("action")


def is_balanced(text: str) -> bool:
    """Whether all brackets, quotation marks and bold markers close within the text."""
    pairs = (("(", ")"), ("[", "]"), ("“", "”"))
    return all(text.count(a) == text.count(b) for a, b in pairs) and not (text.count('"') % 2 or text.count("**") % 2)


def is_main_clause(text: str) -> bool:
    """Whether the text has a finite verb outside subordinate clauses, and behind its last `that` if it has one."""
    last = re.split(r"\bthat\b", text)[-1]
    return bool(FINITE.search(last)) and "the fact that" not in text and not _SUBORDINATE.search(text)
