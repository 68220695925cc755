"""Measures how alike generated cases are: python -m scripts.measure_generated_cases --cases-per-domain 1150

For contexts and references of each domain: near duplicates as `judge-r1 split` finds them, the share of eight-word runs
of a case that other cases have, and how the vocabulary grows with the number of cases.

With `--build FOLDER` it measures a build of such cases instead: variants per case by domain, set and block of cases.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from data_builders.sources.builtin_cases.generate import DOMAINS, generated
from data_builders.sources.builtin_cases.overlap import runs
from data_builders.splits.index import SETS, PairIndex, read_index
from data_builders.splits.near_duplicates import THRESHOLD, jaccard, near_duplicates, shingles
from judge_r1.core.records import Case

SAMPLED = 2000
"""Random pairs of cases whose likeness is measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases-per-domain", type=int, default=1150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="measure this build of generated cases")
    parser.add_argument("--block", type=int, default=250, help="cases of a domain in each block of --build")
    arguments = parser.parse_args()
    if arguments.build:
        report_build(read_index([arguments.build]), arguments.block)
        return
    started = time.monotonic()
    cases = list(generated(arguments.cases_per_domain, arguments.seed))
    print(f"{len(cases)} cases in {time.monotonic() - started:.1f} s")
    for domain in DOMAINS:
        own = [case for case in cases if case.domain == domain]
        for name in ("context", "reference"):
            report(f"{domain}, {name}", [getattr(case, name) for case in own])
        topics = Counter(str(case.meta["topic"]) for case in own)
        print(f"  {len(topics)} topics, {min(topics.values())} to {max(topics.values())} cases each")
        print(f"  decisions: {openings(own)}")


def report_build(index: PairIndex, size: int) -> None:
    """Prints the variants per case of each set, by domain and block of cases, in the order of the build."""
    for domain in index.domains:
        numbers = {case_id: at for at, case_id in enumerate(c for c, e in index.cases.items() if e.domain == domain)}
        counts = Counter(
            (numbers[pair.case.case_id] // size, pair.set) for pair in index.pairs if pair.case.domain == domain
        )
        for start in range(0, len(numbers), size):
            end = min(start + size, len(numbers))
            shares = (f"{name} {counts[start // size, at] / (end - start):.2f}" for at, name in enumerate(SETS))
            print(f"{domain}, cases {start + 1} to {end}: {', '.join(shares)}")


def report(title: str, texts: Sequence[str]) -> None:
    """Prints the measures of one kind of text."""
    lengths = sorted(len(text.split()) for text in texts)
    print(f"{title}: {lengths[0]} to {lengths[-1]} words, median {lengths[len(lengths) // 2]}")
    found = near_duplicates(texts, texts.__getitem__)
    print(f"  near duplicates (Jaccard {THRESHOLD} or more): {len(found)} pairs")
    rng = Random(0)
    pairs = [rng.sample(range(len(texts)), 2) for _ in range(SAMPLED)]
    alike = sorted(jaccard(shingles(texts[i]), shingles(texts[j])) for i, j in pairs)
    print(f"  random pairs: mean {sum(alike) / SAMPLED:.3f}, 99 % below {alike[SAMPLED * 99 // 100]:.3f}")
    counts = Counter(run for text in texts for run in runs(text))
    shared = [sum(counts[run] > 1 for run in found) / len(found) for found in map(runs, texts)]
    print(f"  runs of eight words that another case has: {sum(shared) / len(shared):.1%}")
    known: set[str] = set()
    growth = []
    for number, text in enumerate(texts, start=1):
        known.update(re.findall(r"[a-z]+", text.lower()))
        if number in (10, 30, 100, 300, 1000) or number == len(texts):
            growth.append(f"{number}: {len(known):,}")
    print(f"  different words (no numbers) by number of cases: {', '.join(growth)}")


def openings(cases: Sequence[Case]) -> str:
    """Returns the most common first words of the decisions."""
    counts = Counter(" ".join(case.decision.split()[:2]).strip(":,") for case in cases)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common(6))


if __name__ == "__main__":
    main()
