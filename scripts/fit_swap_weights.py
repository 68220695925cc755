"""Fit the weights of swaps: `python -m scripts.fit_swap_weights medrbench=DIR echr=DIR f1000rd=DIR builtin`.

A word must come into flawed texts as often as it is taken out of references, or its presence tells the flaw. Which
words may replace which does not depend on the weights, so all places are collected once; then the expected flows
    q(x → y) = w(y) / Σ w(allowed) · min(1, Z(x) / Z(y))
are summed over them, and each weight is corrected, w ← w · √(out / in), until in and out agree.
`weights.py` is rewritten.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from data_builders.perturb.lexicons.weights import WEIGHTS
from data_builders.perturb.rules.balanced_swap import Found, SwapClass
from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.steps import split_steps
from data_builders.sources import SOURCES
from judge_r1.core.records import Case

ROUNDS = 300
LEAST = 1e-9
"""A weight below this share of its class's largest one is none."""

Key = tuple[str, str]
Place = tuple[SwapClass, str, list[str]]
"""A class, the word that stands there, and the words that the case and the grammar allow in its place."""


def places(cases: Iterable[Case]) -> dict[Key, list[Place]]:
    """Every place at which an operator of P2 or P4 may swap a word, by corpus and class.

    The operators themselves find them: for the time of this call a swap notes its place and is refused.
    """
    found: dict[Key, list[Place]] = defaultdict(list)

    def note(
        self: SwapClass, place: Found, corpus: str, fits: Callable[[str], bool], before: str, rng: Random
    ) -> str | None:
        allowed = [text for text in self.allowed(place, before) if self.fit_for(text, fits)]
        if allowed:
            found[corpus, self.name].append((self, place.term.text, allowed))
        return None

    rules = operators("text")
    draw, SwapClass.swap = SwapClass.swap, note  # type: ignore[method-assign, assignment]
    try:
        for case in cases:
            for step in split_steps(case.reference):
                for rule in (*rules[2], *rules[4]):
                    rule.apply(case, step, Random(0))
    finally:
        SwapClass.swap = draw  # type: ignore[method-assign]
    return dict(sorted(found.items()))


def fit(there: list[Place], rounds: int = ROUNDS) -> dict[str, float]:
    """The weights of one class of one corpus, for the words that can be balanced at all."""
    weights = dict.fromkeys(sorted(_connected(there)), 1.0)
    for _ in range(rounds):
        taken, given = flows(there, weights)
        for text in weights:
            ratio = (taken[text] + 1e-6) / (given[text] + 1e-6)
            weights[text] *= min(2.0, max(0.5, ratio)) ** 0.5
        largest = max(weights.values(), default=1.0)
        weights = {text: weight / largest for text, weight in weights.items()}
    return {text: float(f"{weight:.3g}") for text, weight in weights.items() if weight > LEAST}


def _connected(there: list[Place]) -> set[str]:
    """The largest set of words each of which can become each other one, over any number of swaps: no others can be
    put in as often as they are taken out."""
    after: dict[str, set[str]] = defaultdict(set)
    for _, old, allowed in there:
        after[old].update(allowed)

    def reached(start: str) -> set[str]:
        seen, todo = {start}, [start]
        while todo:
            for word in after.get(todo.pop(), ()):
                if word not in seen:
                    seen.add(word)
                    todo.append(word)
        return seen

    reach = {word: reached(word) for word in sorted(after)}
    sets = [{other for other in reach[word] if other in reach and word in reach[other]} for word in reach]
    return max((found for found in sets if len(found) > 1), key=len, default=set())


def flows(there: list[Place], weights: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """How often each word is expected to be taken out, and to be put in."""
    taken, given = dict.fromkeys(weights, 0.0), dict.fromkeys(weights, 0.0)
    mass = {text: there[0][0].mass(text, weights) for text in weights}
    for _, old, allowed in there:
        known = [text for text in allowed if text in weights] if old in weights else []
        total = sum(weights[text] for text in known)
        for new in known:
            flow = weights[new] / total * min(1.0, mass[old] / mass[new])
            taken[old] += flow
            given[new] += flow
    return taken, given


def write(path: Path) -> None:
    """`weights.py` as it is imported by `swap.py`."""
    lines = ['"""How often each word of a swap class is drawn, by corpus and class. Written by `balance.py`."""', ""]
    lines.append("WEIGHTS: dict[tuple[str, str], dict[str, float]] = {")
    for (corpus, name), weights in sorted(WEIGHTS.items()):
        if not weights:
            lines.append(f'    ("{corpus}", "{name}"): {{}},')
            continue
        lines.append(f'    ("{corpus}", "{name}"): {{')
        row = "       "
        for word, weight in sorted(weights.items()):
            entry = f' "{word}": {weight:g},'
            if len(row) + len(entry) > 118:
                lines.append(row)
                row = "       "
            row += entry
        lines += [row, "    },"]
    path.write_text("\n".join([*lines, "}  # fmt: skip", ""]), encoding="utf-8")


if __name__ == "__main__":
    cases: list[Case] = []
    for argument in sys.argv[1:]:
        source, _, folder = argument.partition("=")
        cases += SOURCES.get(source).read(Path(folder) if folder else None, None, 0, Counter())
    WEIGHTS.clear()
    for key, there in places(cases).items():
        WEIGHTS[key] = fit(there)
        taken, given = flows(there, WEIGHTS[key])
        gap = sum(abs(taken[text] - given[text]) for text in WEIGHTS[key])
        print(
            f"{key[0]:16} {key[1]:32} {len(there):5} places {sum(taken.values()):8.1f} swaps, not balanced {gap:6.1f}"
        )
    write(Path(__file__).with_name("weights.py"))
