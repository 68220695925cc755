"""What stands in arrays equals the lists and dicts that it looks like."""

from hypothesis import given
from hypothesis import strategies as st

from judge_r1.files.arrays.positions import LineIndex, Places


@given(st.lists(st.lists(st.sampled_from(["ab", "ba", "abc"]), unique=True, max_size=3)), st.integers(1, 3))
def test_places_are_the_triples_in_order(items: list[list[str]], repeats: int) -> None:
    places = Places[str](repeats)
    for values in items:
        places.add(values)
    triples = [
        (item, value, repeat) for item, values in enumerate(items) for value in values for repeat in range(repeats)
    ]
    assert [places[position] for position in range(len(places))] == triples
    assert [places.find(*triple) for triple in triples] == list(range(len(triples)))
    assert list(places.counts()) == [len(values) * repeats for values in items]
    for item in range(len(items)):
        assert places.find(item, "never", 0) is None
        assert places.find(item, "ab", repeats) is None


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**40))))
def test_a_line_index_holds_the_offsets_of_each_number_in_order(lines: list[tuple[int, int]]) -> None:
    index, found = LineIndex(4), dict[int, list[int]]()
    assert index.grow() == 4
    for number, offset in lines:
        found.setdefault(number, []).append(offset)
        assert index.add(number, offset) == len(found[number])
    assert {number: index[number] for number in index.present()} == dict(sorted(found.items()))
    assert list(index.counts) == [len(found.get(number, [])) for number in range(5)]
    assert index[0] == found.get(0, [])
