"""Remarks: sound ones are found again, flawed ones differ little from their twins and are never taken for sound."""

import re
from difflib import SequenceMatcher
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturb_factories import CASES, CITED_MEDICAL, case_of, rule, steps_of

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.edits import apply_edits
from data_builders.perturb.rules.remarks import find_remarks, flawed_remark, groups_for, sound_remarks
from data_builders.perturb.rules.sentence_parts import is_dependent
from data_builders.perturb.rules.steps import sentences
from judge_r1.core.records import Case

TWINS = load_lexicon("remarks", dict[str, dict[str, list[tuple[str, str]]]])
STYLE = {1: "fallacious_remark", 3: "biased_remark", 5: "vague_remark", 6: "harmful_remark"}
DOMAINS = st.sampled_from(["medical", "legal", "academic", "insurance"])


@pytest.mark.parametrize("domain", TWINS)
def test_twins_are_different_sentences_of_nearly_the_same_length(domain: str) -> None:
    assert set(TWINS[domain]) == {f"P{number}" for number in STYLE}
    texts = [text for twins in TWINS[domain].values() for twin in twins for text in twin]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert sentences(text) == [(0, len(text))]
        assert text[0].isupper()
        assert text[-1] == "."
        assert 5 <= len(text.split()) <= 25
        assert not set(text) & set(':;()[]“”"0123456789')
        assert "{" not in text.replace("{group}", "")
    for principle, twins in TWINS[domain].items():
        longer = [len(flawed.split()) - len(sound.split()) for sound, flawed in twins]
        assert max(map(abs, longer)) <= 5
        assert abs(fmean(longer)) <= 0.5
        shared = [SequenceMatcher(None, sound.split(), flawed.split()).ratio() for sound, flawed in twins]
        assert fmean(shared) >= (0.4 if principle == "P5" else 0.6), "a vague remark leaves out what its twin says"


@given(DOMAINS, st.integers(0, 8), st.integers())
def test_sound_remarks_are_found_again_and_flawed_ones_are_not(domain: str, count: int, seed: int) -> None:
    case, rng = (
        case_of(domain, "A woman of 30 years. The applicant is a Polish national.", "1. It is so."),
        Random(seed),
    )
    sound = sound_remarks(case, count, rng)
    assert len(set(sound)) == count
    flawed = [flawed_remark(case, number, rng) for number in STYLE]
    text = "\n".join(f"The knee was warm. {remark} It was cold." for remark in (*sound, *flawed))
    assert [text[start:end] for start, end in find_remarks(text, domain)] == sound


def is_referred_to(case: Case, end: int) -> bool:
    """Whether the text at `end` is a remark, or refers to the sentence before."""
    following = case.reference[end:]
    remarks = {start for start, _ in find_remarks(case.reference, case.domain)}
    return is_dependent(following.lstrip()) or end + len(following) - len(following.lstrip()) in remarks


def test_a_biased_remark_names_groups_of_the_case() -> None:
    named, allowed = set(), set(groups_for("medical", CITED_MEDICAL.context))
    assert "women" in allowed
    templates = [flawed for _, flawed in TWINS["medical"]["P3"]]
    for step in steps_of(CITED_MEDICAL):
        for seed in range(60):
            edit = rule("biased_remark").apply(CITED_MEDICAL, step, Random(seed))
            if edit is None:
                continue
            text = edit.replacement.strip()
            patterns = (re.escape(template).replace(r"\{group\}", "(.+)") for template in templates)
            [match] = [found for pattern in patterns if (found := re.fullmatch(pattern, text))]
            named |= set(match.groups())
    assert named
    assert named <= allowed


@pytest.mark.parametrize(
    ("domain", "context", "group", "expected"),
    [
        ("medical", "A 34-year-old farmer had a cough.", "farmers", True),
        ("medical", "She denies work as a farmer.", "farmers", False),
        ("medical", "Her retired brother had a cough.", "pensioners", False),
        ("medical", "He is a retired teacher.", "pensioners", True),
        ("medical", "The patient is not obese, BMI of 22.", "obese patients", False),
        ("medical", "The patient is obese.", "obese patients", True),
        ("medical", "A man with Japanese encephalitis and an EGFR driver mutation.", "Asian patients", False),
        ("medical", "A 40-year-old Japanese man.", "Asian patients", True),
        ("legal", "The applicant, Mr J. Kowal, is a Polish national.", "Polish nationals", True),
        ("legal", "The applicant's brother is a Polish national.", "Polish nationals", False),
        ("legal", "The applicants live in Argun in the Chechen Republic.", "Chechens", True),
        ("legal", "The applicant, Mrs Lis, is a Jehovah's Witness.", "Jehovah's Witnesses", True),
        ("insurance", "A claim by a 72-year-old woman, a Polish citizen.", "older people", True),
        ("insurance", "A claim by a 72-year-old woman, a Polish citizen.", "Polish people", True),
        ("insurance", "These people came in spring.", "These people", False),
    ],
)
def test_groups_are_those_of_the_person(domain: str, context: str, group: str, expected: bool) -> None:
    assert (group in groups_for(domain, context)) == expected


@pytest.mark.parametrize("number", STYLE)
def test_a_flawed_remark_takes_the_place_of_a_sound_one_or_follows_a_citation(number: int) -> None:
    replaced = added = 0
    for case in CASES:
        for step in steps_of(case):
            remarks = {(step.start + start, step.start + end) for start, end in step.remarks}
            ends = {step.start + citation.whole[1] for citation in step.citations}
            for seed in range(20):
                edit = rule(STYLE[number]).apply(case, step, Random(seed))
                if edit is None:
                    continue
                assert (edit.start, edit.end) in remarks or edit.start == edit.end in ends
                replaced += edit.start < edit.end
                if edit.start == edit.end:
                    added += 1
                    assert not is_referred_to(case, edit.end)
                flawed, _ = apply_edits(case.reference, [edit])
                kept = len(find_remarks(case.reference, case.domain)) - (edit.start < edit.end)
                assert len(find_remarks(flawed, case.domain)) == kept
    assert replaced
    assert added


def test_a_remark_is_referred_to_and_no_remark_follows_another() -> None:
    found = find_remarks(CITED_MEDICAL.reference, "medical")
    ends = {step.start + citation.whole[1] for step in steps_of(CITED_MEDICAL) for citation in step.citations}
    assert 0 < len(found) < len(ends)
    assert {start - 1 for start, _ in found} <= ends
