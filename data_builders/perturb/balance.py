"""Fit the weights of swaps to corpora: `python -m data_builders.perturb.balance medrbench=DIR echr=DIR f1000rd=DIR`.

A word must come into flawed texts as often as it is taken out of references, or its presence tells the flaw. The
weight of a word starts as the number of places where a reference has it as a fact of its case, and is then corrected
by its flows, w ← w · √((out + ½) / (in + ½)), until in and out agree up to chance. The result is written to `weights.py`.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from data_builders.perturb import attributes, terms
from data_builders.perturb.engine import chance, operators
from data_builders.perturb.facts import claims
from data_builders.perturb.match import says
from data_builders.perturb.steps import split_steps
from data_builders.perturb.swap import SwapClass
from data_builders.perturb.text_p4 import EXHIBITS
from data_builders.perturb.weights import WEIGHTS
from data_builders.sources import SOURCES
from judge_r1.records import Case

ROUNDS, SEEDS = 8, 3
Key = tuple[str, str]


def classes(domain: str, principle: int) -> list[SwapClass]:
    """All classes that a principle's operators swap in a domain."""
    if principle == 4:
        return [*(klass for group in terms.INVENTED[domain].values() for klass in group), EXHIBITS]
    dates = [attributes.MONTHS, attributes.YEARS, attributes.DAYS, attributes.DIGITS]
    return [*dates, *attributes.ATTRIBUTES[domain], *terms.OTHERS_OF_THE_CASE[domain]]


def fit(cases: Iterable[Case], rounds: int = ROUNDS) -> None:
    """Set `WEIGHTS` for the domains of the cases."""
    cases = list(cases)
    WEIGHTS.clear()
    WEIGHTS.update(_frequencies(cases))
    for number in range(rounds):
        taken, given = _flows(cases, number)
        gap = sum(abs(taken[k] - given[k]) for k in taken | given) / max(1, taken.total() + given.total())
        print(f"round {number}: {taken.total() // SEEDS} swaps, share of words that do not balance {gap:.3f}", file=sys.stderr)
        for key, weights in WEIGHTS.items():
            for word, weight in weights.items():
                out, into = taken[(*key, word)], given[(*key, word)]
                weights[word] = round(weight * ((out + 0.5) / (into + 0.5)) ** (0.5 if number < rounds // 2 else 0.3), 4)


def _frequencies(cases: list[Case]) -> dict[Key, dict[str, float]]:
    counts: dict[Key, Counter[str]] = defaultdict(Counter)
    for case in cases:
        for step in split_steps(case.reference):
            for start, end in claims(case, step):
                for klass in (*classes(case.domain, 2), *classes(case.domain, 4)):
                    for found in klass.find(step.text, start, end):
                        if says(case.context, step.text[found.start : found.end]):
                            counts[case.domain, klass.name][found.term.text] += 1
    return {key: {word: float(n) for word, n in sorted(words.items())} for key, words in sorted(counts.items())}


def _flows(cases: list[Case], number: int) -> tuple[Counter[tuple[str, str, str]], Counter[tuple[str, str, str]]]:
    """How often each word of each class is taken out of a reference, and put into a flawed text."""
    taken: Counter[tuple[str, str, str]] = Counter()
    given: Counter[tuple[str, str, str]] = Counter()
    rules = operators("text")
    for case in cases:
        for step in split_steps(case.reference):
            for rule in rules[2] + rules[4]:
                for seed in range(SEEDS):
                    edit = rule.apply(case, step, chance(case, seed, rule.name, step.index, number))
                    if edit is not None:
                        old = case.reference[edit.start : edit.end]
                        for key, one, other in _swapped(case.domain, rule.principle, old, edit.replacement):
                            taken[(*key, one)] += 1
                            given[(*key, other)] += 1
    return taken, given


def _swapped(domain: str, principle: int, old: str, new: str) -> Iterator[tuple[Key, str, str]]:
    for klass in classes(domain, principle):
        bare = SwapClass(klass.name, klass.terms)
        gone = {found.term.text for found in bare.find(old, 0, len(old))}
        come = {found.term.text for found in bare.find(new, 0, len(new))}
        if len(gone - come) == 1 and len(come - gone) == 1:
            yield (domain, klass.name), (gone - come).pop(), (come - gone).pop()


def write(path: Path) -> None:
    """`weights.py` as it is imported by `swap.py`."""
    lines = ['"""How often each word of a swap class is drawn, by domain and class. Written by `balance.py`."""', ""]
    lines.append("WEIGHTS: dict[tuple[str, str], dict[str, float]] = {")
    for (domain, name), weights in sorted(WEIGHTS.items()):
        lines.append(f'    ("{domain}", "{name}"): {{')
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
    found: list[Case] = []
    for argument in sys.argv[1:]:
        source, _, folder = argument.partition("=")
        found += SOURCES.get(source).read(Path(folder), None, 0, Counter())
    fit(found)
    write(Path(__file__).with_name("weights.py"))
