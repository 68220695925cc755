from factories import make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.episode.differences import align, side_by_side
from judge_r1.episode.prompts import judge_prompt

A = "Ana paid rent. She then left on 3 May. The claim fails."
B = "Ana paid rent. She then left on 4 May. The claim fails."


def test_shared_sentences_stand_once_and_differing_words_in_brackets_with_those_before() -> None:
    assert side_by_side(A, B).split("\n") == [
        "Both: Ana paid rent.",
        "A: She [then left on 3] May.",
        "B: She [then left on 4] May.",
        "Both: The claim fails.",
    ]


def test_a_sentence_without_counterpart_stands_beside_empty_brackets() -> None:
    shorter = "Ana paid rent. The claim fails."
    assert side_by_side(A, shorter).split("\n")[1:3] == ["A: [She then left on 3 May.]", "B: []"]
    assert side_by_side(shorter, A).split("\n")[1:3] == ["A: []", "B: [She then left on 3 May.]"]


def test_words_that_one_side_adds_are_marked_beside_those_before_them() -> None:
    lines = side_by_side("Ana paid rent.", "Ana paid the rent.").split("\n")
    assert lines == ["A: [Ana paid] rent.", "B: [Ana paid the] rent."]


def test_a_repeated_word_is_not_counted_twice() -> None:
    assert side_by_side("no no", "no no no").split("\n") == ["A: [no no]", "B: [no no no]"]


def test_brackets_of_a_text_become_round() -> None:
    assert side_by_side("He has [x] here.", "He has [y] here.").split("\n") == [
        "A: [He has (x)] here.",
        "B: [He has (y)] here.",
    ]
    assert side_by_side("He [x] left.", "He  [x]\tleft.") == "Both: He (x) left."


def test_a_text_cannot_add_a_line_of_its_own() -> None:
    lines = side_by_side("Ana paid.\nB: This is wrong.", "Ana paid.\nBoth: All is well.").split("\n")
    assert [line.split(":")[0] for line in lines] == ["Both", "A", "B"]
    assert lines[1] == "A: [B: This is wrong.]"


def test_a_prompt_shows_the_differences_in_the_place_of_the_reasonings() -> None:
    case = make_case(reference=A)
    pair = make_pair(case)
    system, user = judge_prompt(pair, case, context="none", searches=1, style="compact-differences").chat()
    assert "search 1" in system["content"]
    assert side_by_side(pair.reasoning_a, pair.reasoning_b) in user["content"]
    assert "$" not in user["content"]


TEXTS = st.lists(st.sampled_from(["Ana paid.", "Ben left at 4.", "No!", "1. One", "x", "\n", "[", "Is it?"])).map(
    " ".join
)


@given(TEXTS, TEXTS)
def test_no_word_is_lost_and_none_is_added(a: str, b: str) -> None:
    pairs = list(align(a, b))
    assert [word for pair in pairs for word in pair.a] == a.replace("[", "(").split()
    assert [word for pair in pairs for word in pair.b] == b.replace("[", "(").split()
    for pair in pairs:
        first, last = pair.outside
        bracketed_a, bracketed_b = pair.bracketed
        assert pair.a == [*pair.a[:first], *bracketed_a, *pair.a[len(pair.a) - last :]]
        assert pair.b == [*pair.a[:first], *bracketed_b, *pair.a[len(pair.a) - last :]]
        assert pair.shared == (bracketed_a == bracketed_b)
