"""Finds statements and reasons of other steps: P1 denies the first and misplaces the second."""

import re
from functools import lru_cache

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.clauses import ACTION_VERBS, is_balanced, is_main_clause, reason_matches
from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.sentence_parts import whole_sentences
from data_builders.perturb.rules.steps import body_sentences, split_steps
from data_builders.perturb.rules.text_match import stems

_FUNCTION_WORDS = load_lexicon("function_words", frozenset[str])
_FRAME = re.compile(
    r"^(?:(?:In (?:the (?:present|instant) case|this (?:connection|respect|context)), )?"
    r"(?:[Tt]he Court|[Ii]t)(?: also| further| therefore)? (?:notes|observes|considers|finds|accepts|recalls)"
    r"(?: at the outset| further| also)? that |(?:Moreover|Furthermore|However|In addition|Finally|Secondly|Firstly), )"
)
_SEPARATOR = re.compile(r"; |, (?:and|but|so|because|since) ")
_BRACKETED = re.compile(r" ?\([^()]*\)")
_UNCLEAR = re.compile(
    r"^(?:neither|either|only|it|this|these|those|that|they|he|she|his|her|their|its|such|another|other|both|and|but|or|nor|so|yet|here|i|we"
    r"|my|our|you|then|thus|there has accordingly|whether|if|what|how)\b"
    r"|[,;:(\[“”\"?*]|\b(?:above|below|however|therefore|also|again|same|I|my|this|these|such|latter|former)\b|[–—]",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\b(?:that|which|who)(?: \S+){0,2}$|\b(?:and|or|of|to|the|a|an|in|by|for|with|is|are|was|were)$"
)
_MIN_WORDS, _MAX_WORDS, _MAX_REASON, _MIN_STEM, _SHARED = 5, 22, 160, 5, 2
_PARTICIPLE = re.compile(r"^(?:Excluded|Ruled out|Considered|Suspected|Confirmed|Supported|Suggested|Recommended)\b")
_COORDINATED = re.compile(r"^\w+(?: \w+)? but\b|\b(?:was|were|is|are|been|be) \w+ and\b")
_VIOLATION = re.compile(r"\bbeen (no|a) (?:violation|breach|interference)\b")
_AUXILIARY = re.compile(
    r"\b(?P<cannot>cannot)\b|\b(?:(?P<verb>is|are|was|were|can|could|should|would|must|will"
    r"|(?:has|have|had)(?= (?:not )?(?:been|\w+ed|shown|given|taken|made|found|become|begun)\b))(?P<negated> not)?"
    r"|does|did|do)\b"
)
_BEFORE_VERB = re.compile(
    r"^(?:But|And|However|So|Or|All|Both|Some|Many|Most|No|Neither|Nothing|Nobody|None|Only|Every|Each|Few|Little|If|When"
    r"|What|Although|While|As|Since|Because)\b|[\n(,?]"
    r"|\b(?:how|whether|if|when|where|what|why|because|since|although|while|who|which|as|no|not|never|neither|only|nor)\b"
    r"|\bthat $",
)
_POLAR = re.compile(
    r"^ (?:not|no|never|only|also|always|nor|often|usually|already|still|thus|therefore|then|both|all"
    r"|(?:admitted|certain|clear|evident|apparent|probab|possib|presumab|undoubted|according|mere|main|primari|part"
    r"|partial|sole|exclusive|hard|scarce|bare|rare|large|most|simp)ly|indeed|however|perhaps|just|in part|at least)\b"
    r"|^ (?:about |approximately )?\d"
    r"|\b(?:any|either|neither|yet|nor|but|at all|even|until|anything|unless|only|no|none|nothing|rather than)\b"
)
_EXCLUDES = re.compile(
    r"\b(?:[Ee]xclu\w+|[Rr]ul\w+ out|[Uu]nlikely|[Ll]ess likely|not|cannot|no|reject\w*|against|fail\w*)\b"
)
_ANAPHOR = re.compile(
    r"\b(?:it|its|this|these|those|they|them|their|he|she|his|her|him|such|above|below|latter|former|same|other|another|here"
    r"|there|I|we|you|your|my|our|also|both|more|less)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=16)
def _premises(reference: str) -> tuple[tuple[int, str], ...]:
    """Return the step index and text of each statement that can stand behind `since`."""
    return tuple(
        (step.index, lower_first(text, reference))
        for step in split_steps(reference)
        for start, end in whole_sentences(step, _MIN_WORDS)
        if step.text[end - 1] == "."
        for text in _SEPARATOR.split(_FRAME.sub("", _BRACKETED.sub("", step.text[start : end - 1])))
        if _is_statement(text)
    )


def _is_statement(text: str) -> bool:
    first = text.split(" ", 1)[0]
    return (
        _MIN_WORDS <= len(text.split()) <= _MAX_WORDS
        and first.lower() in ("the", "a", "an", "there")
        and first.lower() not in ACTION_VERBS
        and not first.endswith(("ed", "ing"))
        and not re.search(r"\b[A-Z]{4,} [A-Z]{4,}\b", text)
        and not _UNFINISHED.search(text)
        and not _UNCLEAR.search(text)
        and is_main_clause(text)
    )


def related_statements(reference: str, step: Step, sentence: str) -> list[str]:
    """Return what other steps state about a thing that the sentence names, as clauses."""
    named = _long_stems(sentence)
    return [text for index, text in _premises(reference) if index != step.index and named & _long_stems(text)]


def denials(reference: str, step: Step, sentence: str) -> list[str]:
    """Return the denials of what other steps state about a thing that the sentence names, as clauses."""
    named = _long_stems(sentence)
    return [
        denied
        for index, text in _premises(reference)
        if index != step.index and len(named & _long_stems(text)) >= _SHARED and (denied := denied_clause(text))
    ]


def denied_clause(clause: str) -> str | None:
    """Negate the main verb of a clause, or remove its `not`. None if the clause has no auxiliary to do this."""
    if _COORDINATED.search(clause):
        return None
    if participle := _PARTICIPLE.match(clause):
        return f"Not {participle[0].lower()}{clause[participle.end() :]}"
    if match := _VIOLATION.search(clause):
        return clause[: match.start(1)] + ("no" if match[1] == "a" else "a") + clause[match.end(1) :]
    match = _AUXILIARY.search(clause)
    if match is None or not is_balanced(clause) or _BEFORE_VERB.search(clause[: match.start()]):
        return None
    if _POLAR.search(clause[match.end() :]):
        return None
    if match["cannot"]:
        new = "can"
    elif match["verb"]:
        new = match["verb"] if match["negated"] else f"{match['verb']} not"
    else:
        return None
    return clause[: match.start()] + new + clause[match.end() :]


@lru_cache(maxsize=16)
def _reasons(reference: str) -> tuple[tuple[int, str, frozenset[str], bool], ...]:
    """Return the step index, the text, the stems and the polarity of each reason that is clear without its sentence."""
    return tuple(
        (
            step.index,
            match[0],
            _long_stems(match["ground"]),
            _EXCLUDES.search(step.text, start, match.start()) is not None,
        )
        for step in split_steps(reference)
        for start, end in body_sentences(step, 5)
        for match in reason_matches(step.text, start, end)
        if not _ANAPHOR.search(match["ground"]) and len(match[0]) <= _MAX_REASON
    )


def foreign_reasons(reference: str, step: Step, sentence: str) -> list[str]:
    """Return reasons of other steps that share no word with the sentence and have another kind of conclusion."""
    excludes, named = _EXCLUDES.search(sentence) is not None, _long_stems(sentence)
    return [
        text
        for index, text, stems, other in _reasons(reference)
        if index != step.index and (excludes or other) and not named & stems
    ]


def _long_stems(text: str) -> frozenset[str]:
    return frozenset(stem for stem in stems(text) if len(stem) >= _MIN_STEM)


def lower_first(text: str, reference: str) -> str:
    """Lower the first letter unless the first word may be a name or an abbreviation."""
    first = re.split(r"\W", text, maxsplit=1)[0]
    lower = first.lower()
    is_name = first[1:] != lower[1:] or (len(first) < 2 and first != "A")
    is_word = lower in _FUNCTION_WORDS or re.search(rf"\b{re.escape(lower)}s?\b", reference) is not None
    is_ending = re.search(r"(?:ing|tion|ment|ness|ity|sis|ies|ive|al)s?$", lower) is not None
    return text if is_name or not (is_word or is_ending) else lower + text[len(first) :]
