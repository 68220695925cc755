"""Words of any script: counts, and the terms by which a search matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.words import characters, count_words, has_unspaced, spellings, terms, tokens

SPACED = st.text(st.characters(max_codepoint=0x0DFF, exclude_categories=["Cs"]), max_size=60)


@given(SPACED)
def test_a_text_of_scripts_with_spaces_has_as_many_words_as_split_finds(text: str) -> None:
    assert not has_unspaced(text)
    assert count_words(text) == len(text.split())


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_terms_of_ascii_are_lower_case_runs_of_word_characters(text: str) -> None:
    import re

    assert terms(text) == re.findall(r"\w+", text.lower())
    assert tokens(text) == text.lower().split()
    assert characters(text) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("患者因发热入院", 7),
        ("患者 SpO₂ 为 95%", 5),
        ("昔々ある日", 5),
        ("ผู้ป่วยมีไข้สูง", 3),  # nine letters with their marks
        ("환자는 병원에 갔다", 3),
        ("हिन्दी में रोगी", 3),
        ("བཀྲ་ཤིས་བདེ་ལེགས", 4),
        ("The patient", 2),
        ("", 0),
    ],
)
def test_words_are_counted_in_any_script(text: str, count: int) -> None:
    assert count_words(text) == count


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SpO₂", "SpO2"),
        ("１２３ｍｇ", "123mg"),
        ("cafe\u0301", "café"),
        ("Straße", "STRASSE"),
        ("ﬁbrosis", "fibrosis"),
        ("co\u00adop", "coop"),
        ("10⁹/L", "10^9/L"),
        ("1½", "1 1/2"),
        ("m²", "m2"),
        ("ｶﾞﾗｽ", "ガラス"),
        ("ẛ̣", "ṩ"),
        ("µg", "μg"),
        ("ФЕДОР", "федор"),
        ("می\u200cشود", "میشود"),
    ],
)
def test_variants_of_a_text_have_the_same_terms(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IL-6", "IL6"),
        ("IL\u20116", "il6"),
        ("max_tokens", "max tokens"),
        ("max_tokens", "maxtokens"),
        ("max_tokens", "max-tokens"),
        ("5mg", "5 mg"),
        ("2.5mg/kg", "2.5 mg/kg"),
        ("1,000,000", "1000000"),
        ("1\u202f000", "1000"),
        ("naïve café", "naive cafe"),
        ("hemo\u200bglobin", "hemoglobin"),
    ],
)
def test_another_spelling_meets(one: str, other: str) -> None:
    for query, passage in ((one, other), (other, one)):
        found = {*terms(passage), *spellings(passage)}
        asked = [*terms(query), *spellings(query)]
        assert found.intersection(asked), (query, passage)
    assert {*terms(one), *spellings(one)} >= set(terms(other))


def test_the_spellings_of_ordinary_words_are_none() -> None:
    assert spellings("The judge paid 34 crowns in 2024, at 10.5%, and H1N1 hit p53.") == []
    assert spellings("हिन्दी में 患者 ผู้ป่วย 환자") == []  # vowel signs are no accents


def test_a_raised_digit_does_not_join_a_number() -> None:
    assert terms("10⁹/L") == ["10", "9", "l"]
    assert "109" not in terms("× 10⁹")


def test_scripts_without_spaces_are_read_in_pairs() -> None:
    assert terms("血氧饱和度SpO₂") == ["血氧", "氧饱", "饱和", "和度", "spo2"]
    assert characters("血氧 癌") == ["血", "氧"]  # a character that stands alone is a term
    assert terms("癌") == ["癌"]
    assert terms("환자는") == ["환자", "자는"]
    assert terms("ไข้สูง") == ["ไข้", "ข้สู", "สูง"]
    assert tokens("他说：好 OK-go") == ["他说", "好", "ok-go"]
