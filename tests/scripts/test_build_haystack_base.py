"""The base of the `haystack` experiment: what it is trained on, and what the shipped one can do."""

import pytest

from data_builders.worlds.mini.source import facts_of
from judge_r1.models.hub import load_model, load_tokenizer
from scripts.build_haystack_base import LEVELS, Encoder, accuracies, check_texts, documents, plain

LAST = len(LEVELS) - 1


def test_the_texts_quote_the_lists_and_hold_nothing_of_an_episode() -> None:
    texts = documents(LAST, 1, 50)
    check_texts(texts)
    for text in texts:
        given = plain([segment for segment in text if segment[1] in ("", "list")])
        quoted = [fact for part, task in text if task == "copy" for fact in facts_of(part) if "," in part]
        assert quoted
        assert set(quoted) <= set(facts_of(given))
    with pytest.raises(AssertionError, match="<search"):
        check_texts([[("<search> Keli</search>", "copy")]])


def test_the_shipped_base_copies_and_compares() -> None:
    encode = Encoder(load_tokenizer("bundled:haystack"))
    found = accuracies(load_model("bundled:haystack"), encode, documents(LAST, 0, 64, repeat=True))
    assert min(found[task] for task in ("copy", "same", "differ", "event", "alike", "read", "support")) > 0.95
