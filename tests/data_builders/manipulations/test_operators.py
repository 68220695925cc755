"""Invariants of every manipulation: exact counts, recorded spans, untouched text elsewhere, the same bytes by seed."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from data_builders.manipulations import MANIPULATIONS, SELECTED, CannotManipulate, Material
from data_builders.manipulations.corpus import full_document, story
from data_builders.manipulations.manipulate import manipulate, manipulated_prefix
from data_builders.manipulations.operators.coherence import modern_sentences, names, wordings
from data_builders.manipulations.operators.fluency import NEIGHBOURS
from data_builders.manipulations.tagger import Tagger
from data_builders.manipulations.units import CHAPTER, Unit, prefix, words
from judge_r1.core.documents import Document, ManipulatedDocument, changed_outside

TAGGER = Tagger()
NAMES = MANIPULATIONS.names()
TWO_EDITS = {"swap_content"}
MANY_EDITS = {"swap_entities"}


def document(number: int, tokens: int = 900, seed: int = 0) -> Document:
    title, text = story(number, tokens, seed)
    return full_document(title, text, source="test", license="test")


DONORS = [document(number).text for number in range(5, 9)]


def made(name: str, original: Document, **options: object) -> ManipulatedDocument:
    material = Material(original.text, TAGGER, DONORS)
    return manipulate(original, MANIPULATIONS.get(name), material, **{"seed": 3, **options})  # type: ignore[arg-type]


def changes(original: Document, record: ManipulatedDocument) -> list[tuple[str, str]]:
    return [(original.text[s.start : s.end], record.text[s.new_start : s.new_end]) for s in record.spans]


@pytest.mark.parametrize("name", NAMES)
@given(number=st.integers(0, 4), tokens=st.sampled_from((400, 900)), seed=st.integers(0, 10_000))
@settings(max_examples=12, deadline=None)
def test_every_operator_keeps_its_promises(name: str, number: int, tokens: int, seed: int) -> None:
    original = document(number, tokens)
    try:
        record = made(name, original, seed=seed)
    except CannotManipulate:
        assume(False)
    operator = MANIPULATIONS.get(name)
    material = Material(original.text, TAGGER, DONORS)
    assert record.operations == operator.count(material, operator.intensity) >= operator.least
    if name not in MANY_EDITS:
        assert len(record.spans) == record.operations * (2 if name in TWO_EDITS else 1)
    assert not changed_outside(original.text, record.text, record.spans)
    assert all(before != after for before, after in changes(original, record))
    assert made(name, original, seed=seed) == record
    assert record.text != original.text
    assert (record.name, record.number, record.metric) == (name, operator.number, operator.metric)
    headings = [part for part in original.text.split("\n\n") if part.startswith(CHAPTER)]
    if operator.metric == "coherence" and name not in {"insert_content", "repeat_content"}:
        kept = [part for part in record.text.split("\n\n") if part.startswith(CHAPTER)]
        assert kept == headings, "headings are never manipulated"


PUBLISHED = {
    "exchange_content": ("coherence", 1.0, 2.0), "temporal": ("coherence", 1.0, 1.0), "terms": ("coherence", 35.0, 0.0),
    "typos": ("fluency", 2.0, 0.0), "verb_tense": ("fluency", 5.0, 0.0), "word_order": ("fluency", 5.0, 0.0),
}  # fmt: skip
"""Metric, intensity and additive bias of the selected manipulations in the released data."""


def test_the_counts_are_those_of_the_published_formulas() -> None:
    found = {name: MANIPULATIONS.get(name) for name in SELECTED}
    assert {name: (one.metric, one.intensity, one.legacy_bias) for name, one in found.items()} == PUBLISHED
    text = " ".join(["She walked home."] * 500)
    material = Material(text, TAGGER)
    counts = {name: one.count(material, one.intensity, legacy=True) for name, one in found.items()}
    assert counts == {
        "exchange_content": round(1.5 + 2),
        "temporal": round(1.5 + 1),
        "terms": 1,
        "typos": 30,
        "verb_tense": 25,
        "word_order": 25,
    }, "1,500 tokens, 500 verbs and sentences, no name of a place"


def test_short_paragraphs_stay() -> None:
    short, long = "x" * 49, "y" * 50
    assert [one.text for one in Material(f"{short}\n\n{long}\n\n{CHAPTER}{long}", TAGGER).eligible] == [long]


def test_other_seeds_give_other_texts() -> None:
    original = document(0)
    for name in NAMES:
        assert len({made(name, original, seed=seed).text for seed in range(6)}) > 1, name


def test_removed_inserted_repeated_and_exchanged_paragraphs() -> None:
    original = document(1)
    parts = Counter(original.text.split("\n\n"))
    removed = made("remove_content", original)
    assert (parts - Counter(removed.text.split("\n\n"))).total() == removed.operations
    assert not Counter(removed.text.split("\n\n")) - parts
    inserted = made("insert_content", original, count=4)
    new = Counter(inserted.text.split("\n\n")) - parts
    assert len(new) == new.total() == 4, "different paragraphs"
    assert sum(all(part in donor for part in new) for donor in DONORS) == 1, "one donor gives all paragraphs"
    repeated = made("repeat_content", original)
    assert set(Counter(repeated.text.split("\n\n")) - parts) <= set(parts)
    exchanged = made("exchange_content", original, count=6)
    new = Counter(exchanged.text.split("\n\n")) - parts
    assert new.total() == 6
    assert set(new.values()) == {1}
    assert all(any(part in donor for part in new) for donor in DONORS), "the donors take turns"
    few = [unit.text for unit in Material(DONORS[0], TAGGER).eligible[:4]]
    material = Material(original.text, TAGGER, ["\n\n".join(few)])
    record = manipulate(original, MANIPULATIONS.get("exchange_content"), material, seed=3, count=4)
    assert {after for _, after in changes(original, record)} == set(few), "no paragraph is used twice"


@pytest.mark.parametrize("unit", ["section", "chapter"])
@pytest.mark.parametrize("name", [name for name in NAMES if not MANIPULATIONS.get(name).share])
def test_larger_units_keep_the_promises_of_paragraphs(name: str, unit: Unit) -> None:
    original = document(1, 9_000)
    material = Material(original.text, TAGGER, [document(7, 5_000).text], unit)
    record = manipulate(original, MANIPULATIONS.get(name), material, seed=3, count=2)
    assert len(record.spans) == 2 * (2 if name in TWO_EDITS else 1)
    assert not changed_outside(original.text, record.text, record.spans)
    assert record.params["unit"] == unit
    moved = [max(len(before), len(after)) for before, after in changes(original, record)]
    if name != "temporal":
        assert min(moved) >= 3_000, "whole sections or chapters move"
    headings = [part for part in original.text.split("\n\n") if part.startswith(CHAPTER)]
    assert [part for part in record.text.split("\n\n") if part.startswith(CHAPTER)] == headings


def test_modern_sentences_are_appended_and_differ() -> None:
    original = document(2)
    templates = modern_sentences()
    every = [sentence for group in templates for sentence in group]
    assert (len(templates), len(every), len(set(every))) == (24, 360, 360)
    record = made("temporal", original, count=9)
    added = [after[1:] for _, after in changes(original, record)]
    assert all(span.start == span.end for span in record.spans)
    assert len({next(at for at, group in enumerate(templates) if one in group) for one in added}) == 9, (
        "no template twice"
    )
    long = document(2, 9_000)
    assert len({after for _, after in changes(long, made("temporal", long, count=80))}) == 80


def test_hyphens_and_titles_belong_to_words() -> None:
    text = "Mrs. Hurst met a well-known, grey-haired man--the old Dr. Lee of St. Ives."
    assert [text[start:end] for start, end in words(text)] == [
        "Mrs.", "Hurst", "met", "a", "well-known", "grey-haired", "man", "the", "old", "Dr.", "Lee", "of",
        "St.", "Ives",
    ]  # fmt: skip
    original = full_document("t", text, source="t", license="t")
    assert [before for before, _ in changes(original, made("punctuation", original, count=4))] == [",", "-", "-", "."]
    shuffled = made("word_order", original, count=1).text
    assert "Dr." in shuffled
    assert "well-known" in shuffled


def test_typos_replace_characters_by_neighbours_and_keep_the_case() -> None:
    original = document(2)
    for before, after in changes(original, made("typos", original, count=200)):
        assert len(before) == len(after) == 1
        assert after.lower() in NEIGHBOURS[before.lower()]
        assert before.isupper() == after.isupper()
    assert set(NEIGHBOURS) == set("abcdefghijklmnopqrstuvwxyz ")
    assert set(NEIGHBOURS[" "]) == set("cvbnm")
    assert all(key in NEIGHBOURS[other] for key in NEIGHBOURS if key != " " for other in NEIGHBOURS[key]), "symmetric"


@pytest.mark.parametrize(
    ("name", "text", "edits"),
    [
        (
            "punctuation",
            "It's a well-known place, isn't it? Yes: 3.5 miles.",
            [(",", ""), ("?", ""), (":", ""), (".", "")],
        ),
        (
            "verb_tense",
            "She walked home and slept. We think and talk. He carries it.",
            [("walked", "walks"), ("slept", "sleeps"), ("think", "thought"), ("talk", "talked")],
        ),
        (
            "pronouns",
            "At noon we sailed to Lisbon. Lisbon was cold. We came to Lisbon by sea.",
            [("Lisbon", "it"), ("Lisbon", "It"), ("Lisbon", "it")],
        ),
        (
            "pronouns",
            "At noon we sailed to Poland. The Poland's port was cold. We came to Poland's inn, far from Poland.",
            [("Poland", "it"), ("The Poland's", "Its"), ("Poland's", "its"), ("Poland", "it")],
        ),
    ],
)
def test_what_replaces_each_word(name: str, text: str, edits: list[tuple[str, str]]) -> None:
    original = full_document("t", text, source="t", license="t")
    assert changes(original, made(name, original, count=len(edits))) == edits


def test_a_removed_word_leaves_no_space_before_punctuation() -> None:
    original = full_document("t", "We saw it. They left now, all of them.", source="t", license="t")
    for seed in range(40):
        left = made("word_removal", original, count=1, seed=seed).text
        assert not {" .", " ,", "  "} & {left[at : at + 2] for at in range(len(left))}, left
        assert len(made("word_removal", original, count=8, seed=seed).spans) == 8, "neighbours share no space"


def test_word_order_keeps_the_words_the_ends_and_the_punctuation() -> None:
    original = document(3)
    for before, after in changes(original, made("word_order", original)):
        inner = [before[start:end] for start, end in words(before)]
        shuffled = [after[start:end] for start, end in words(after)]
        assert sorted(inner) == sorted(shuffled)
        assert inner != shuffled
        assert [c for c in before if not c.isalnum()] == [c for c in after if not c.isalnum()]
    original = full_document("t", "One two three four five six seven.", source="t", license="t")
    orders = {made("word_order", original, count=1, seed=seed).text for seed in range(30)}
    ends = {(text[: len("One two ")], text[-len(" six seven.") :]) for text in orders}
    assert ends == {("One two ", " six seven.")}
    assert len(orders) == 5, "every other order of the three inner words"


def test_names_become_terms_pronouns_and_other_names() -> None:
    original = document(0)
    for before, after in changes(original, made("terms", original)):
        assert before in ("Marlow", "Eastwick")
        assert after.split()[-1].lower() in wordings().terms
    for before, after in changes(original, made("pronouns", original)):
        assert before in ("Marlow", "Eastwick")
        assert after in ("it", "It")
    swapped = changes(original, made("swap_entities", original))
    cast = {"Alma", "Bertram", "Conrad"}
    assert {before for before, _ in swapped} == {after for _, after in swapped} <= cast
    for before, after in changes(original, made("exchange_entities", original)):
        assert before in cast
        assert after in wordings().pool
        assert after not in original.text


def test_the_article_and_the_capital_of_a_term() -> None:
    text = (
        "At noon we sailed to Lisbon. Lisbon was cold. "
        "A road to Lisbon was in the Lisbon guide, and near Lisbon the old Lisbon."
    )
    original = full_document("t", text, source="t", license="t")
    found = [after for _, after in changes(original, made("terms", original, count=5))]  # not that of the guide
    assert found[1].split()[0] in ("The", "A")
    assert found[4] in ("thing", "stuff"), "one of the two words before is an article"
    assert all(term in ("the stuff", "the thing", "a thing") for term in (found[0], found[2], found[3]))


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ("At noon we left Dunmere.", True),
        ("At noon we read Opuz v. Dunmere, no. 33401.", False),
        ("At noon we read Dunmere v. Opuz.", False),
        ("At noon we read the rules in Dunmere 47.", False),
        ("At noon we asked (see Dunmere) for more.", False),
        ("At noon we left Dunmere Cottage.", False),
        ("At noon | 12 | Dunmere | 14 |", False),
        ("At noon we read Dunmere et al. in the garden.", False),
    ],
)
def test_names_in_citations_brackets_tables_and_longer_names_are_left_alone(after: str, kept: bool) -> None:
    text = f"On the way we came to Dunmere, and later we lived in Dunmere. {after}"
    found = names(Material(text, TAGGER), "place")
    assert [one.start for one in found if text[one.start : one.end] == "Dunmere"][2:] == (
        [text.rindex("Dunmere")] if kept else []
    )


def test_a_person_is_one_that_the_text_speaks_of() -> None:
    """A word with a capital, such as the variable of a formula, is no person without a pronoun."""
    text = "Later Alma said that she was cold, and Alma told us that she was late. We took Sotos and later Sotos again."
    assert {text[one.start : one.end] for one in names(Material(text, TAGGER), "person")} == {"Alma"}


def test_a_new_name_is_none_of_the_text() -> None:
    *known, left = wordings().pool
    text = f"We met Alma, who slept, and then Alma, who was awake. They knew {', '.join(known)}."
    original = full_document("t", text, source="t", license="t")
    mentions = [one for one in TAGGER.mentions(text) if text[one.start : one.end] == "Alma"]
    assert len(mentions) == 2
    found = made("exchange_entities", original, count=2)
    assert {after for _, after in changes(original, found)} == {left}
    with pytest.raises(CannotManipulate, match="that the text does not contain"):
        made("exchange_entities", full_document("t", f"{text} {left} left.", source="t", license="t"), count=1)


def test_dense_edits_stand_close_together() -> None:
    original = document(4, 1500)
    for name in ("typos", "punctuation", "word_removal"):
        count = 8 if name != "punctuation" else 2
        record = made(name, original, count=count, spread="dense")
        assert record.spans[-1].start - record.spans[0].start <= count * 12.5, name
    sparse = full_document("t", "Here are many words without a mark at all. " * 20, source="t", license="t")
    marks = [span.start for span in made("punctuation", sparse, count=3, spread="dense").spans]
    assert marks[2] - marks[0] == 2 * 43 > 3 * 12.5, "no window holds three, so it is the shortest run"
    for name in ("verb_tense", "word_order"):
        dense, wide = (made(name, original, count=4, spread=spread) for spread in ("dense", "widespread"))
        assert dense.spans[-1].end - dense.spans[0].start < wide.spans[-1].end - wide.spans[0].start
    with pytest.raises(CannotManipulate, match="cannot be dense"):
        made("temporal", original, spread="dense")


@pytest.mark.parametrize("name", NAMES)
def test_a_text_without_places_is_refused(name: str) -> None:
    with pytest.raises(CannotManipulate):
        made(name, full_document("t", "12 34", source="t", license="t"), count=5)


def test_the_prefix_has_the_edits_of_the_full_text() -> None:
    original = document(0, 1500)
    short = original.model_copy(update={"text": prefix(original.text, 400), "length": "400"})
    whole = made("typos", original)
    record = manipulated_prefix(short, whole)
    assert record.operations == len(record.spans) > 0
    assert not changed_outside(short.text, record.text, record.spans)
    assert whole.text.startswith(record.text), "a typo changes no length"
    assert record.length == "400"
    assert record.params["short"] == "prefix"


def test_an_edit_across_the_end_of_a_prefix_is_left_out() -> None:
    original = document(0, 1500)
    whole = made("exchange_content", original, count=3)
    first, second, _ = whole.spans
    cut = original.model_copy(update={"text": original.text[: second.start + 10], "length": "400"})
    assert manipulated_prefix(cut, whole).operations == 1
    with pytest.raises(CannotManipulate, match="no edit of the full document"):
        manipulated_prefix(cut.model_copy(update={"text": original.text[: first.end - 1]}), whole)


@given(text=st.text(alphabet="ab .,", min_size=1, max_size=80), seed=st.integers(0, 99))
@settings(deadline=None)
def test_character_edits_of_any_text(text: str, seed: int) -> None:
    assume(text.strip())
    original = full_document("t", text, source="t", license="t")
    for name in ("typos", "punctuation", "word_removal"):
        try:
            record = made(name, original, seed=seed)
        except CannotManipulate:
            continue
        assert len(record.spans) == record.operations
        assert not changed_outside(text, record.text, record.spans)


def test_default_intensities_leave_most_of_a_text_of_few_paragraphs() -> None:
    long = "She walked home over the fields. " * 100
    text = f"{long}{long}One.\n\nA short paragraph of fifty characters, or a few more.\n\n{long}Two."
    original = full_document("t", text, source="test", license="test")
    with pytest.raises(CannotManipulate, match="over half of the text would go"):
        made("remove_content", original, seed=4)
    assert made("remove_content", original, seed=4, count=1).operations == 1, "a count of one's own is followed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("The Court met on 4 May 2019 in the hall, and all who came had waited.", "date"),
     ("He wrote an e-mail to the office, and all who came had waited for it.", "device")],
)  # fmt: skip
def test_modern_sentences_do_not_contradict_a_modern_text(text: str, reason: str) -> None:
    original = full_document("t", text, source="test", license="test")
    with pytest.raises(CannotManipulate, match=f"of today itself: it has a {reason}"):
        made("temporal", original)
    old = text.replace("2019", "1819").replace("e-mail", "letter")
    assert made("temporal", full_document("t", old, source="test", license="test"))
