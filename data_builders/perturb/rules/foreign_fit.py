"""Says whether a sentence of one case could be a sentence of another one: by grammar, words, people and names."""

import re
from collections.abc import Set
from functools import lru_cache

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.clauses import FINITE
from data_builders.perturb.rules.text_match import contains, content_words, sentence_index, vocabulary, words
from judge_r1.core.records import Case

MIN_NEW, MAX_SHARED = 2, 0.5
"""The words that the case must not have, and the share of the words that one sentence of the case may have."""

_FUNCTION_WORDS = load_lexicon("function_words", frozenset[str])
IDENTITY = re.compile(
    r"\b(?:years?[ -]old|aged|m[ae]n|wom[ae]n|male|female|boy|girl|born|lives?|gender|sex)\b", re.IGNORECASE
)
"""What every case says of its people."""
_UNFIT = re.compile(
    r"\b(?:histor\w+|diagnos\w+|sections?|articles?|act|code|laws?|convention"
    r"|is (?:an?|the|rare|extremely)|are|have been|cases|literature|patients|since then|overall"
    r"|according to|it was|shall|(?:next|following|same) (?:day|morning|week|months?|years?))\b",
    re.IGNORECASE,
)
"""What would not fit into another case: its past and outcome, the law of a country, general statements, and references
to other text."""
_LINKED = re.compile(
    r"\b(?:however|nevertheless|therefore|thus|hence|accordingly|consequently|in contrast|instead|likewise|similarly"
    r"|moreover|further(?:more)?|also|too|again|then|finally|later|earlier|afterwards|previously|subsequent(?:ly)?"
    r"|thereafter|meanwhile|already|still|another|the other|others|respectively|both|either|neither|such|of them"
    r"|this|these|those|first|second|third|last|next|remain(?:ing|der)|rest|initial(?:ly)?|due to th\w+)\b"
    r"|\b(?:against|about|in|of|on|to|for|with|by|from|at|under|after|before|during|over|upon) that\b"
    r"|\bthat [a-z]+[.,;]",
    re.IGNORECASE,
)
"""What refers to text or events before, or to one of several things."""
_OPENING_PRONOUN = re.compile(r"(?:[\w’'-]+,? ){0,3}(?:it|its|they|them|their|he|she|his|her|him)\b", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    r"(?:Showed|Revealed|Demonstrated|Underwent|Had|Has|Was|Were|Is|Did|Noted|Found|Reported|Presented|Developed|Received"
    r"|Denied|Complained|Started|Given|Detected|Confirmed|Performed|Observed|Indicated|Suggested|Suggestive|Treated"
    r"|Measuring|Showing|Revealing)\b"
)
_RELATIVE_TIME = re.compile(
    r"\bpost-?operativ\w*|\bday \d|\b\d+(?:st|nd|rd|th)\b (?:\w+ )?(?:day|week|month|year)|\bgestation\w*|\btrimester"
    r"|\b(?:minutes?|hours?|days?|weeks?|months?|years?) (?:later|earlier|after\w*|before|prior|ago|old|previously)\b",
    re.IGNORECASE,
)
"""Times that count from an event of the other case."""
_COMPLAINT = re.compile(
    r"\b(?:present(?:ed|ing|ation|s)|complain\w*|admi(?:tted|ssion)|current\w*|new|hospitali[sz]\w+)\b", re.IGNORECASE
)
_LASTING = re.compile(r"\bfor (?:the (?:past|last) )?(?:about |over )?[\w.]+ (?:days?|weeks?|months?|years?)\b")
"""Why somebody came, and for how long: every case says so, and would be contradicted."""
_PRESENT = re.compile(r"\b(?:is|has|does|can|(?:appear|remain|seem|occur|represent|include|account|cause|play)s?)\b")
_PAST = re.compile(r"\b(?:was|were|had|did|showed|revealed|found|gave|took|held|made|began|underwent|led|left)\b")
_PEOPLE = re.compile(
    r"\b(?:child\w*|infants?|neonat\w+|newborns?|bab(?:y|ies)|pregnan\w+|gestation\w*|f(?:o)?et\w+|matern\w+"
    r"|(?:grand)?(?:mother|father|parent|son|daughter|brother|sister)s?|wi(?:fe|ves)|husbands?|spouses?"
    r"|prisoners?|detainees?"
    r"|(?:first|second|third|fourth|fifth|sixth|other|two|three|both|all) applicants?|applicants|compan(?:y|ies)"
    r"|applicant \w+(?= (?:had|was|were|is|did))|organi[sz]ations?|associations?|part(?:y|ies)|newspapers?"
    r"|journalists?)\b",
    re.IGNORECASE,
)
"""People and bodies: a case must name those of a fact that it gets."""
_DEFINITE = re.compile(r"\b[Tt]he ([a-z-]{3,})(?: ([a-z-]{3,}))?")
"""The first two words of what a text takes as known."""
_VERB = re.compile(r"\w+ed|held|found|gave|took|made|began|could|would|did|\w+ly")
_INITIALS = re.compile(r"\b(?:[A-Z]\.)+|(?<=\s)[A-Z]\b(?![.-])")
_NAMED = re.compile(r"(?<=[^.] )[A-Z][\w’'-]*|\b(?:he|she|his|her|him|hers|they|their|them)\b")
"""Names and pronouns: a case must have those of a fact that it gets."""


@lru_cache(maxsize=1 << 14)
def can_move(text: str) -> bool:
    """Whether a sentence could stand in another case: it reports one event or finding and refers to no other text."""
    return not (
        IDENTITY.search(text)
        or _UNFIT.search(text)
        or _LINKED.search(text)
        or _RELATIVE_TIME.search(text)
        or _COMPLAINT.search(text)
        or (_LASTING.search(text) and not FINITE.search(text))
        or _OPENING_PRONOUN.match(text)
        or _NO_SUBJECT.match(text)
        or (_PRESENT.search(text) and not _PAST.search(text))
    )


def is_unstated(case: Case, text: str, near: Set[str] | None = None) -> bool:
    """Whether a case seems to say nothing on the matter of a text: a guess from words.

    With `near`, the words that the case does not have must be among them (`SimilarCases.words_near`).
    """
    stated, known = content_words(text), vocabulary(f"{case.context}\n\n{case.reference}")
    new = [stem for stem in stated if stem not in known]
    if len(new) < MIN_NEW or (near is not None and any(stem not in near and not stem[0].isdigit() for stem in new)):
        return False
    return all(
        len(sentence.stems.intersection(stated)) <= MAX_SHARED * len(stated)
        for sentence in sentence_index(case.context)
    )


def fits_case(case: Case, text: str) -> bool:
    """Whether a case knows whom a text names, and the things that the text takes as known."""
    known, whole = words_of(case.context, case.reference), f"{case.context}\n\n{case.reference}"
    definite = [word for found in _DEFINITE.finditer(text) for word in _noun(found[1], found[2])]
    named = words(" ".join([*_NAMED.findall(text), *definite]))
    return (
        set(named) <= known
        and all(contains(whole, match[0]) for match in _PEOPLE.finditer(text))
        and all(initials in whole for initials in _INITIALS.findall(text))
    )


def _noun(first: str, second: str | None) -> list[str]:
    """The words of a noun phrase among the two words behind "the"."""
    is_noun = second and second not in _FUNCTION_WORDS and not _VERB.fullmatch(second)
    return [first, second] if second and is_noun else [first]


@lru_cache(maxsize=8)
def words_of(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in words(text))
