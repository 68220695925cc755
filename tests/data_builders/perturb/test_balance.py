"""The balance chooses among the variants of any origin, one of each step, so that counts lean little over a set."""

from random import Random

import pytest
from factories import make_pair
from perturb_factories import case_of

from data_builders.perturb.selection import Balance, changed_words, measure
from data_builders.text_units.text_counts import rule_scores
from judge_r1.core.records import Case, ReasoningPair

STEPS = ["The first sentence is here.", "The second one comes next.", "A third one ends it all."]


def case_number(number: int) -> Case:
    return case_of("legal", f"Case {number}.", "\n".join(f"{n}. {text}" for n, text in enumerate(STEPS, 1)))


def variant(case: Case, step: int, text: str) -> ReasoningPair:
    """The case's reference with `text` in place of a step."""
    flawed = case.reference.replace(STEPS[step], text)
    pair = make_pair(case, flawed, (1,))
    start = case.reference.index(STEPS[step])
    [flaw] = pair.origin.flaws
    moved = flaw.model_copy(update={"span": flaw.span.model_copy(update={"start": start, "end": start + len(text)})})
    return pair.model_copy(update={"origin": pair.origin.model_copy(update={"flaws": (moved,)})})


LONGER, SHORTER = "The first sentence is here and it is much longer than it was.", "The first."


def test_the_lengths_of_a_set_are_balanced() -> None:
    balance, chosen = Balance(), list[ReasoningPair]()
    for number in range(40):
        case = case_number(number)
        [found] = balance.choose([measure([variant(case, 0, LONGER), variant(case, 0, SHORTER)])], 1)
        chosen += found
    longer = sum(len(pair.flawed) > len(pair.reference) for pair in chosen)
    assert len(chosen) == 40
    assert 12 <= longer <= 28


def test_the_length_of_words_is_balanced_though_most_variants_lean() -> None:
    """Three of four variants have longer words. Of two fifths of the cases all three have."""
    balance, first, chosen, rng = Balance(), list[ReasoningPair](), list[ReasoningPair](), Random(0)
    for number in range(60):
        case = case_number(number)
        pairs = [
            variant(case, step, text.replace(text.split()[-2], rng.choice(["substantially"] * 3 + ["so"])))
            for step, text in enumerate(STEPS)
        ]
        [found] = balance.choose([measure(pairs)], 1)
        first, chosen = [*first, pairs[0]], [*chosen, *found]
    before, after = (sum(rule_scores(pairs, "mean word length")) / 60 for pairs in (first, chosen))
    assert before > 0.85
    assert after <= 0.66


def test_one_variant_of_a_step_is_chosen_and_all_steps_if_wanted() -> None:
    case = case_number(0)
    pairs = [variant(case, step, f"{text} {word}") for step, text in enumerate(STEPS) for word in ("Indeed.", "So.")]
    [chosen] = Balance().choose([measure(pairs)], 5)
    assert [pair.variant for pair in chosen] == [1, 2, 3]
    assert len({pair.origin.flaws[0].span.start for pair in chosen}) == 3
    assert len(Balance().choose([measure(pairs)], 2)[0]) == 2
    assert Balance().choose([[]], 5) == [[]]


def test_a_single_variant_is_kept_however_much_it_leans() -> None:
    """What leaks is measured by the audit: nothing is lost here."""
    balance = Balance()
    chosen = [balance.choose([measure([variant(case_number(n), 0, LONGER)])], 5)[0] for n in range(30)]
    assert all(len(found) == 1 for found in chosen)


@pytest.mark.parametrize(("old", "new", "words"), [("a-b c", "a-d c", {"a-b": -1, "a-d": 1}), ("x", "x", {})])
def test_changed_words_are_whole(old: str, new: str, words: dict[str, int]) -> None:
    assert changed_words(old, new) == words
