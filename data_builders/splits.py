"""Splits by case, never by pair; cases that share a text (`meta.group`) stay together."""

from judge_r1.errors import JudgeError
from judge_r1.pairs import PairSet
from judge_r1.records import Case, content_hash


def split_by_case(data: PairSet, test_share: float, seed: int = 0) -> tuple[PairSet, PairSet]:
    """(train, test). Groups are ranked by a hash of their name and the seed, and the first `test_share` of them are
    the test set: a larger share holds the smaller one."""
    if not 0 < test_share < 1:
        raise JudgeError(f"the test share must lie between 0 and 1, not be {test_share}")
    groups = sorted({_group(case) for case in data.cases.values()}, key=lambda name: content_hash("split", name, seed))
    if len(groups) < 2:
        raise JudgeError(f"{len(groups)} group(s) of cases cannot be split in two")
    chosen = set(groups[: min(len(groups) - 1, max(1, round(test_share * len(groups))))])
    return _part(data, chosen, inside=False), _part(data, chosen, inside=True)


def _group(case: Case) -> str:
    return str(case.meta.get("group", case.case_id))


def _part(data: PairSet, chosen: set[str], *, inside: bool) -> PairSet:
    cases = [case for case in data.cases.values() if (_group(case) in chosen) == inside]
    kept = {case.case_id for case in cases}
    return PairSet.of(cases, [pair for pair in data.pairs if pair.case_id in kept])
