"""Differences keep all characters and mark exactly the words that differ."""

from hypothesis import given
from hypothesis import strategies as st

from data_builders.audit.annotation.form import differences

TEXT = st.text(st.sampled_from("ab \n."), max_size=30)


@given(TEXT, TEXT)
def test_pieces_concatenate_to_the_texts(one: str, other: str) -> None:
    left, right = differences(one, other)
    assert "".join(text for text, _ in left) == one
    assert "".join(text for text, _ in right) == other
    same = ["".join(text for text, differs in side if not differs).split() for side in (left, right)]
    assert same[0] == same[1]


@given(TEXT)
def test_equal_texts_have_no_marks(text: str) -> None:
    left, right = differences(text, text)
    assert not any(differs for _, differs in (*left, *right))


def test_the_changed_word_is_marked() -> None:
    left, right = differences("the mass is 36 mm wide", "the mass is 38 mm wide")
    assert [text for text, differs in left if differs] == ["36"]
    assert [text for text, differs in right if differs] == ["38"]
