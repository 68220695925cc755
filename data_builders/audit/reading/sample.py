"""Draws pairs for a reading sheet: equally many per principle, balanced over domains, datasets and cases."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import NUMBERS
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import Preference


@dataclass(frozen=True)
class Candidate:
    """A pair with one flaw. `dataset` is the index of its data set; `order` is its random rank; `group`
    is that of its case; `preferred` is the side of the better reasoning."""

    dataset: int
    pair_id: str
    case_id: str
    group: str
    domain: str
    principle: int
    preferred: Preference
    order: str


def candidates(datasets: Sequence[PairSet], seed: int) -> Iterator[Candidate]:
    """Yield the pairs of all data sets that have one flaw; a pair of two data sets once."""
    seen = set[str]()
    for dataset, data in enumerate(datasets):
        for pair in data.pairs:
            if len(pair.origin.flaws) == 1 and pair.pair_id not in seen:
                seen.add(pair.pair_id)
                order = content_hash("sheet", pair.pair_id, seed)
                group = data.case_of(pair).group
                yield Candidate(
                    dataset, pair.pair_id, pair.case_id, group, pair.domain, pair.violated[0], pair.preferred, order
                )


def draw(found: Sequence[Candidate], per_principle: int) -> list[Candidate]:
    """Return up to `per_principle` pairs of each principle, in random order.

    Each pair is taken from the domain with the fewest pairs so far, there from the data set with the fewest, and there
    from the case with the fewest pairs of any principle.
    """
    drawn: list[Candidate] = []
    of_case = Counter[str]()
    for principle in NUMBERS:
        rest = {c.pair_id: c for c in found if c.principle == principle}
        of_domain, of_dataset = Counter[str](), Counter[tuple[str, int]]()
        for _ in range(min(per_principle, len(rest))):
            best = min(
                rest.values(),
                key=lambda c: (of_domain[c.domain], of_dataset[c.domain, c.dataset], of_case[c.case_id], c.order),
            )
            del rest[best.pair_id]
            drawn.append(best)
            of_domain[best.domain] += 1
            of_dataset[best.domain, best.dataset] += 1
            of_case[best.case_id] += 1
    return sorted(drawn, key=lambda c: c.order)
