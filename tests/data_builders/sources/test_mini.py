import re
from collections import Counter

from data_builders.sources.mini import EVENTS, NAMES, WORDS, facts_of, read
from judge_r1.core.records import Case


def cases(count: int, seed: int = 0) -> list[Case]:
    return list(read(None, count, seed, Counter()))


def test_a_case_depends_only_on_its_number_and_the_seed() -> None:
    assert cases(9) == cases(30)[:9]
    assert cases(9, seed=1) != cases(9)
    assert len({case.case_id for case in cases(300)}) == 300


def test_facts_are_distinct_and_match_the_domain() -> None:
    domains = Counter()
    for case in cases(60):
        domains[case.domain] += 1
        facts = facts_of(case.context)
        assert 14 <= len(facts) <= 18
        assert " ".join(f"{fact}." for fact in facts) == case.context
        assert len({(fact.who, fact.did) for fact in facts}) == len(facts)
        for fact in facts:
            assert fact.who in NAMES
            assert fact.value in EVENTS[case.domain][fact.did]
        assert case.decision in WORDS.decisions[case.domain]
    assert domains == {"academic": 20, "legal": 20, "medical": 20}


def test_a_reference_restates_facts_of_its_case_and_ends_with_advice() -> None:
    for case in cases(60):
        *claims, advice = case.reference.split("\n")
        assert 2 <= len(claims) <= 3
        known = {str(fact) for fact in facts_of(case.context)}
        for number, line in enumerate(claims, 1):
            match = re.fullmatch(rf"{number}\. (\w+ \w+ \w+), so this (?:counts|is clear|stands)\.", line)
            assert match, line
            assert match[1] in known
        assert re.fullmatch(rf"{len(claims) + 1}\. next ask \w+ for the \w+ by \w+\.", advice)
