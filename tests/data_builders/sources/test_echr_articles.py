"""Articles of the Convention: names, mentions in texts, and known wrong entries of the corpus."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.sources.corpus_io import SourceError
from data_builders.sources.pilot import (
    article_name,
    article_order,
    load_articles,
    named_articles,
    without_articles,
)

ARTICLE = st.one_of(
    st.integers(1, 59).map(str), st.tuples(st.integers(1, 16), st.integers(1, 9)).map(lambda p: f"P{p[0]}-{p[1]}")
)


@given(st.sets(ARTICLE, max_size=4))
def test_article_names_round_trip(articles: set[str]) -> None:
    text = "; ".join(f"there was a breach of {article_name(article)}, said they" for article in sorted(articles))
    assert named_articles(text) == articles
    assert not any(character.isdigit() for character in without_articles(text))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Article 6 § 1 of the Convention", {"6"}),
        ("Articles 3, 8 and 13 taken together", {"3", "8", "13"}),
        ("Art. 5 (1)(c) demands", {"5"}),
        ("article 1 of Protocol no. 1", {"P1-1"}),
        ("Article 2 of the Protocol No. 4 in 1999", {"P4-2"}),
        ("Article 178 of the Criminal Code", {"178"}),
        ("an article in 2 newspapers, part 3", set()),
    ],
)
def test_mentions_in_legal_style_are_parsed(text: str, named: set[str]) -> None:
    assert named_articles(text) == named


def test_articles_are_ordered_before_protocols() -> None:
    assert sorted(["P1-1", "13", "6", "P4-2"], key=article_order) == ["6", "13", "P1-1", "P4-2"]


def test_an_invalid_entry_is_reported(tmp_path: Path) -> None:
    (tmp_path / "ECHR.json").write_text('{"contents": {"6": {"title": "Fair trial"}}}')
    with pytest.raises(SourceError, match=r"ECHR\.json, article 6: field text is missing"):
        load_articles(tmp_path / "ECHR.json")
