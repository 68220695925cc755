"""Rounds: an annotator sees all pairs once and the differing ones again, in a personal order."""

from pathlib import Path

import pytest
from audit_factories import choose, sample_pairs

from data_builders.audit.annotation.choices import annotators, first_round, first_side, load_choices, second_round
from data_builders.audit.annotation.form import Round
from data_builders.audit.annotation.site import page_key
from data_builders.build import write_pairs
from judge_r1.labels.audit_answers import AnswerFileError, check_known

DATA = sample_pairs(30)


def test_the_first_round_has_every_pair_once_in_a_personal_order() -> None:
    ids = {pair.pair_id for pair in DATA.pairs}
    ana, ben = first_round(DATA, [], "Ana"), first_round(DATA, [], "Ben")
    assert set(ana.order) == set(ben.order) == ids
    assert len(ana.order) == len(ids)
    assert list(ana.order) != list(ben.order) != [pair.pair_id for pair in DATA.pairs]
    assert first_round(DATA, [], "Ana") == ana


def test_the_next_pair_is_the_first_without_an_answer() -> None:
    order = first_round(DATA, [], "Ana").order
    pairs = DATA.by_id()
    answers = [choose(pairs[order[n]], True) for n in (0, 1, 3)] + [choose(pairs[order[2]], True, "Ben")]
    current = first_round(DATA, answers, "Ana")
    assert current.next_index() == 2
    assert current.answered == 3
    assert not current.complete
    assert annotators(answers) == ["Ana", "Ben"]


def test_the_second_round_has_the_differing_pairs_and_needs_a_complete_first_round() -> None:
    wrong = {pair.pair_id for n, pair in enumerate(DATA.pairs) if n % 3 == 0}
    answers = [choose(pair, pair.pair_id not in wrong) for pair in DATA.pairs]
    assert second_round(DATA, answers[:-1], "Ana") is None
    second = second_round(DATA, answers, "Ana")
    assert second is not None
    assert set(second.order) == wrong
    first = [pair_id for pair_id in first_round(DATA, answers, "Ana").order if pair_id in wrong]
    assert list(second.order) != first
    assert second.answered == 0
    # A changed choice of the first round counts.
    changed = [*answers, choose(DATA.by_id()[second.order[0]], True)]
    redone = second_round(DATA, changed, "Ana")
    assert redone is not None
    assert set(redone.order) == wrong - {second.order[0]}


def test_sides_are_balanced_and_differ_by_annotator_and_round() -> None:
    pairs = sample_pairs(300).pairs
    sides = {(a, r): [first_side(p, a, r) for p in pairs] for a in ("Ana", "Ben") for r in (1, 2)}
    for drawn in sides.values():
        assert 0.42 < drawn.count("A") / len(drawn) < 0.58
    assert len({tuple(drawn) for drawn in sides.values()}) == 4


def test_page_keys_are_unique_and_differ_from_pair_ids() -> None:
    keys = {page_key(pair.pair_id, Round("Ana", r, [], {})) for pair in DATA.pairs for r in (1, 2)}
    assert len(keys) == 2 * len(DATA.pairs)
    assert not keys & {pair.pair_id for pair in DATA.pairs}


def test_answers_to_other_pairs_are_rejected(tmp_path: Path) -> None:
    foreign = choose(sample_pairs(31).pairs[-1], True)
    with pytest.raises(AnswerFileError, match=f"an answer to pair {foreign.pair_id}"):
        check_known([foreign.pair_id], DATA.by_id(), tmp_path / "answers.jsonl")
    write_pairs(DATA, tmp_path)
    with pytest.raises(AnswerFileError, match="has no answers yet"):
        load_choices(tmp_path, tmp_path / "answers.jsonl")
