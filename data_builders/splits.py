"""Splits by case, never by pair; cases that share a text (`meta.group`), or have nearly the same, stay together."""

import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from data_builders.catalogue import SETS, Catalogue, PairEntry, Part, group_of, read_catalogue, write_parts
from data_builders.leaks import THRESHOLD, Likenesses
from data_builders.lengths import LengthAudit
from data_builders.selection import Cell, choose_test, training_order
from judge_r1.errors import JudgeError
from judge_r1.jsonl import write_json, write_jsonl
from judge_r1.pairs import PairSet
from judge_r1.principles import by_number
from judge_r1.records import content_hash

Groups = Mapping[str, str]
"""The group of every case, by id."""


@dataclass(frozen=True)
class Plan:
    """How to split: `parts` says what goes where, `test` among its names; `settings` is what it was told."""

    parts: Callable[[Catalogue, Groups], dict[str, Part]]
    settings: Mapping[str, Any]


def split_by_case(data: PairSet, test_share: float, seed: int = 0) -> tuple[PairSet, PairSet]:
    """(train, test). Groups are ranked by a hash of their name and the seed, and the first `test_share` of them are
    the test set: a larger share holds the smaller one."""
    groups = {case_id: group_of(case) for case_id, case in data.cases.items()}
    chosen = held_out(groups.values(), test_share, seed)
    return _part(data, groups, chosen, inside=False), _part(data, groups, chosen, inside=True)


def held_out(groups: Iterable[str], test_share: float, seed: int) -> set[str]:
    """The groups that a share of them, at least one and not all, puts into the test set."""
    if not 0 < test_share < 1:
        raise JudgeError(f"the test share must lie between 0 and 1, not be {test_share}")
    ranked = sorted(set(groups), key=lambda name: content_hash("split", name, seed))
    if len(ranked) < 2:
        raise JudgeError(f"{len(ranked)} group(s) of cases cannot be split in two")
    return set(ranked[: min(len(ranked) - 1, max(1, round(test_share * len(ranked))))])


def by_share(test_share: float, seed: int) -> Plan:
    """A test set of a share of the groups, a training set of the others."""

    def plan(catalogue: Catalogue, groups: Groups) -> dict[str, Part]:
        chosen = held_out(groups.values(), test_share, seed)
        return {
            name: Part(
                frozenset(case_id for case_id, group in groups.items() if (group in chosen) == inside),
                frozenset(p.pair_id for p in catalogue.pairs if (groups[p.case.case_id] in chosen) == inside),
            )
            for name, inside in (("train", False), ("test", True))
        }

    return Plan(plan, {"test_share": test_share, "seed": seed})


def by_sizes(sizes: Sequence[int], test: int, seed: int) -> Plan:
    """LRBench's splits (paper, section 2.2 and appendix D): for each domain a test set of `test` cases, one pair each,
    and for each size a training set of so many pairs of each of the seven sets, nested; no training pair is of a case
    that shares its group with one in the test set."""
    if not sizes or min(sizes) < 1 or test < 1:
        raise JudgeError("--sizes takes numbers of pairs, for example 1000,3000,5000, and --test a number of cases")

    def plan(catalogue: Catalogue, groups: Groups) -> dict[str, Part]:
        domains = catalogue.domains
        seen: Counter[int] = Counter()
        held = [
            pair
            for turn, domain in enumerate(domains)
            for pair in choose_test(_pools(catalogue, groups, domain, test, seed), test, turn=turn, seen=seen)
        ]
        tested = {groups[pair.case.case_id] for pair in held}
        cells: dict[tuple[str, int], list[PairEntry]] = defaultdict(list)
        for pair in catalogue.pairs:
            if groups[pair.case.case_id] not in tested:
                cells[pair.case.domain, pair.set].append(pair)
        ordered = [training_order(pairs, seed) for pairs in cells.values()]
        parts = {
            f"train_{nominal(size, len(domains))}": Part.of((pair for pairs in ordered for pair in pairs[:size]), size)
            for size in sorted(set(sizes))
        }
        return {**parts, "test": Part.of(held)}

    return Plan(plan, {"sizes": sorted(set(sizes)), "test": test, "seed": seed})


def nominal(size: int, domains: int) -> str:
    """What a training set is called: the pairs it would have if none were missing, in thousands where that is whole."""
    pairs = size * len(SETS) * domains
    return f"{pairs // 1000}k" if pairs % 1000 == 0 else str(pairs)


def split(
    folders: Sequence[Path],
    out: Path,
    plan: Plan,
    *,
    near: Literal["group", "fail"] = "group",
    audit: LengthAudit | None = None,
    leave_out: bool = False,
) -> dict[str, Any]:
    """Write the parts of a plan as folders, split.json (what is in them and what is missing), near_duplicates.jsonl,
    and, with an `audit`, too_long.jsonl; returns split.json. `leave_out`: over-long pairs take no part.

    Errors: JudgeError where `near` is "fail" and nearly alike cases stand on two sides; near_duplicates.jsonl has them.
    """
    started = time.monotonic()
    catalogue = read_catalogue(
        folders, (lambda pair, case: audit.fits(pair, case) or not leave_out) if audit else lambda pair, case: True
    )
    if not catalogue.pairs:
        raise JudgeError("every pair is over --max-prompt-tokens: none is left to split")
    likenesses = Likenesses(catalogue)
    groups = likenesses.groups(joined=near == "group")
    parts = plan.parts(catalogue, groups)
    sides = {
        "train": frozenset[str]().union(*(part.cases for name, part in parts.items() if name != "test")),
        "test": parts["test"].cases,
    }
    alike = out / "near_duplicates.jsonl"
    if crossing := likenesses.crossing(sides):
        write_jsonl(alike, crossing)
        raise JudgeError(
            f"{len(crossing)} pairs of nearly alike cases stand on both sides of the split ({alike} lists them): "
            "put them on one side with --near-duplicates group"
        )
    rows = likenesses.rows(sides)
    report: dict[str, Any] = {
        "folders": [str(folder) for folder in folders],
        "settings": dict(plan.settings),
        "cases": len(catalogue.cases),
        "pairs": len(catalogue.pairs),
        "repeated": dict(sorted(catalogue.repeated.items())),
        "groups": len(set(groups.values())),
        "near_duplicates": {"threshold": THRESHOLD, "pairs": len(rows), "across": len(crossing)},
    }
    if audit:
        counts = {"limit": audit.limit, "over": len(audit.too_long), "left_out": len(audit.too_long) * leave_out}
        report["prompt_tokens"] = {**counts, "by_domain": audit.summary()}
        write_jsonl(out / "too_long.jsonl", audit.too_long)
    report["parts"] = {name: _contents(catalogue, part) for name, part in parts.items()}
    write_parts(catalogue, parts, out)
    write_jsonl(alike, rows)
    write_json(out / "split.json", report)
    timing = {
        "seconds": round(time.monotonic() - started, 2),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    write_json(out / "timing.json", timing)
    return report


def _pools(
    catalogue: Catalogue, groups: Groups, domain: str, test: int, seed: int
) -> dict[str, dict[Cell, list[PairEntry]]]:
    """What the test set of a domain can choose from, in an order that the seed decides."""
    pools: dict[str, dict[Cell, list[PairEntry]]] = defaultdict(lambda: defaultdict(list))
    pairs = [pair for pair in catalogue.pairs if pair.case.domain == domain]
    for pair in sorted(pairs, key=lambda pair: content_hash("test", pair.pair_id, seed)):
        pools[groups[pair.case.case_id]][pair.set, pair.preferred].append(pair)
    if len(pools) <= test:
        raise JudgeError(
            f"domain {domain} has {len(pools)} groups of cases: a test set of {test} would leave none to train on; "
            "lower --test"
        )
    return {group: pools[group] for group in sorted(pools, key=lambda name: content_hash("split", name, seed))}


def _contents(catalogue: Catalogue, part: Part) -> dict[str, Any]:
    """What a part holds, by domain and set, by side and by principle (a pair counts under each that it violates), and
    what it is short of."""
    pairs = [pair for pair in catalogue.pairs if pair.pair_id in part.pairs]
    sets = Counter((pair.case.domain, pair.set) for pair in pairs)
    by_set = {domain: {name: sets[domain, at] for at, name in enumerate(SETS)} for domain in catalogue.domains}
    wanted = part.wanted or 0
    missing = {d: {name: wanted - n for name, n in counts.items() if n < wanted} for d, counts in by_set.items()}
    return {
        "cases": len(part.cases),
        "pairs": len(pairs),
        "a_better": sum(pair.preferred == "A" for pair in pairs),
        "by_set": by_set,
        "by_principle": dict(sorted(Counter(by_number(n).code for pair in pairs for n in pair.violated).items())),
        **({"short": {domain: counts for domain, counts in missing.items() if counts}} if part.wanted else {}),
    }


def _part(data: PairSet, groups: Groups, chosen: set[str], *, inside: bool) -> PairSet:
    cases = [case for case in data.cases.values() if (groups[case.case_id] in chosen) == inside]
    kept = {case.case_id for case in cases}
    return PairSet.of(cases, [pair for pair in data.pairs if pair.case_id in kept])
