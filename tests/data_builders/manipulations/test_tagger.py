"""Verbs and names by rules; spaCy behind the same interface where it is installed."""

import importlib.util
from pathlib import Path

import pytest

from data_builders.manipulations.rule_tagger import RuleTagger
from data_builders.manipulations.tagger import TaggerUnavailable, like, load_tagger


def forms(text: str) -> list[tuple[str, str | None]]:
    return [(text[verb.start : verb.end], verb.opposite) for verb in RuleTagger().verbs(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She walked home.", [("walked", "walks")]),
        ("They walked home.", [("walked", "walk")]),
        ("He carries it and stopped.", [("carries", "carried"), ("stopped", "stops")]),
        ("I was late, and they were not.", [("was", "am"), ("were", "are")]),
        ("Was he late? He is.", [("Was", "Is"), ("is", "was")]),
        ("They had walked.", [("had", "have")]),
        ("The walks were long.", [("were", "are")]),
        ("We think so.", [("think", "thought")]),
        ("the wanted man", []),
        ("She had already walked. She already walked.", [("had", "has"), ("walked", "walks")]),
        ("Both of them kept silent.", [("kept", "keep")]),
        ("He put it down.", []),
    ],
)
def test_finite_verbs_and_their_other_tense(text: str, found: list[tuple[str, str | None]]) -> None:
    assert forms(text) == found


def test_names_and_their_kinds() -> None:
    text = "CHAPTER: The Road to Ashby\n\nOn Monday Anna went to Ashby. Ashby was cold, and Anna froze. Rain fell."
    found = [(text[one.start : one.end], one.kind) for one in RuleTagger().mentions(text)]
    assert found == [("Anna", "person"), ("Ashby", "place"), ("Ashby", "place"), ("Anna", "person")]


def test_holidays_languages_and_titles_are_no_names() -> None:
    text = "We met Anna at Christmas, and she spoke French to Robert Vance, Esq. of St. Ives. At Easter it rained."
    assert [text[one.start : one.end] for one in RuleTagger().mentions(text)] == ["Anna", "Robert Vance", "Ives"]


def test_capitals_are_kept() -> None:
    assert [like("was", model) for model in ("is", "Is", "IS")] == ["was", "Was", "WAS"]


def test_other_taggers_are_refused_with_advice() -> None:
    with pytest.raises(TaggerUnavailable, match="rules or spacy:MODEL"):
        load_tagger("nltk")
    if importlib.util.find_spec("spacy") is None:
        with pytest.raises(TaggerUnavailable, match="pip install spacy"):
            load_tagger("spacy:en_core_web_sm")


def test_spacy_has_the_same_interface(tmp_path: Path) -> None:
    """A pipeline of spaCy's own rules, saved as a model would be: no trained model is needed."""
    spacy = pytest.importorskip("spacy")
    pytest.importorskip("lemminflect")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    rules = pipeline.add_pipe("attribute_ruler")
    rules.add([[{"ORTH": "walked"}]], {"POS": "VERB", "MORPH": "Tense=Past", "LEMMA": "walk"})
    rules.add([[{"ORTH": "likes"}]], {"POS": "VERB", "MORPH": "Tense=Pres|Person=3", "LEMMA": "like"})
    names = [{"label": "PERSON", "pattern": "Anna Miller"}, {"label": "GPE", "pattern": "Paris"}]
    pipeline.add_pipe("entity_ruler").add_patterns([*names, {"label": "DATE", "pattern": "Monday"}])
    pipeline.to_disk(tmp_path / "model")
    tagger = load_tagger(f"spacy:{tmp_path / 'model'}")
    text = "Anna Miller walked to Paris on Monday. She likes it there."
    verbs = [(text[verb.start : verb.end], verb.opposite) for verb in tagger.verbs(text)]
    assert verbs == [("walked", "walks"), ("likes", "liked")]
    mentions = [(text[mention.start : mention.end], mention.kind) for mention in tagger.mentions(text)]
    assert mentions == [("Anna Miller", "person"), ("Paris", "place")]
    assert [text[start:end] for start, end in tagger.sentences(text)] == text.replace(". ", ".|").split("|")


def test_a_line_that_is_broken_for_its_width_ends_no_sentence_and_no_name() -> None:
    text = (
        "The old sailor of the harbour had never been to Red\nLion Street before, and he walked there with\nAnna. "
        "They came from Red Lion Street in the evening, and then he told Anna that he was late."
    )
    tagger = RuleTagger()
    assert len(tagger.sentences(text)) == 2
    found = [(text[one.start : one.end], one.kind) for one in tagger.mentions(text)]
    assert found[0] == ("Red\nLion Street", "place")
    assert ("Anna", "person") in found
