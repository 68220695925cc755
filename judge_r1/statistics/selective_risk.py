"""Certifies a confidence threshold below which a judge abstains, so that the error rate of its answers is bounded.

Learn-then-Test (Angelopoulos et al., 2021) with fixed-sequence testing. R(λ) is the probability that an answer with a
confidence of at least λ is wrong, on a new case. One answer of each case is drawn, and the cases are split. A quarter,
the *design* cases, proposes a sequence of thresholds from strict to lenient. The *test* cases test H_λ: R(λ) > α in
that order. Of the n test cases answered at λ, k are wrong; given n, k is binomial with rate R(λ), so
P(Binomial(n, α) ≤ k) is a valid p value for any distribution of confidences. The test stops at the first p > δ and
returns the threshold before it. The probability of certifying a wrong threshold is at most δ. No correction for the
number of thresholds is needed, since the design cases are not tested.

The sequence must not depend on the test cases, which is why a quarter of the cases is spent on it. A fixed grid would
start at a threshold that hardly any answer reaches, where nothing can be certified.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted
from judge_r1.statistics.intervals import binomial_tail

DESIGN = 0.25
"""The share of the design cases."""
STEPS = 40
"""The approximate number of proposed thresholds. The last one is 0, which answers everything."""
Rate = Annotated[float, Field(gt=0, lt=1)]


class TooFewCases(JudgeError):
    """Too few cases to split into design and test cases."""


class Drawn(NamedTuple):
    """The answer drawn for one case. The confidence is None without a valid answer; such a case is never answered."""

    confidence: float | None
    correct: bool


class Selective(Record):
    """The certified threshold; None if no threshold could be certified, so that the judge always abstains.

    Of the `tested` cases, `answered` reach the threshold and `errors` of those are wrong; `coverage` is
    answered/tested. `p` is the p value at the threshold, or the first one if nothing was certified. `guarantee` states
    the guarantee in words.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    threshold: float | None = Field(ge=0, le=1)
    alpha: Rate
    delta: Rate
    designed: int = Field(ge=1)
    tested: int = Field(ge=1)
    answered: int = Field(ge=0)
    errors: int = Field(ge=0)
    coverage: float = Field(ge=0, le=1)
    p: float = Field(ge=0, le=1)
    seed: int
    guarantee: str

    def answers(self, confidence: float | None) -> bool:
        """True if an answer with this confidence is given. None means that the judge reported no confidence."""
        return self.threshold is not None and confidence is not None and confidence >= self.threshold


def select(
    confidences: Sequence[float | None],
    correct: Sequence[bool],
    clusters: Sequence[str],
    *,
    alpha: float,
    delta: float,
    seed: int = 0,
) -> Selective:
    """The most lenient threshold certified for P(R > `alpha`) ≤ `delta`.

    Answers of one cluster (case) are not independent: one of each is drawn by `seed`, the others are not used. The
    order of the input does not matter.

    Raises:
        TooFewCases: The cases cannot be split.
        ValueError: `alpha`, `delta` or a confidence is not a probability.
    """
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError(f"alpha {alpha} and delta {delta} must lie between 0 and 1")
    # In random order, so that the first quarter is a fair sample of the cases.
    drawn = one_per_cluster(confidences, correct, clusters, seed)
    count = round(DESIGN * len(drawn))
    if count < 1:
        raise TooFewCases(
            f"{counted(len(drawn), 'case')} cannot both design thresholds and test them: at least 3 are needed"
        )
    design, test = drawn[:count], drawn[count:]
    certified: tuple[float, int, int, float] | None = None
    p = 1.0
    for threshold in proposed(design, len(test), alpha):
        answered, errors = _at(test, threshold)
        p = binomial_tail(errors, answered, alpha)
        if p > delta:
            break
        certified = threshold, answered, errors, p
    threshold_, answered, errors, p = certified or (None, 0, 0, p)
    return Selective(
        threshold=threshold_,
        alpha=alpha,
        delta=delta,
        designed=len(design),
        tested=len(test),
        answered=answered,
        errors=errors,
        coverage=answered / len(test),
        p=p,
        seed=seed,
        guarantee=_guarantee(threshold_, alpha, delta, len(test)),
    )


def one_per_cluster(
    confidences: Sequence[float | None], correct: Sequence[bool], clusters: Sequence[str], seed: int
) -> list[Drawn]:
    """One answer of each cluster, drawn uniformly, with the clusters in an order drawn by `seed`."""
    import numpy as np

    if not len(confidences) == len(correct) == len(clusters) or not clusters:
        raise ValueError(f"{len(confidences)} confidences of {len(correct)} answers in {len(clusters)} clusters")
    if odd := [c for c in confidences if c is not None and not 0 <= c <= 1]:
        raise ValueError(f"{odd[0]} is not a confidence: it must lie in [0, 1]")
    parts: dict[str, list[Drawn]] = {}
    for cluster, confidence, right in zip(clusters, confidences, correct, strict=True):
        parts.setdefault(cluster, []).append(Drawn(confidence, right))
    generator = np.random.default_rng(seed)
    ordered = [
        # Sorted, so that the draw does not depend on the order of the input.
        sorted(parts[name], key=lambda d: (-1.0 if d.confidence is None else d.confidence, d.correct))
        for name in sorted(parts)
    ]
    picked = [part[int(generator.integers(len(part)))] for part in ordered]
    return [picked[index] for index in generator.permutation(len(picked))]


def proposed(design: Sequence[Drawn], tests: int, alpha: float) -> list[float]:
    """Thresholds to test, from strict to lenient; the last one is 0.

    They are about forty of the confidences in `design`, starting at the one with the smallest expected p value for
    `tests` cases. The error rate at a threshold is estimated as (k + .5)/(n + 1).
    """
    levels = sorted({d.confidence for d in design if d.confidence is not None}, reverse=True)
    thresholds = list(dict.fromkeys([*levels[:: max(1, len(levels) // STEPS)], 0.0]))

    def expected_p(threshold: float) -> float:
        answered, errors = _at(design, threshold)
        expected = round(answered / len(design) * tests)
        return binomial_tail(round((errors + 0.5) / (answered + 1) * expected), expected, alpha)

    # The first test decides whether anything is certified at all, so it is the one that is most likely to pass.
    start = min(range(len(thresholds)), key=lambda i: expected_p(thresholds[i]))
    return thresholds[start:]


def least_answers(alpha: float, delta: float) -> int:
    """The number of answers, all right, needed to certify any threshold: the least n with (1 - α)^n ≤ δ."""
    return math.ceil(math.log(delta) / math.log1p(-alpha))


def _at(drawn: Sequence[Drawn], threshold: float) -> tuple[int, int]:
    """The number of answers at a threshold, and the number of wrong ones."""
    given = [d for d in drawn if d.confidence is not None and d.confidence >= threshold]
    return len(given), sum(not d.correct for d in given)


def _guarantee(threshold: float | None, alpha: float, delta: float, tested: int) -> str:
    if threshold is None:
        return (
            f"Nothing could be certified with {counted(tested, 'test case')}: abstain always. Even without errors it "
            f"takes {least_answers(alpha, delta)} answered test cases to certify an error rate of {alpha:g} at "
            f"{delta:g}."
        )
    return (
        f"On new cases like these, one answer a case, at most {alpha:g} of the answers given at a confidence of at "
        f"least {threshold} are wrong. The chance that the draw of the calibration cases makes this statement false "
        f"is at most {delta:g}."
    )
