"""Agreement by annotator, domain and round."""

import pytest
from audit_factories import choose, sample_pairs

from data_builders.audit.annotation.agreement import EVERYONE, agreement

DATA = sample_pairs(9)


def test_an_incomplete_first_round_is_reported_without_a_second() -> None:
    answers = [choose(pair, n != 0) for n, pair in enumerate(DATA.pairs[:10])]
    overall = next(row for row in agreement(DATA, answers) if row.domain == "overall")
    assert overall.first is not None
    assert (overall.pairs, overall.first.n, overall.first.share) == (18, 10, 0.9)
    assert overall.first.ci95[0] < 0.9 < overall.first.ci95[1]
    assert overall.second is None


def test_second_choices_replace_first_ones() -> None:
    wrong = [pair for pair in DATA.pairs if pair.domain == "legal"][:3]
    answers = [choose(pair, pair not in wrong) for pair in DATA.pairs]
    waiting = agreement(DATA, [*answers, choose(wrong[0], True, round_=2)])
    assert all(row.second is None for row in waiting)
    again = [choose(wrong[0], True, round_=2), choose(wrong[1], True, round_=2), choose(wrong[2], False, round_=2)]
    rows = {row.domain: row for row in agreement(DATA, [*answers, *again])}
    assert list(rows) == ["academic", "legal", "medical", "overall"]
    legal = rows["legal"]
    assert legal.first is not None
    assert legal.second is not None
    assert (legal.first.share, legal.second.share) == (0.5, pytest.approx(5 / 6))
    assert rows["medical"].second is not None
    assert rows["medical"].second.share == 1.0
    overall = rows["overall"].second
    assert overall is not None
    assert (overall.n, overall.share) == (18, pytest.approx(17 / 18))


def test_several_annotators_are_reported_separately_and_together() -> None:
    answers = [choose(pair, True, "Ana") for pair in DATA.pairs]
    answers += [choose(pair, n % 2 == 0, "Ben") for n, pair in enumerate(DATA.pairs)]
    rows = {(row.annotator, row.domain): row for row in agreement(DATA, answers)}
    assert {name for name, _ in rows} == {"Ana", "Ben", EVERYONE}
    together = rows[EVERYONE, "overall"]
    assert together.first is not None
    assert (together.pairs, together.first.n, together.first.share) == (36, 36, 0.75)
    assert together.second is None  # Ben has not begun the second round
    assert rows["Ana", "overall"].second is not None
