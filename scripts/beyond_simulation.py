"""What both orders and scores teach the smallest judges that can learn them, by the advantages of GRPO.

A judge of pairs says A with the probability σ(b + w d), where d is how visible the flaw of B is (negative: of A). b is
its position bias. A judge of single reasonings gives the score k of 1 to 10 with a probability proportional to
exp(u_k + v q k), where q is the quality of the reasoning. All arms of a table sample as many episodes.

    python -m scripts.beyond_simulation
"""

import argparse

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEPS, PAIRS, GROUP, RATE, EPSILON = 40, 8, 6, 1.0, 1e-4
BIAS, WEIGHT = 3.0, 0.5
SCORES = np.arange(1, 11)


def advantages(rewards: Array) -> Array:
    """(r - mean) / (std + EPSILON) of one group."""
    found: Array = (rewards - rewards.mean()) / (rewards.std(ddof=1) + EPSILON)
    return found


def sigmoid(values: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-values))
    return found


def compare(orders: int, share: float, seed: int) -> Array:
    """(b, w) after training. A is the better one in a `share` of the pairs as stored."""
    random, judge = np.random.default_rng(seed), np.array([BIAS, WEIGHT])
    for _ in range(STEPS):
        gradient = np.zeros(2)
        for _ in range(PAIRS):
            better = np.full(GROUP, 1.0 if random.random() < share else -1.0)
            if orders == 2:
                better[GROUP // 2 :] *= -1
            shown = np.stack([np.ones(GROUP), better * random.normal(1, 1)], 1)
            likely = sigmoid(shown @ judge)
            says_a = random.random(GROUP) < likely
            gained = advantages((says_a == (better > 0)).astype(float))
            gradient += ((gained * (says_a - likely))[:, None] * shown).sum(0)
        judge = judge + RATE * gradient / (PAIRS * GROUP)
    return judge


def outcomes(judge: Array) -> tuple[float, float]:
    """Accuracy over both orders, and the share of pairs for which both prefer the same reasoning."""
    visible = np.random.default_rng(99).normal(1, 1, 4000)
    first, second = sigmoid(judge[0] + judge[1] * visible), sigmoid(judge[0] - judge[1] * visible)
    same = first * (1 - second) + (1 - first) * second
    return float((first + 1 - second).mean() / 2), float(same.mean())


def score(labels: str, seed: int) -> Array:
    """(u_1 … u_10, v) after training. `shuffled` labels call either reasoning the reference."""
    random, judge = np.random.default_rng(seed), np.zeros(11)
    for _ in range(STEPS):
        gradient = np.zeros(11)
        for _ in range(PAIRS // 2):
            half = random.normal(1, 1) / 2
            reference = half if labels == "true" or random.random() < 0.5 else -half
            likely = [probabilities(judge, quality) for quality in (reference, -reference)]
            given = [random.choice(10, GROUP, p=p) for p in likely]
            wins = (given[0] > given[1]).astype(float)
            for quality, p, scores in zip((reference, -reference), likely, given, strict=True):
                shown = np.eye(10)[scores] - p
                gained = advantages(wins)
                gradient[:10] += gained @ shown
                gradient[10] += quality * float(gained @ (shown @ SCORES))
        judge = judge + RATE * gradient / (PAIRS * GROUP)
    return judge


def probabilities(judge: Array, quality: float) -> Array:
    logits = judge[:10] + judge[10] * quality * SCORES
    likely = np.exp(logits - logits.max())
    found: Array = likely / likely.sum()
    return found


def separated(judge: Array) -> tuple[float, float]:
    """The share of pairs whose reference scores higher, and of ties."""
    half = np.random.default_rng(99).normal(1, 1, 400) / 2
    first, second = (np.array([probabilities(judge, quality) for quality in qualities]) for qualities in (half, -half))
    below = second.cumsum(1) - second
    return float((first * below).sum(1).mean()), float((first * second).sum(1).mean())


def shown(name: str, rows: list[tuple[float, float]]) -> str:
    means, spread = np.mean(rows, 0), np.std(rows, 0, ddof=1)
    return f"{name:<42} {means[0]:.3f} ± {spread[0]:.3f}   {means[1]:.3f} ± {spread[1]:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    print(f"{'pairs':<42} {'accuracy':<16}consistency")
    print(
        "before                                     {:.3f}           {:.3f}".format(*outcomes(np.array([BIAS, WEIGHT])))
    )
    for share in (0.5, 0.9):
        for orders in (1, 2):
            found = [outcomes(compare(orders, share, seed)) for seed in seeds]
            print(shown(f"A better in {share:.0%}, orders: {orders}", found))
    print(f"\n{'alone':<42} {'separated':<16}ties")
    print("before                                     {:.3f}           {:.3f}".format(*separated(np.zeros(11))))
    for labels in ("true", "shuffled"):
        print(shown(f"{labels} labels", [separated(score(labels, seed)) for seed in seeds]))


if __name__ == "__main__":
    main()
