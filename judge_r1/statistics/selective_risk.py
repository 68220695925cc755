"""A judge that answers only where it may: abstain below a confidence, so that few of the answers given are wrong.

Learn-then-Test (Angelopoulos et al., 2021) with fixed-sequence testing. For a threshold λ let R(λ) be the chance that
an answer is wrong given that its confidence is at least λ, on a new case. One answer of each case is drawn; the cases
are split. A quarter *designs*: it proposes thresholds from strict to lenient, and where to begin. The others *test*, in
that order, H_λ: R(λ) > α. Of the n test cases answered at λ, k are wrong; given n, k is binomial with rate R(λ), so
P(Binomial(n, α) ≤ k) is a valid p value for any distribution of confidences. The first p > δ ends it, and the threshold
before it is the one returned: a wrong one is certified with a chance of at most δ, without a correction for the number
of thresholds, since the design never saw the cases that test.

Why a quarter is spent: the sequence must not depend on what it is tested with. A fixed grid would begin at a threshold
that hardly any answer reaches, where nothing can be shown.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Record
from judge_r1.statistics.intervals import binomial_tail

DESIGN = 0.25
"""The share of the cases that designs."""
STEPS = 40
"""About how many thresholds are proposed; the last one is 0, to answer all."""
Rate = Annotated[float, Field(gt=0, lt=1)]


class TooFewCases(JudgeError):
    """Cases that cannot be split into some that design and some that test."""


class Drawn(NamedTuple):
    """The answer drawn of one case; without a valid answer the confidence is None, and it is never answered."""

    confidence: float | None
    correct: bool


class Selective(Record):
    """What was certified. `threshold` is None where nothing was: abstain always.

    Of the `tested` cases `answered` reach the threshold and `errors` of those are wrong; `coverage` is answered/tested.
    `p` is the p value at the threshold, or the first one where nothing was certified. `guarantee` says what holds.
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
        """Is an answer with this confidence given? None: the judge had none."""
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
    input's order is of no consequence. Raises TooFewCases, and ValueError for what is no probability.
    """
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError(f"alpha {alpha} and delta {delta} must lie between 0 and 1")
    drawn = one_per_cluster(confidences, correct, clusters, seed)
    count = round(DESIGN * len(drawn))
    if count < 1:
        raise TooFewCases(f"{len(drawn)} case(s) cannot both design thresholds and test them: at least 3 are needed")
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
    """One answer of each cluster, each of them with the same chance, the clusters in an order drawn by `seed`."""
    if not len(confidences) == len(correct) == len(clusters) or not clusters:
        raise ValueError(f"{len(confidences)} confidences of {len(correct)} answers in {len(clusters)} clusters")
    if odd := [c for c in confidences if c is not None and not 0 <= c <= 1]:
        raise ValueError(f"{odd[0]} is not a confidence: it must lie in [0, 1]")
    parts: dict[str, list[Drawn]] = {}
    for cluster, confidence, right in zip(clusters, confidences, correct, strict=True):
        parts.setdefault(cluster, []).append(Drawn(confidence, right))
    generator = np.random.default_rng(seed)
    ordered = [
        sorted(parts[name], key=lambda d: (-1.0 if d.confidence is None else d.confidence, d.correct))
        for name in sorted(parts)
    ]
    picked = [part[int(generator.integers(len(part)))] for part in ordered]
    return [picked[place] for place in generator.permutation(len(picked))]


def proposed(design: Sequence[Drawn], tests: int, alpha: float) -> list[float]:
    """Thresholds to test, strict to lenient, the last one 0: about forty of the confidences in `design`, from the one
    at which `tests` cases promise the smallest p value on. The share of errors there is taken as (k + .5)/(n + 1)."""
    levels = sorted({d.confidence for d in design if d.confidence is not None}, reverse=True)
    thresholds = list(dict.fromkeys([*levels[:: max(1, len(levels) // STEPS)], 0.0]))

    def promised(threshold: float) -> float:
        answered, errors = _at(design, threshold)
        hoped = round(answered / len(design) * tests)
        return binomial_tail(round((errors + 0.5) / (answered + 1) * hoped), hoped, alpha)

    start = min(range(len(thresholds)), key=lambda i: promised(thresholds[i]))
    return thresholds[start:]


def least_answers(alpha: float, delta: float) -> int:
    """How many answers, all right, it takes to certify anything: the least n with (1 - α)^n ≤ δ."""
    return math.ceil(math.log(delta) / math.log1p(-alpha))


def _at(drawn: Sequence[Drawn], threshold: float) -> tuple[int, int]:
    """How many are answered at a threshold, and how many of those are wrong."""
    given = [d for d in drawn if d.confidence is not None and d.confidence >= threshold]
    return len(given), sum(not d.correct for d in given)


def _guarantee(threshold: float | None, alpha: float, delta: float, tested: int) -> str:
    if threshold is None:
        return (
            f"Nothing could be certified with {tested} test cases: abstain always. Even without a single error it "
            f"takes {least_answers(alpha, delta)} answered test cases to certify an error rate of {alpha:g} at "
            f"{delta:g}."
        )
    return (
        f"On new cases like these, one answer a case, at most {alpha:g} of the answers given at a confidence of at "
        f"least {threshold} are wrong. The chance that the draw of the calibration cases makes this statement false "
        f"is at most {delta:g}."
    )
