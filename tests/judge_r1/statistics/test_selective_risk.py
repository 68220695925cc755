"""Selective judging: its guarantee fails in at most a share delta of the calibrations."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from judge_r1.statistics.selective_risk import (
    Drawn,
    Selective,
    TooFewCases,
    least_answers,
    one_per_cluster,
    proposed,
    select,
)

TRIALS = 300
ALPHA = DELTA = 0.1
COPIES = 3
"""Answers per case. They share confidence and outcome, so they carry the information of one answer."""
Answers = tuple[list[float], list[bool], list[str]]
Method = Callable[[Answers, int], float | None]


class Judge(NamedTuple):
    """A judge with uniform confidences on [0, 1]: error probability by confidence, and R(λ), its mean over [λ, 1]."""

    error: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    risk: Callable[[float], float]


class Measured(NamedTuple):
    """Share of calibrations with a threshold, share whose threshold has a risk above α, and mean share of new cases
    that are answered."""

    certified: float
    violated: float
    coverage: float


JUDGES: dict[str, Judge] = {
    # R falls with the threshold: thresholds from .2254 on satisfy the bound
    "honest": Judge(lambda c: 0.5 * (1 - c) ** 2, lambda low: (1 - low) ** 2 / 6),
    # errs most at high confidence, so R is not monotone: thresholds up to .525 satisfy the bound
    "overconfident": Judge(
        lambda c: np.where(c > 0.9, 0.4, 0.02),
        lambda low: 0.4 if low >= 0.9 else (0.04 + 0.02 * (0.9 - low)) / (1 - low),
    ),
    # slightly above α everywhere: every certificate is wrong
    "uninformative": Judge(lambda c: np.full_like(c, 0.101), lambda low: 0.101),
}


def answers(judge: Judge, cases: int, seed: int) -> Answers:
    """Draws one calibration set."""
    generator = np.random.default_rng(seed)
    confidences = generator.random(cases)
    right = generator.random(cases) >= judge.error(confidences)
    names = [str(case) for case in range(cases) for _ in range(COPIES)]
    return np.repeat(confidences, COPIES).tolist(), np.repeat(right, COPIES).tolist(), names


def by_case(of: Answers, seed: int) -> float | None:
    """The implemented method: one answer per case."""
    return select(*of, alpha=ALPHA, delta=DELTA, seed=seed).threshold


def measure(judge: Judge, method: Method, cases: int, trials: int) -> Measured:
    """Calibrates `trials` times, each time on new cases."""
    thresholds = [method(answers(judge, cases, trial), trial) for trial in range(trials)]
    given = [threshold for threshold in thresholds if threshold is not None]
    violated = sum(judge.risk(threshold) > ALPHA for threshold in given)
    return Measured(len(given) / trials, violated / trials, math.fsum(1 - t for t in given) / trials)


def noise(trials: int) -> float:
    """Three standard errors of a share δ."""
    return 3 * math.sqrt(DELTA * (1 - DELTA) / trials)


@pytest.mark.parametrize("judge", JUDGES)
def test_the_guarantee_fails_in_at_most_delta_of_the_calibrations(judge: str) -> None:
    found = measure(JUDGES[judge], by_case, 240, TRIALS)
    assert found.violated <= DELTA + noise(TRIALS)
    if judge == "uninformative":
        assert found.certified == found.violated > 0.3 * DELTA  # this judge can violate the bound
    else:
        assert found.certified > 0.5


def test_resampling_one_pool_keeps_the_guarantee_on_the_pool() -> None:
    """Samples of one set of answers, whose error rate above any threshold is known by counting."""
    generator = np.random.default_rng(9)
    confidences = np.round(generator.beta(4, 1, 2000), 2)
    right = generator.random(2000) < 0.55 + 0.43 * confidences
    violated = certified = 0
    for trial in range(TRIALS):
        drawn = generator.integers(0, 2000, 300)
        names = [str(i) for i in range(300)]
        found = select(confidences[drawn].tolist(), right[drawn].tolist(), names, alpha=ALPHA, delta=DELTA, seed=trial)
        if found.threshold is not None:
            certified += 1
            violated += (~right[confidences >= found.threshold]).mean() > ALPHA
    assert certified > TRIALS / 2
    assert violated / TRIALS <= DELTA + noise(TRIALS)


def test_the_result_reports_the_counts_of_the_test_cases() -> None:
    confidences, right, clusters = answers(JUDGES["honest"], 400, 3)
    found = select(confidences, right, clusters, alpha=ALPHA, delta=DELTA, seed=5)
    drawn = one_per_cluster(confidences, right, clusters, 5)
    test = drawn[found.designed :]
    assert found.threshold is not None
    answered = [d for d in test if found.answers(d.confidence)]
    assert (found.designed, found.tested) == (100, 300)
    assert (found.answered, found.errors) == (len(answered), sum(not d.correct for d in answered))
    assert found.coverage == found.answered / 300
    assert found.p == pytest.approx(binom.cdf(found.errors, found.answered, ALPHA))
    assert found.p <= DELTA
    assert f"confidence of at least {found.threshold} are wrong" in found.guarantee
    assert Selective.model_validate_json(found.model_dump_json(by_alias=True)) == found


def test_without_a_certified_threshold_the_judge_always_abstains() -> None:
    assert least_answers(ALPHA, DELTA) == 22
    few = select([0.9] * 28, [True] * 28, [str(i) for i in range(28)], alpha=ALPHA, delta=DELTA)
    assert (few.threshold, few.tested, few.coverage) == (None, 21, 0.0)
    assert "abstain always" in few.guarantee
    assert "takes 22 answered test cases" in few.guarantee
    assert not few.answers(1.0)
    enough = select([0.9] * 29, [True] * 29, [str(i) for i in range(29)], alpha=ALPHA, delta=DELTA)
    assert (enough.tested, enough.threshold) == (22, 0.0)
    wrong = select([0.9] * 500, [False] * 500, [str(i) for i in range(500)], alpha=ALPHA, delta=DELTA)
    assert (wrong.threshold, wrong.p) == (None, 1.0)


def test_an_answer_without_confidence_is_never_given_and_lowers_the_coverage() -> None:
    confidences = [None if i % 2 else 0.8 for i in range(400)]
    found = select(
        confidences, [i % 2 == 0 for i in range(400)], [str(i) for i in range(400)], alpha=ALPHA, delta=DELTA
    )
    assert found.threshold == 0.0
    assert 0.4 < found.coverage < 0.6
    assert found.errors == 0
    assert not found.answers(None)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.sampled_from("abcdefgh")), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_one_answer_is_drawn_per_case_in_any_input_order(rows: list[tuple[float, bool, str]], rng: object) -> None:
    def columns(of: list[tuple[float, bool, str]]) -> tuple[list[float], list[bool], list[str]]:
        return [c for c, _, _ in of], [r for _, r, _ in of], [name for _, _, name in of]

    drawn = one_per_cluster(*columns(rows), 3)
    assert len(drawn) == len({name for _, _, name in rows})
    assert {tuple(d) for d in drawn} <= {(c, r) for c, r, _ in rows}
    shuffled = list(rows)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert one_per_cluster(*columns(shuffled), 3) == drawn


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80))
def test_thresholds_run_from_strict_to_lenient_and_end_at_zero(rows: list[tuple[float, bool]]) -> None:
    thresholds = proposed([Drawn(c, r) for c, r in rows], 200, ALPHA)
    assert thresholds == sorted(set(thresholds), reverse=True)
    assert thresholds[-1] == 0.0
    assert set(thresholds) <= {0.0, *(c for c, _ in rows)}


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(TooFewCases, match="2 case"):
        select([0.5] * 2, [True] * 2, ["a", "b"], alpha=ALPHA, delta=DELTA)
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        select([0.5], [True], ["a"], alpha=0.0, delta=DELTA)
    with pytest.raises(ValueError, match="not a confidence"):
        select([math.nan], [True], ["a"], alpha=ALPHA, delta=DELTA)
