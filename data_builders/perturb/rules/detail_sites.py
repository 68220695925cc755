"""Finds the parts of a step to which a detail can be added, or whose place a detail can take."""

import re
from collections.abc import Iterator

from data_builders.perturb.rules.claims import claims
from data_builders.perturb.rules.clauses import ACTION_VERBS, is_balanced, is_main_clause, openings, reasons
from data_builders.perturb.rules.details import may_precede_detail, takes_detail
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.sentence_parts import sentence_tails, whole_sentences
from data_builders.perturb.rules.steps import body_sentences, body_start
from judge_r1.core.records import Case

MAX_WORDS = 45
"""A longer sentence takes no further clause."""

_BRACKET = re.compile(r"(?<=\()[^()\n]{8,90}(?=\))")
_CROSS_REFERENCE = re.compile(r"(?:see|cf\.?) (?:also )?paragraphs? \d[^()]*")
_NO_REMARK = re.compile(
    r"^(?:e\.g\.|i\.e\.|for example|such as)|paragraphs? \d|^\S+$|^[A-Z0-9 .,-]+$|\bv\. |\?|[A-Z]{2}[^a-z]*$"
)
_CONCLUSION = re.compile(
    r"\b(?:excluded|ruled out|considered|confirmed|diagnosed|suspected|unlikely|likely|supported|favou?red|selected"
    r"|chosen|suggested|rejected|justified|concluded|dismissed|granted|ordered|refused|held|found|established|preferred"
    r"|performed|initiated|administered|made|deemed|recommended|decided|convincing|plausible|reasonable|possible"
    r"|probable|excludes?|confirms?|supports?|indicated|planned|discarded|warranted|assessed|reached|accepted)\b[^.;:]{0,40}$"
)
_ADJUNCT = re.compile(
    r"(?<=[a-z)])(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bbe)(?<!\bbeen)(?<!\bbeing)(?<!\bhad)(?<!\bhas)"
    r"(?<!\bhave)(?<!\bnot)(?<!\band)(?<!\bor)(?<!\bof)(?<!\bonly)(?<!\balso)"
    r" (?:during|despite|following|throughout|prior to|in addition to|along with|in the context of|as part of"
    r"|in accordance with|by means of|in spite of|while|although|as well as|through|via|without|for the purposes of"
    r"|until|in order to|so as to|with a view to|thereby|due to"
    r"|because of|in view of|with regard to|in relation to|on the basis of)\b(?= [a-z])"
)
_REQUEST = re.compile(
    r"\b(?:please|should|would|could|recommend\w*|I (?:hope|wish|suggest|think|would))\b", re.IGNORECASE
)
_COURT = re.compile(
    r"\b(?:the Court|it) (?:further |also )?(?:notes|observes|accepts|considers|finds|sees|cannot)\b", re.IGNORECASE
)


def statements(case: Case, step: Step, min_words: int = 6) -> list[Interval]:
    """Return the asserted sentences that take a detail."""
    asserted = {claim.sentence for claim in claims(case, step) if claim.end == claim.sentence[1]}
    return [
        (start, end)
        for start, end in body_sentences(step, min_words)
        if (start, end) in asserted
        and len(step.text[start:end].split()) <= MAX_WORDS
        and takes_detail(case, step.text[start:end])
    ]


def clause_ends(case: Case, step: Step) -> list[Interval]:
    """Return the empty parts before the full stops."""
    ends = [end - (step.text[end - 1] == ".") for _, end in statements(case, step)]
    return [(end, end) for end in ends if step.text[end - 1].isalnum() or step.text[end - 1] == ")"]


def spare_tails(case: Case, step: Step) -> list[Interval]:
    """Return the ends of statements that can go: from a comma, or from `during`, `despite` and the like."""
    taking = statements(case, step)
    adjuncts = [part for start, end in taking for part in _adjuncts(step.text, start, end)]
    tails = [(a, b) for a, b in sentence_tails(step) if any(start < a and b <= end for start, end in taking)]
    return [(a, b) for a, b in adjuncts + tails if ";" not in step.text[a:b]]


def _adjuncts(text: str, start: int, end: int) -> Iterator[Interval]:
    end -= text[end - 1] == "."
    for match in _ADJUNCT.finditer(text, start, end):
        part = text[match.start() : end]
        before = text[start : match.start()]
        clause = re.split(r"[;,]", before)[-1]
        if len(part.split()) >= 4 and is_main_clause(before) and is_main_clause(clause) and is_balanced(part):
            yield match.start(), end


def conclusion_grounds(case: Case, step: Step) -> list[Interval]:
    """Return the grounds of conclusions, without a comma, up to the end of a sentence."""
    found = (part for start, end in body_sentences(step, 6) for part in reasons(step.text, start, end))
    return [
        (start, end)
        for start, end in found
        if "," not in step.text[start:end]
        and re.match(r"\s*(?:[.;]|$)", step.text[end:])
        and _CONCLUSION.search(step.text[max(0, start - 60) : start])
    ]


def replaceable_openings(case: Case, step: Step) -> list[Interval]:
    """Return the opening phrases of statements of fact."""
    return [
        part
        for start, end in statements(case, step)
        if not _COURT.search(step.text, start, end)
        for part in openings(step.text, start, end)
    ]


def remarks(case: Case, step: Step) -> list[Interval]:
    """Return the remarks in brackets, of several words, in statements of fact."""
    found = (m.span() for start, end in statements(case, step) for m in _BRACKET.finditer(step.text, start, end))
    return [span for span in found if not _NO_REMARK.search(step.text[slice(*span)])]


def paragraph_references(case: Case, step: Step) -> list[Interval]:
    """Return `see paragraph 26 above` in brackets."""
    found = (match.span() for match in _BRACKET.finditer(step.text, body_start(step)))
    return [span for span in found if _CROSS_REFERENCE.fullmatch(step.text[slice(*span)])]


def statement_ends(case: Case, step: Step) -> list[Interval]:
    """Return the ends of sentences, other than requests, behind which a sentence of its own can stand."""
    return [(end, end) for start, end in whole_sentences(step) if _is_plain(case, step.text[start:end])]


def spare_sentences(case: Case, step: Step) -> list[Interval]:
    """Return sentences that can go: statements in a list, and sentences behind the first one of a paragraph."""
    if is_entry(step):
        return statements(case, step)
    is_inside = case.reference[: step.start].rstrip(" ")[-1:] not in ("", "\n")
    spare = whole_sentences(step)[0 if is_inside else 1 :]
    return [(start, end) for start, end in spare if _is_plain(case, step.text[start:end])]


def is_entry(step: Step) -> bool:
    """Whether the step is an entry of a list with bullets."""
    return re.match(r"\s*[-*+•·–—]", step.text) is not None


def _is_plain(case: Case, sentence: str) -> bool:
    is_order = sentence.split()[0].lower() in ACTION_VERBS
    is_request = is_order or _REQUEST.search(sentence) is not None
    return sentence.endswith(".") and not is_request and may_precede_detail(case, sentence)
