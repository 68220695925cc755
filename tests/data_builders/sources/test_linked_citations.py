"""Citations of an intertextual graph are left out of the text where links show them."""

import pytest

from data_builders.sources.f1000rd import linked_references, without_citations
from data_builders.sources.text_repair import CITATIONS, Changes

GRAPH = {
    "nodes": [
        {"ix": "p1", "ntype": "p", "content": "As shown 3, 14 ."},
        {"ix": "r1", "ntype": "ref", "content": "3 Doe J : Stones."},
        {"ix": "r2", "ntype": "ref", "content": "14 Roe R : Sand."},
        {"ix": "r3", "ntype": "ref", "content": "Poe E : Clay."},
    ],
    "edges": [
        {"src_ix": "p1", "tgt_ix": "r1", "etype": "link"},
        {"src_ix": "p1", "tgt_ix": "r2", "etype": "link"},
        {"src_ix": "p1", "tgt_ix": "r3", "etype": "link"},
        {"src_ix": "p1", "tgt_ix": "r1", "etype": "next"},
    ],
}


def test_links_name_the_references_by_their_printed_number() -> None:
    assert linked_references(GRAPH) == {"p1": {3: 1, 14: 1}}
    assert linked_references({}) == linked_references({"nodes": None, "edges": [7]}) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("As shown 3, 14 . Later", "As shown. Later"),
        ("As shown 3– 14 and later", "As shown and later"),
        ("It took 3 days, as shown 3 .", "It took 3 days, as shown."),
        ("It took 3 days, as shown 3 and", "It took 3 days, as shown 3 and"),
        ("It took 5 days .", "It took 5 days ."),
        ("See Figure 3 . In 14 of 20", "See Figure 3 . In 14 of 20"),
        ("see 3 for more", "see 3 for more"),
        ("between 1999 and 2010 3, 14 .", "between 1999 and 2010."),
        ("a 3% rise of 14.5", "a 3% rise of 14.5"),
    ],
)
def test_a_number_is_a_citation_only_where_links_account_for_it(text: str, expected: str) -> None:
    changes = Changes()
    assert without_citations(text, {3: 1, 14: 1}, changes) == expected
    assert changes[CITATIONS] == (expected != text)


def test_a_paragraph_without_links_stays() -> None:
    assert without_citations("As shown 3 .", {}, Changes()) == "As shown 3 ."
