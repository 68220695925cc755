"""Fits the weights of balanced swaps: `python -m scripts.fit_swap_weights medrbench=DIR echr=DIR f1000rd=DIR builtin`.

A word must enter flawed texts as often as it leaves references, or its presence reveals the flaw. The weights do not
affect which words may replace which, so all possible swaps are collected once. The expected flows
    q(x → y) = w(y) / Σ w(allowed) · min(1, Z(x) / Z(y))
are then summed over them, and each weight is corrected, w ← w · √(out / in), until out and in agree.
The script rewrites `data_builders/lexicons/weights.json`.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from data_builders.lexicons import FOLDER, Weights
from data_builders.perturb.rules.balanced_swap import SwapClass, TermMatch
from data_builders.perturb.rules.engine import operators
from data_builders.perturb.rules.steps import split_steps
from data_builders.sources import SOURCES
from judge_r1.core.jsonl import write_atomic
from judge_r1.core.records import Case

ROUNDS = 300
MIN_WEIGHT = 1e-9
"""A weight below this share of the largest weight of its class is dropped."""

Key = tuple[str, str]
SwapSite = tuple[SwapClass, str, list[str]]
"""A class, a word of it in a reference, and the words that the case and the grammar allow instead."""


def collect_sites(cases: Iterable[Case]) -> dict[Key, list[SwapSite]]:
    """Return every site at which an operator of P2 or P4 may swap a word, by corpus and class.

    The operators find the sites themselves: during this call, a swap records its site and is rejected.
    """
    found: dict[Key, list[SwapSite]] = defaultdict(list)

    def record(
        self: SwapClass, match: TermMatch, corpus: str, fits: Callable[[str], bool], before: str, rng: Random
    ) -> str | None:
        allowed = [text for text in self.candidates(match, before) if self.fits_all(text, fits)]
        if allowed:
            found[corpus, self.name].append((self, match.term.text, allowed))
        return None

    rules = operators("text")
    swap, SwapClass.swap = SwapClass.swap, record  # type: ignore[method-assign, assignment]
    try:
        for case in cases:
            for step in split_steps(case.reference):
                for rule in (*rules[2], *rules[4]):
                    rule.apply(case, step, Random(0))
    finally:
        SwapClass.swap = swap  # type: ignore[method-assign]
    return dict(sorted(found.items()))


def fit(sites: list[SwapSite], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the weights of one class of one corpus, for the words that can be balanced."""
    weights = dict.fromkeys(sorted(_largest_component(sites)), 1.0)
    for _ in range(rounds):
        outflow, inflow = flows(sites, weights)
        for text in weights:
            ratio = (outflow[text] + 1e-6) / (inflow[text] + 1e-6)
            weights[text] *= min(2.0, max(0.5, ratio)) ** 0.5
        largest = max(weights.values(), default=1.0)
        weights = {text: weight / largest for text, weight in weights.items()}
    return {text: float(f"{weight:.3g}") for text, weight in weights.items() if weight > MIN_WEIGHT}


def _largest_component(sites: list[SwapSite]) -> set[str]:
    """Return the largest set of words that can all become each other over any number of swaps.

    Other words cannot enter texts as often as they leave them.
    """
    arcs = [(old, new) for _, old, allowed in sites for new in allowed]
    words = sorted({word for arc in arcs for word in arc})
    graph = np.zeros((len(words), len(words)), dtype=bool)
    for old, new in arcs:
        graph[words.index(old), words.index(new)] = True
    _, labels = connected_components(csr_matrix(graph), connection="strong")
    components = [{words[i] for i in np.flatnonzero(labels == label)} for label in dict.fromkeys(labels)]
    return max((component for component in components if len(component) > 1), key=len, default=set())


def flows(sites: list[SwapSite], weights: dict[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return how often each word is expected to leave references, and to enter flawed texts."""
    outflow, inflow = dict.fromkeys(weights, 0.0), dict.fromkeys(weights, 0.0)
    normalizer = {text: sites[0][0].normalizer(text, weights) for text in weights}
    for _, old, allowed in sites:
        candidates = [text for text in allowed if text in weights] if old in weights else []
        total = sum(weights[text] for text in candidates)
        for new in candidates:
            flow = weights[new] / total * min(1.0, normalizer[old] / normalizer[new])
            outflow[old] += flow
            inflow[new] += flow
    return outflow, inflow


def write_weights(weights: Weights, path: Path) -> None:
    """Write `weights.json`, one class a line."""
    corpora = []
    for corpus, classes in sorted(weights.items()):
        lines = [
            f"    {json.dumps(name)}: {json.dumps(dict(sorted(words.items())), ensure_ascii=False)}"
            for name, words in sorted(classes.items())
        ]
        corpora.append(f"  {json.dumps(corpus)}: {{\n" + ",\n".join(lines) + "\n  }")
    write_atomic(path, ["{\n" + ",\n".join(corpora) + "\n}\n"])


def main(arguments: list[str]) -> None:
    cases: list[Case] = []
    for argument in arguments:
        source, _, folder = argument.partition("=")
        cases += SOURCES.get(source).read(Path(folder) if folder else None, None, 0, Counter())
    fitted: Weights = defaultdict(dict)
    for (corpus, name), sites in collect_sites(cases).items():
        weights = fitted[corpus][name] = fit(sites)
        outflow, inflow = flows(sites, weights)
        gap = sum(abs(outflow[text] - inflow[text]) for text in weights)
        swaps = sum(outflow.values())
        print(f"{corpus:16} {name:32} {len(sites):5} sites {swaps:8.1f} swaps, not balanced {gap:6.1f}")
    write_weights(fitted, FOLDER / "weights.json")


if __name__ == "__main__":
    main(sys.argv[1:])
