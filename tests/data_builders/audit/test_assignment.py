"""Rounds: everyone sees everything once, then what differs once more, in orders and on sides of his own."""

from pathlib import Path

import pytest
from audit_factories import choose, toy_set

from data_builders.audit.annotation.annotations import BadAnswers
from data_builders.audit.annotation.assignment import (
    annotators,
    check_answers,
    first_round,
    first_side,
    load_audit,
    page_key,
    second_round,
)
from data_builders.build import write_pairs

DATA = toy_set(30)


def test_first_round_has_every_pair_once_in_an_order_of_its_own() -> None:
    ids = {pair.pair_id for pair in DATA.pairs}
    ana, ben = first_round(DATA, [], "Ana"), first_round(DATA, [], "Ben")
    assert set(ana.order) == set(ben.order) == ids
    assert len(ana.order) == len(ids)
    assert list(ana.order) != list(ben.order) != [pair.pair_id for pair in DATA.pairs]
    assert first_round(DATA, [], "Ana") == ana


def test_it_goes_on_where_answers_are_missing() -> None:
    order = first_round(DATA, [], "Ana").order
    pairs = DATA.by_id()
    answers = [choose(pairs[order[n]], True) for n in (0, 1, 3)] + [choose(pairs[order[2]], True, "Ben")]
    turn = first_round(DATA, answers, "Ana")
    assert turn.next_place() == 2
    assert turn.answered == 3
    assert not turn.complete
    assert annotators(answers) == ["Ana", "Ben"]


def test_second_round_has_what_differed_and_opens_when_the_first_is_complete() -> None:
    wrong = {pair.pair_id for n, pair in enumerate(DATA.pairs) if n % 3 == 0}
    answers = [choose(pair, pair.pair_id not in wrong) for pair in DATA.pairs]
    assert second_round(DATA, answers[:-1], "Ana") is None
    again = second_round(DATA, answers, "Ana")
    assert again is not None
    assert set(again.order) == wrong
    first = [pair_id for pair_id in first_round(DATA, answers, "Ana").order if pair_id in wrong]
    assert list(again.order) != first
    assert again.answered == 0
    # A choice made again in the first round is the one that counts.
    changed = [*answers, choose(DATA.by_id()[again.order[0]], True)]
    redone = second_round(DATA, changed, "Ana")
    assert redone is not None
    assert set(redone.order) == wrong - {again.order[0]}


def test_sides_are_balanced_and_drawn_anew() -> None:
    pairs = toy_set(300).pairs
    sides = {(a, r): [first_side(p, a, r) for p in pairs] for a in ("Ana", "Ben") for r in (1, 2)}  # type: ignore[arg-type]
    for drawn in sides.values():
        assert 0.42 < drawn.count("A") / len(drawn) < 0.58
    assert len({tuple(drawn) for drawn in sides.values()}) == 4


def test_page_keys_tell_pairs_apart_and_are_no_pair_ids() -> None:
    keys = {page_key(pair.pair_id, "Ana", r) for pair in DATA.pairs for r in (1, 2)}  # type: ignore[arg-type]
    assert len(keys) == 2 * len(DATA.pairs)
    assert not keys & {pair.pair_id for pair in DATA.pairs}


def test_answers_to_other_pairs_are_refused(tmp_path: Path) -> None:
    strange = choose(toy_set(31).pairs[-1], True)
    with pytest.raises(BadAnswers, match=f"an answer to pair {strange.pair_id}"):
        check_answers(DATA, [strange], tmp_path / "answers.jsonl")
    write_pairs(DATA, tmp_path)
    with pytest.raises(BadAnswers, match="holds no answers yet"):
        load_audit(tmp_path, tmp_path / "answers.jsonl")
