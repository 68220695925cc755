"""Measures how often a certified threshold exceeds its risk bound, for simulated judges with known error rates.

python -m scripts.bench.selective [--trials 2000] [--cases 240]
"""

import argparse
import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge_r1.statistics.selective_risk import select

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


def by_answer(of: Answers, seed: int) -> float | None:
    """Treats the answers of one case as independent."""
    return select(of[0], of[1], [str(i) for i in range(len(of[0]))], alpha=ALPHA, delta=DELTA, seed=seed).threshold


def naive(of: Answers, seed: int) -> float | None:
    """The lowest threshold at which the observed error rate, one answer per case, is at most α."""
    threshold = None
    errors = 0
    for answered, (confidence, right) in enumerate(sorted(zip(of[0], of[1], strict=True), reverse=True)[::COPIES], 1):
        errors += not right
        if errors <= ALPHA * answered:
            threshold = confidence
    return threshold


METHODS: dict[str, Method] = {"by case": by_case, "answers as cases": by_answer, "naive": naive}


def measure(judge: Judge, method: Method, cases: int, trials: int) -> Measured:
    """Calibrates `trials` times, each time on new cases."""
    thresholds = [method(answers(judge, cases, trial), trial) for trial in range(trials)]
    given = [threshold for threshold in thresholds if threshold is not None]
    violated = sum(judge.risk(threshold) > ALPHA for threshold in given)
    return Measured(len(given) / trials, violated / trials, math.fsum(1 - t for t in given) / trials)


def noise(trials: int) -> float:
    """Three standard errors of a share δ."""
    return 3 * math.sqrt(DELTA * (1 - DELTA) / trials)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--cases", type=int, default=240)
    options = parser.parse_args(arguments)
    print(f"alpha {ALPHA}, delta {DELTA} ± {noise(options.trials):.3f}; {options.trials:,} calibrations each\n")
    print("| judge | method | cases | certified | bound violated | answers |")
    print("|---|---|---|---|---|---|")
    for name, judge in JUDGES.items():
        for method_name, method in METHODS.items():
            found = measure(judge, method, options.cases, options.trials)
            shares = f"{found.certified:.3f} | {found.violated:.3f} | {found.coverage:.2f}"
            print(f"| {name} | {method_name} | {options.cases} | {shares} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
