from collections import Counter

from data_builders.worlds.mini.source import read
from judge_r1.core.records import Case


def cases(count: int, seed: int = 0) -> list[Case]:
    return list(read(None, count, seed, Counter()))


def test_a_case_depends_only_on_its_number_and_the_seed() -> None:
    assert cases(9) == cases(30)[:9]
    assert cases(9, seed=1) != cases(9)
    assert len({case.case_id for case in cases(300)}) == 300
