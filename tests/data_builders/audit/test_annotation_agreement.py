"""Alignment by annotator and round, against the counts it was made from."""

import pytest
from audit_factories import choose, toy_set

from data_builders.audit.annotation.agreement import EVERYONE, agreement

DATA = toy_set(9)


def test_first_round_counts_what_is_there_and_the_second_waits() -> None:
    answers = [choose(pair, n != 0) for n, pair in enumerate(DATA.pairs[:10])]
    overall = next(line for line in agreement(DATA, answers) if line.domain == "overall")
    assert overall.first is not None
    assert (overall.pairs, overall.first.n, overall.first.share) == (18, 10, 0.9)
    assert overall.first.ci95[0] < 0.9 < overall.first.ci95[1]
    assert overall.second is None


def test_second_choices_take_the_place_of_first_ones() -> None:
    wrong = [pair for pair in DATA.pairs if pair.domain == "legal"][:3]
    answers = [choose(pair, pair not in wrong) for pair in DATA.pairs]
    waiting = agreement(DATA, [*answers, choose(wrong[0], True, round_=2)])
    assert all(line.second is None for line in waiting)
    again = [choose(wrong[0], True, round_=2), choose(wrong[1], True, round_=2), choose(wrong[2], False, round_=2)]
    lines = {line.domain: line for line in agreement(DATA, [*answers, *again])}
    assert list(lines) == ["academic", "legal", "medical", "overall"]
    legal = lines["legal"]
    assert legal.first is not None
    assert legal.second is not None
    assert (legal.first.share, legal.second.share) == (0.5, pytest.approx(5 / 6))
    assert lines["medical"].second is not None
    assert lines["medical"].second.share == 1.0
    overall = lines["overall"].second
    assert overall is not None
    assert (overall.n, overall.share) == (18, pytest.approx(17 / 18))


def test_several_annotators_are_told_apart_and_together() -> None:
    answers = [choose(pair, True, "Ana") for pair in DATA.pairs]
    answers += [choose(pair, n % 2 == 0, "Ben") for n, pair in enumerate(DATA.pairs)]
    lines = {(line.annotator, line.domain): line for line in agreement(DATA, answers)}
    assert {name for name, _ in lines} == {"Ana", "Ben", EVERYONE}
    together = lines[EVERYONE, "overall"]
    assert together.first is not None
    assert (together.first.n, together.first.share) == (36, 0.75)
    assert together.second is None  # Ben's second round has not begun
    assert lines["Ana", "overall"].second is not None
