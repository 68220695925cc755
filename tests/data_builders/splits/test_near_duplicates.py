import re
import tracemalloc
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from data_builders.splits.near_duplicates import WORDS, components, near_duplicates, shingles

TEXTS = st.lists(st.sampled_from(["ab", "bc", "cd", "de", "ef"]), max_size=30).map(" ".join)


def runs(text: str) -> set[tuple[str, ...]]:
    """Word shingles by definition."""
    words = re.findall(r"\w+", text.casefold())
    size = min(WORDS, len(words))
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if words else set()


def jaccard(one: str, other: str) -> float:
    """The Jaccard index by definition; 0 if a text has no words."""
    a, b = runs(one), runs(other)
    return len(a & b) / len(a | b) if a | b else 0.0


def words(count: int, seed: int) -> list[str]:
    rng = Random(seed)
    return [f"w{rng.randrange(5000)}" for _ in range(count)]


def found(texts: list[str], threshold: float = 0.5) -> list[tuple[int, int, float]]:
    return near_duplicates(texts, threshold=threshold)


@given(TEXTS, TEXTS)
def test_the_index_of_two_texts_equals_its_definition_on_word_shingles(one: str, other: str) -> None:
    assert len(shingles(one)) == len(runs(one))
    likeness = jaccard(one, other)
    assert found([one, other], threshold=1e-9) == ([(0, 1, likeness)] if likeness else [])


def test_case_and_punctuation_are_ignored() -> None:
    assert found(["The Court, on 3 May, held: no!", "the court on 3 may held no"]) == [(0, 1, 1.0)]


def test_copies_in_a_script_without_spaces_are_found() -> None:
    """One character in every third sentence differs."""
    text = [f"第{n}天患者体温升高并伴有咳嗽，给予药物{n * 7}毫克。" for n in range(40)]
    other = "".join(f"原告在{n}号法庭要求被告赔偿{n * 13}元，法院驳回了请求。" for n in range(40))
    edited = [line if n % 3 else line.replace("药物", "药品") for n, line in enumerate(text)]
    [(one, copy, likeness)] = found(["".join(text), other, "".join(edited)])
    assert (one, copy) == (0, 2)
    assert 0.5 < likeness < 1


def edited(text: list[str], every: int) -> str:
    return " ".join(f"x{at}" if at % every == every - 1 else word for at, word in enumerate(text))


def test_only_planted_copies_are_found() -> None:
    """300 texts of 30 to 3,000 words, ten copies with few changed words, and three exact copies."""
    texts = [words(30 + 30 * (at % 100), at) for at in range(300)]
    plain = [" ".join(text) for text in texts]
    copies = [edited(texts[at], 40) for at in range(20, 300, 28)] + [plain[7], plain[7], plain[90].upper()]
    everything = plain + copies
    expected = {
        (i, j)
        for i, j in [(20 + 28 * n, 300 + n) for n in range(10)] + [(7, 310), (7, 311), (90, 312)]
        if jaccard(everything[i], everything[j]) >= 0.5
    }
    assert len(expected) == 13
    assert {(i, j) for i, j, _ in found(everything)} == expected
    assert found(everything) == found(everything)


def test_texts_without_words_have_no_duplicates() -> None:
    assert found(["", "...", "", "a b"]) == []


def test_short_texts_are_compared_as_a_whole() -> None:
    assert [(i, j) for i, j, _ in found(["so it is", "so it was", "So it is."])] == [(0, 2)]


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=15))
def test_groups_are_transitive(count: int, edges: list[tuple[int, int]]) -> None:
    edges = [(i, j) for i, j in edges if i < count and j < count]
    sets = [{at} for at in range(count)]
    for i, j in edges:
        joined = sets[i] | sets[j]
        for member in joined:
            sets[member] = joined
    assert components(count, [(i, j, 1.0) for i, j in edges]) == [min(sets[at]) for at in range(count)]


def test_memory_is_a_few_numbers_a_shingle() -> None:
    texts = [" ".join(words(1000, seed)) for seed in range(100)]
    found(texts[:2])  # imports
    tracemalloc.start()
    try:
        assert found(texts) == []
        assert tracemalloc.get_traced_memory()[1] < 32 * sum(len(shingles(text)) for text in texts)
    finally:
        tracemalloc.stop()
