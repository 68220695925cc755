"""Split policies: a share of the cases, or the sizes of LRBench."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data_builders.splits.index import SETS, PairEntry, PairIndex, Part
from data_builders.splits.sampling import Cell, choose_test, training_order
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import counted

Groups = Mapping[str, str]
"""The group of every case, by id."""
NAMED_FROM = 0.9
"""The share of its nominal size that a training set must have to be named after it."""


@dataclass(frozen=True)
class Plan:
    """A split policy: `parts` assigns cases and pairs to named parts, one of them `test`."""

    parts: Callable[[PairIndex, Groups], dict[str, Part]]
    settings: Mapping[str, Any]


def held_out(
    groups: Iterable[str], test_share: float, seed: int, dev_share: float | None = None
) -> tuple[set[str], set[str]]:
    """The groups of the test set and of the dev set: shares of all, at least one each, and one left to train on.

    The dev set takes the groups after those of the test set, so asking for one does not change the test set."""
    for name, share in (("test", test_share), ("dev", dev_share)):
        if share is not None and not 0 < share < 1:
            raise JudgeError(f"the {name} share must lie between 0 and 1, not be {share}")
    ranked = sorted(set(groups), key=lambda name: content_hash("split", name, seed))
    parts = 2 if dev_share is None else 3
    if len(ranked) < parts:
        raise JudgeError(
            f"a split into {parts} parts needs {parts} groups of cases, and these pairs have {len(ranked)} (cases of "
            "one article or paper, and nearly alike ones, are one group): build more cases"
            f"{'' if dev_share is None else ', or leave out --dev-share'}; `judge-r1 eval` takes a folder that is not "
            "split"
        )
    test = min(len(ranked) - parts + 1, max(1, round(test_share * len(ranked))))
    dev = 0 if dev_share is None else min(len(ranked) - test - 1, max(1, round(dev_share * len(ranked))))
    return set(ranked[:test]), set(ranked[test : test + dev])


def by_share(test_share: float, seed: int, dev_share: float | None = None) -> Plan:
    """A test set and, with `dev_share`, a dev set of a share of the groups each, and a training set of the others."""

    def plan(index: PairIndex, groups: Groups) -> dict[str, Part]:
        test, dev = held_out(groups.values(), test_share, seed, dev_share)
        chosen = {"train": set(groups.values()) - test - dev, **({"dev": dev} if dev else {}), "test": test}
        return {
            name: Part(
                frozenset(case_id for case_id, group in groups.items() if group in part),
                frozenset(p.pair_id for p in index.pairs if groups[p.case.case_id] in part),
            )
            for name, part in chosen.items()
        }

    settings = {"test_share": test_share, "seed": seed}
    return Plan(plan, settings if dev_share is None else settings | {"dev_share": dev_share})


def by_sizes(sizes: Sequence[int], test: int, seed: int, dev: int = 0) -> Plan:
    """LRBench's splits (paper, section 2.2 and appendix D): for each domain a test set of `test` cases, one pair each,
    a dev set of `dev` cases chosen in the same way from the others, and for each size a nested training set with that
    many pairs of each of the seven sets. No group has cases in two of test, dev and training sets. A training set below
    `NAMED_FROM` of its nominal size is named after the pairs it has."""
    if not sizes or min(sizes) < 1 or test < 1 or dev < 0:
        raise JudgeError("--sizes takes numbers of pairs, for example 1000,3000,5000, and --test a number of cases")

    def choose(index: PairIndex, groups: Groups, count: int, reserve: int, used: set[str]) -> list[PairEntry]:
        """A balanced pair of each of `count` groups a domain that are not `used`, with `reserve` groups left."""
        seen: Counter[int] = Counter()
        part = f"test set of {count}" + (f" and a dev set of {reserve}" if reserve else "")
        pools = (_pools(index, groups, domain, count + reserve, seed, used, part) for domain in index.domains)
        return [
            pair
            for number, pool in enumerate(pools)
            for pair in choose_test(pool, count, domain_index=number, seen=seen)
        ]

    def plan(index: PairIndex, groups: Groups) -> dict[str, Part]:
        domains = index.domains
        chosen = choose(index, groups, test, dev, set())
        held = {groups[pair.case.case_id] for pair in chosen}
        watched = choose(index, groups, dev, 0, held) if dev else []
        held |= {groups[pair.case.case_id] for pair in watched}
        cells: dict[tuple[str, int], list[PairEntry]] = defaultdict(list)
        for pair in index.pairs:
            if groups[pair.case.case_id] not in held:
                cells[pair.case.domain, pair.set].append(pair)
        ordered = [training_order(pairs, seed) for pairs in cells.values()]
        sets = [
            Part.of((pair for pairs in ordered for pair in pairs[:size]), size, size * len(SETS) * len(domains))
            for size in sorted(set(sizes))
        ]
        return {**_named(sets), **({"dev": Part.of(watched)} if dev else {}), "test": Part.of(chosen)}

    settings = {"sizes": sorted(set(sizes)), "test": test, "seed": seed}
    return Plan(plan, settings | {"dev": dev} if dev else settings)


def training_name(pairs: int) -> str:
    """The name of a training set of so many pairs, in thousands if that is an integer."""
    return f"train_{pairs // 1000}k" if pairs % 1000 == 0 else f"train_{pairs}"


def _named(sets: Sequence[Part]) -> dict[str, Part]:
    """Nested training sets, smallest first, by name: after the nominal size, or, of a set far below it, after its
    number of pairs. Sets that are equal because the data ends are one."""
    named: dict[str, Part] = {}
    for part in reversed(sets):
        assert part.nominal is not None
        name = training_name(part.nominal)
        if len(part.pairs) < NAMED_FROM * part.nominal or name in named:
            name = training_name(len(part.pairs))
        named.setdefault(name, part)
    return dict(reversed(named.items()))


def _pools(
    index: PairIndex, groups: Groups, domain: str, wanted: int, seed: int, used: set[str], part: str
) -> dict[str, dict[Cell, list[PairEntry]]]:
    """The candidates for a held-out set of a domain, in an order given by the seed."""
    pools: dict[str, dict[Cell, list[PairEntry]]] = defaultdict(lambda: defaultdict(list))
    pairs = [pair for pair in index.pairs if pair.case.domain == domain and groups[pair.case.case_id] not in used]
    for pair in sorted(pairs, key=lambda pair: content_hash("test", pair.pair_id, seed)):
        pools[groups[pair.case.case_id]][pair.set, pair.preferred].append(pair)
    if len(pools) <= wanted:
        raise JudgeError(
            f"domain {domain} has {counted(len(pools), 'group')} of cases: a {part} would leave none "
            "to train on; lower --test or --dev, or build more cases"
        )
    return {group: pools[group] for group in sorted(pools, key=lambda name: content_hash("split", name, seed))}
