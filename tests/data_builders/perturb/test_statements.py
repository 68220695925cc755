"""Statements are plain sentences that a case states or says nothing about, and P4 exchanges the two."""

import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import case_of, rule, steps_of

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.citations import STATEMENTS, cite_facts
from data_builders.perturb.rules.edits import apply_edits
from data_builders.perturb.rules.statement_rates import CaseStatements, StatementRates
from data_builders.perturb.rules.statements import (
    DOMAINS,
    Matter,
    Statement,
    find_statements,
    is_mentioned,
    matters,
    stated,
    statement_key,
    supported,
    unstated,
)
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case

ALL = (*DOMAINS, "general")
SEEN = case_of(
    "medical",
    "The patient is a non-smoker and denied any use of alcohol. There was no fever. Computed tomography of the chest "
    "was performed. The white blood cell count was elevated. Blood cultures were negative. He was discharged on the "
    "ninth day.",
    "1. The lung is the likely source.\n2. A second reading of the images is advised.\n3. No other organ is involved.",
)


def wordings(domain: str) -> list[str]:
    """All wordings of a domain, in singular and plural."""
    texts = (text for matter in matters(domain) for variant in matter.statements for text in variant.texts)
    return [re.sub(r"\{([^{}|]*)\|([^{}|]*)\}", rf"\{number}", text) for text in texts for number in (1, 2)]


def test_a_word_that_only_one_statement_uses_keeps_it_out_of_a_reference() -> None:
    """`mention` misses "constitutional", which may still show that the constitutional court was asked."""
    context, reference = "The Constitutional Court dismissed the complaint.", "1. The claim has no merit."
    more = "2. Constitutional rights were not at stake."

    def matters_of(found: Sequence[Statement]) -> set[str]:
        return {statement.matter for statement in found}

    assert not is_mentioned("legal", "constitutional_court", more)
    for asked, statements in ((context, stated), ("It rained.", unstated)):
        assert "constitutional_court" in matters_of(statements(case_of("legal", asked, reference)))
        assert "constitutional_court" not in matters_of(statements(case_of("legal", asked, f"{reference}\n{more}")))


@pytest.mark.parametrize("domain", ALL)
def test_statements_are_plain_sentences_without_numbers_and_names(domain: str) -> None:
    for text in wordings(domain):
        assert re.fullmatch(r"[A-Z][^.!?:;“”\"\n]*\.", text), text
        assert 3 <= len(text.split()) <= 14, text
        assert not re.search(r"\b(?:this|these|such|may|might|perhaps|probably|\d+)\b", text), text


@pytest.mark.parametrize("domain", ALL)
def test_each_wording_belongs_to_one_statement(domain: str) -> None:
    owners = Counter(text for matter in matters(domain) for variant in matter.statements for text in set(variant.texts))
    assert not [text for text, count in owners.items() if count > 1]
    assert len({matter.name for matter in matters(domain)}) == len(matters(domain))
    assert all(matter.statements and all(variant.texts for variant in matter.statements) for matter in matters(domain))


@pytest.mark.parametrize("domain", DOMAINS)
def test_topics_are_themes_of_the_domain(domain: str) -> None:
    themes = load_lexicon("topics", dict[str, dict[str, object]])[domain]
    assert {matter.topic for matter in matters(domain)} <= {*themes, ""}


@pytest.mark.parametrize("domain", ALL)
def test_patterns_take_time_in_proportion_to_the_text(domain: str) -> None:
    """No pattern is quadratic on text without sentences, on a repeated word, or on a list."""
    patterns = [
        re.compile(pattern, re.IGNORECASE)
        for matter in matters(domain)
        for pattern in (matter.mention, matter.fits, matter.unfit, *(variant.stated for variant in matter.statements))
        if pattern
    ]
    for piece in ("no patient was ", "the court ", "a ", "- **X**: no, ", "we did not "):
        text = piece * (20_000 // len(piece))
        for pattern in patterns:
            started = time.process_time()
            pattern.search(text)
            assert time.process_time() - started < 1, (pattern.pattern, piece)


def test_a_statement_is_true_or_on_a_matter_that_the_case_does_not_mention() -> None:
    true, unknown = stated(SEEN), unstated(SEEN)
    assert {"The patient did not smoke tobacco."} <= {text for statement in true for text in statement.texts}
    assert not {statement.matter for statement in true} & {statement.matter for statement in unknown}
    mentioned = {matter.name for matter in matters("medical") if matter.is_mentioned(SEEN.context)}
    assert {statement.matter for statement in true} <= mentioned
    assert not {statement.matter for statement in unknown} & mentioned
    assert len(unknown) > 50


def test_a_matter_of_the_reference_is_left_alone() -> None:
    case = SEEN.model_copy(update={"reference": f"{SEEN.reference}\n4. He is a non-smoker, and travel is no cause."})
    names = {statement.matter for statement in (*stated(case), *unstated(case))}
    gone = {statement.matter for statement in (*stated(SEEN), *unstated(SEEN))} - names
    assert {"smoking", "travel"} <= gone


def test_two_statements_on_one_matter_leave_it_uncertain() -> None:
    matter = Matter.model_validate(
        {
            "name": "colour",
            "mention": "red|blue",
            "statements": [{"stated": "red", "texts": ["It was red."]}, {"stated": "blue", "texts": ["It was blue."]}],
        }
    )
    assert matter.is_mentioned("A Red car.")
    both = case_of("medical", "He never smoked before 1990. He is a current smoker.", "1. A claim.")
    assert "smoking" not in {statement.matter for statement in (*stated(both), *unstated(both))}


def test_statements_agree_with_the_number_of_applicants() -> None:
    one = case_of("legal", "The applicant wrote. The applicant left.", "1. It fails.")
    many = case_of("legal", "The applicants wrote. The applicants left.", "1. It fails.")
    texts = [" ".join(text for statement in unstated(case) for text in statement.texts) for case in (one, many)]
    assert "The applicant " in texts[0]
    assert "The applicants " in texts[1]
    assert "The applicants " not in texts[0]
    assert not any(re.search(r"[{}|]", text) for text in texts)


def test_a_reference_gets_true_statements_in_different_steps() -> None:
    case = cite_facts(SEEN, 6)
    found = find_statements(case.reference, "medical")
    assert len(found) == case.meta["statements"] == min(STATEMENTS, len(stated(SEEN)), 8 if found else 0) or found
    texts = {text for statement in stated(SEEN) for text in statement.texts}
    assert {case.reference[start:end] for start, end, _ in found} <= texts
    assert "statements" not in cite_facts(SEEN, 0).meta


def test_the_rest_of_a_reference_confirms_no_statement() -> None:
    shown = "He has never smoked, and no tobacco was found."
    assert "smoking" in {statement.matter for statement in stated(SEEN)}
    assert "smoking" not in {statement.matter for statement in stated(SEEN, shown)}
    case = cite_facts(SEEN, 6)
    found = find_statements(case.reference, "medical")
    assert found
    for start, end, _ in found:
        matter = (statement_key("medical", case.reference[start:end]) or "").rsplit(" ", 1)[0]
        assert not is_mentioned("medical", matter, f"{case.reference[:start]} {case.reference[end:]}")


def test_a_statement_is_as_common_as_other_cases_support_it() -> None:
    smoker, other = (
        case_of("medical", f"{text} She left.", "1. A claim.") for text in ("He never smoked.", "He rode.")
    )
    [key] = [key for key in supported("medical", smoker.context)[0] if key.startswith("smoking")]
    another = case_of("medical", "He never smoked in Lisbon.", "1. A claim.")
    rates = StatementRates(lambda: [smoker, another, other])
    assert rates.log_odds(CaseStatements.of(smoker), key) == 0  # one of the two others supports it, one says nothing
    assert rates.log_odds(CaseStatements.of(other), key) == pytest.approx(math.log(2.5 / 0.5))
    unread = case_of("medical", "She never smoked.", "1. A claim.")
    assert rates.log_odds(CaseStatements.of(unread), key) == pytest.approx(math.log(2.5 / 1.5))
    shared = StatementRates(lambda: [smoker, smoker, other])  # two cases of one text
    assert shared.log_odds(CaseStatements.of(smoker), key) == pytest.approx(math.log(0.5 / 1.5))


def test_rates_end_at_an_error_of_the_corpus() -> None:
    smoker = case_of("medical", "He never smoked.", "1. A claim.")

    def cases() -> Iterator[Case]:
        yield smoker
        raise JudgeError("row 2 is bad")

    [key] = [key for key in supported("medical", smoker.context)[0] if key.startswith("smoking")]
    other = case_of("medical", "He rode.", "1. A claim.")
    assert StatementRates(cases).log_odds(CaseStatements.of(other), key) == pytest.approx(math.log(1.5 / 0.5))


@given(st.lists(st.sampled_from(wordings("medical")), unique=True, max_size=5), st.integers(0, 9))
def test_statements_are_found_where_they_stand(texts: list[str], seed: int) -> None:
    parts = [part for text in texts for part in (text, "The rest is plain.")]
    Random(seed).shuffle(parts)
    text = " ".join(parts)
    assert {text[start:end] for start, end, _ in find_statements(text, "medical")} == set(texts)


def test_p4_replaces_a_statement_by_an_unsupported_one() -> None:
    case = cite_facts(SEEN, 6)
    unknown = {text for statement in unstated(case) for text in statement.texts}
    true = {text for statement in stated(SEEN) for text in statement.texts}
    edits = [rule("unstated_matter").apply(case, step, Random(n)) for step in steps_of(case) for n in range(40)]
    found = [edit for edit in edits if edit is not None]
    assert len({edit.replacement for edit in found}) > 20
    for edit in found:
        assert edit.replacement in unknown
        assert case.reference[edit.start : edit.end] in true
        assert edit.context_spans == ()
        flawed, _ = apply_edits(case.reference, [edit])
        assert len(find_statements(flawed, "medical")) == len(find_statements(case.reference, "medical"))


def test_p4_abstains_without_a_statement() -> None:
    plain: Case = case_of("medical", "Nothing is known.", SEEN.reference)
    assert "statements" not in cite_facts(plain, 6).meta
    assert all(rule("unstated_matter").apply(plain, step, Random(0)) is None for step in steps_of(plain))
