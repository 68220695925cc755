"""Split policies: a share of the cases, or the sizes of LRBench."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data_builders.splits.index import SETS, PairEntry, PairIndex, Part
from data_builders.splits.sampling import Cell, choose_test, training_order
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash

Groups = Mapping[str, str]
"""The group of every case, by id."""


@dataclass(frozen=True)
class Plan:
    """A split policy: `parts` assigns cases and pairs to named parts, one of them `test`."""

    parts: Callable[[PairIndex, Groups], dict[str, Part]]
    settings: Mapping[str, Any]


def held_out(groups: Iterable[str], test_share: float, seed: int) -> set[str]:
    """The groups of the test set: a share of all, at least one and not all."""
    if not 0 < test_share < 1:
        raise JudgeError(f"the test share must lie between 0 and 1, not be {test_share}")
    ranked = sorted(set(groups), key=lambda name: content_hash("split", name, seed))
    if len(ranked) < 2:
        raise JudgeError(f"{len(ranked)} group(s) of cases cannot be split in two")
    return set(ranked[: min(len(ranked) - 1, max(1, round(test_share * len(ranked))))])


def by_share(test_share: float, seed: int) -> Plan:
    """A test set of a share of the groups, and a training set of the others."""

    def plan(index: PairIndex, groups: Groups) -> dict[str, Part]:
        chosen = held_out(groups.values(), test_share, seed)
        return {
            name: Part(
                frozenset(case_id for case_id, group in groups.items() if (group in chosen) == inside),
                frozenset(p.pair_id for p in index.pairs if (groups[p.case.case_id] in chosen) == inside),
            )
            for name, inside in (("train", False), ("test", True))
        }

    return Plan(plan, {"test_share": test_share, "seed": seed})


def by_sizes(sizes: Sequence[int], test: int, seed: int) -> Plan:
    """LRBench's splits (paper, section 2.2 and appendix D): for each domain a test set of `test` cases, one pair each,
    and for each size a nested training set with that many pairs of each of the seven sets. No group has cases in both
    the test set and a training set."""
    if not sizes or min(sizes) < 1 or test < 1:
        raise JudgeError("--sizes takes numbers of pairs, for example 1000,3000,5000, and --test a number of cases")

    def plan(index: PairIndex, groups: Groups) -> dict[str, Part]:
        domains = index.domains
        seen: Counter[int] = Counter()
        chosen = [
            pair
            for number, domain in enumerate(domains)
            for pair in choose_test(_pools(index, groups, domain, test, seed), test, domain_index=number, seen=seen)
        ]
        tested = {groups[pair.case.case_id] for pair in chosen}
        cells: dict[tuple[str, int], list[PairEntry]] = defaultdict(list)
        for pair in index.pairs:
            if groups[pair.case.case_id] not in tested:
                cells[pair.case.domain, pair.set].append(pair)
        ordered = [training_order(pairs, seed) for pairs in cells.values()]
        parts = {
            f"train_{nominal(size, len(domains))}": Part.of((pair for pairs in ordered for pair in pairs[:size]), size)
            for size in sorted(set(sizes))
        }
        return {**parts, "test": Part.of(chosen)}

    return Plan(plan, {"sizes": sorted(set(sizes)), "test": test, "seed": seed})


def nominal(size: int, domains: int) -> str:
    """The name of a training set: its number of pairs if none is missing, in thousands if that is an integer."""
    pairs = size * len(SETS) * domains
    return f"{pairs // 1000}k" if pairs % 1000 == 0 else str(pairs)


def _pools(
    index: PairIndex, groups: Groups, domain: str, test: int, seed: int
) -> dict[str, dict[Cell, list[PairEntry]]]:
    """The candidates for the test set of a domain, in an order given by the seed."""
    pools: dict[str, dict[Cell, list[PairEntry]]] = defaultdict(lambda: defaultdict(list))
    pairs = [pair for pair in index.pairs if pair.case.domain == domain]
    for pair in sorted(pairs, key=lambda pair: content_hash("test", pair.pair_id, seed)):
        pools[groups[pair.case.case_id]][pair.set, pair.preferred].append(pair)
    if len(pools) <= test:
        raise JudgeError(
            f"domain {domain} has {len(pools)} groups of cases: a test set of {test} would leave none to train on; "
            "lower --test"
        )
    return {group: pools[group] for group in sorted(pools, key=lambda name: content_hash("split", name, seed))}
