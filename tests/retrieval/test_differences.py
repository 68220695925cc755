from hypothesis import given
from hypothesis import strategies as st

from retrieval.differences import difference_query, differences

FIRST = "1. He was arrested on 3 May 2001 in Oslo and held for nine days in a cell, as the file says."
SECOND = "1. He was arrested on 3 May 2001 in Oslo and held for two days in a cell; as the file says."


def test_a_difference_has_its_words_and_those_beside_it() -> None:
    [found] = differences(FIRST, SECOND, 2)  # punctuation is no difference
    assert found.first == (("nine",), ("held", "for", "days", "in"))
    assert found.second == (("two",), ("held", "for", "days", "in"))
    assert differences(FIRST, FIRST.upper(), 2) == []


def test_words_that_one_text_adds_are_absent_in_the_other() -> None:
    [found] = differences("He slept.", "He slept, and a test was negative.", 1)
    assert found.first == ((), ("slept.",))
    assert found.second.words == ("and", "a", "test", "was", "negative.")


def test_the_query_has_six_words_on_each_side() -> None:
    query = "2001 in Oslo and held for nine two days a cell, cell; as the"
    assert sorted(difference_query(FIRST, SECOND).split()) == sorted(query.split())
    assert difference_query(FIRST, FIRST) == ""
    assert difference_query("p ≥ 0.05 holds", "p ≤ 0.05 holds") == "p 0.05 holds"  # only a sign differs


def test_characters_are_words_where_no_spaces_are_between_words() -> None:
    [found] = differences("患者发热三天", "患者发热五天", 2)
    assert (found.first, found.second) == ((("三",), ("发", "热", "天")), (("五",), ("发", "热", "天")))


@given(st.lists(st.sampled_from(["a", "b", "c,", "5mg"]), max_size=12), st.lists(st.sampled_from("abcx"), max_size=12))
def test_exchanged_texts_differ_at_the_same_places(one: list[str], other: list[str]) -> None:
    first, second = " ".join(one), " ".join(other)
    assert [(b, a) for a, b in differences(first, second, 3)] == differences(second, first, 3)
    assert difference_query(first, second) == difference_query(second, first)
    rest = [word for found in differences(first, second, 0) for word in found.first.words]
    assert len(rest) <= len(one)
