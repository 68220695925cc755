"""The case store: size limit, tenants, pins and eviction."""

import pytest

from judge_r1.core.case_store import CaseStore, CaseStoreFull
from retrieval.retriever import Retriever


def test_evicts_the_least_recently_used_text_and_keeps_pinned_ones() -> None:
    cases = CaseStore(max_bytes=30)
    first, second, third = (cases.put(letter * 10) for letter in "abc")
    assert cases[first] == "a" * 10  # used: the second is now the least used
    with cases.pin(first), cases.pin(third):
        fourth = cases.put("d" * 10)
        assert second not in cases
        cases.put("e" * 10)
        assert set(cases) >= {first, third}
        assert fourth not in cases
        with pytest.raises(CaseStoreFull, match="there is no space"):
            cases.put("f" * 11)
        assert cases.bytes == 30
    cases.put("f" * 30)
    assert (len(cases), cases.bytes) == (1, 30)


def test_a_tenant_cannot_access_texts_of_another() -> None:
    cases = CaseStore()
    mine, yours = cases.put("text", "me"), cases.put("text", "you")
    assert mine != yours
    assert cases.get_owned(mine, "me") == "text"
    assert cases.sizes("you") == {yours: 4}
    for steal in (
        lambda: cases.get_owned(mine, "you"),
        lambda: cases.remove(mine, "you"),
        lambda: cases.get_owned("x", "me"),
    ):
        with pytest.raises(KeyError):
            steal()
    cases.remove(mine, "me")
    assert (list(cases), cases.bytes) == ([yours], 4)


def test_evicts_from_the_largest_tenant() -> None:
    """A tenant with many texts cannot evict those of a smaller tenant."""
    cases = CaseStore(max_bytes=50)
    modest = [cases.put(letter * 10, "modest") for letter in "ab"]
    greedy = [cases.put(f"{n}" * 10, "greedy") for n in range(8)]
    assert set(cases) == {*modest, *greedy[-3:]}
    with cases.pin(greedy[-1]), cases.pin(greedy[-2]), cases.pin(greedy[-3]):
        newest = cases.put("x" * 10, "greedy")
    assert set(cases) == {modest[1], *greedy[-3:], newest}
    cases.put("y" * 45, "third")
    assert cases.bytes == 45


def test_a_removed_text_stays_readable_while_pinned() -> None:
    cases = CaseStore()
    case_id = cases.put("text", "me")
    with cases.pin(case_id):
        with cases.pin(case_id):
            cases.remove(case_id, "me")
            for gone in (cases.get_owned, cases.remove):
                with pytest.raises(KeyError):
                    gone(case_id, "me")
        assert (cases[case_id], list(cases), cases.sizes("me"), cases.bytes) == ("text", [case_id], {}, 4)
    assert case_id not in cases
    assert cases.bytes == 0
    with cases.pin(cases.put("text", "me")):
        cases.remove(case_id, "me")
        assert cases.put("text", "me") == case_id
    assert cases.get_owned(case_id, "me") == "text"


def test_the_index_of_a_removed_text_stays_while_pinned() -> None:
    cases = CaseStore()
    retriever = Retriever(cases, method="bm25")
    case_id = cases.put("Ana paid 34.", "me")
    with cases.pin(case_id):
        retriever.search([(case_id, "paid")], 1)
        index = retriever._indexes[case_id]
        cases.remove(case_id, "me")
        retriever.search([(cases.put("Ben paid.", "me"), "paid")], 1)
        retriever.search([(case_id, "paid")], 1)
        assert retriever._indexes[case_id] is index
    retriever.search([(cases.put("Eva paid.", "me"), "paid")], 1)
    assert case_id not in retriever._indexes


def test_ids_do_not_normalise_unicode() -> None:
    """Composed and decomposed characters have different offsets."""
    cases = CaseStore()
    assert cases[cases.put("caf\u00e9 x")] != cases[cases.put("cafe\u0301 x")]
