from collections import Counter

from data_builders.perturb.rules.engine import perturb
from data_builders.worlds.mini.source import EVENTS, FACT, facts_of, read
from judge_r1.core.records import Case


def cases(count: int, seed: int = 0) -> list[Case]:
    return list(read(None, count, seed, Counter()))


def test_a_case_depends_only_on_its_number_and_the_seed() -> None:
    assert cases(9) == cases(30)[:9]
    assert cases(9, seed=1) != cases(9)
    assert len({case.case_id for case in cases(300)}) == 300


CASES = list(read(None, 60, 0, Counter()))


def test_p2_contradicts_the_context_and_p4_adds_to_it() -> None:
    seen: Counter[int] = Counter()
    for case in CASES:
        known = {(fact.who, fact.did): fact.value for fact in facts_of(case.context)}
        for pair in perturb(case, seed=0, kinds=["single"], rule_set="mini", abstained=Counter()):
            [number] = pair.violated
            [flaw] = pair.origin.flaws
            line = next(x for x, y in zip(pair.flawed.split("\n"), pair.reference.split("\n"), strict=True) if x != y)
            claim = FACT.search(line.split(". ", 1)[1])
            assert claim
            value = known.get((claim["who"], claim["did"]))
            if number == 2:
                [span] = flaw.context_spans
                assert case.context[span.start : span.end] == f"{claim['who']} {claim['did']} {value}"
                assert value is not None
                assert value != claim["value"]
                assert claim["value"] in EVENTS[case.domain][claim["did"]]
            elif number == 4:
                assert value is None
                assert not flaw.context_spans
                assert claim["value"] in EVENTS[case.domain][claim["did"]]
            seen[number] += 1
    assert set(seen) == set(range(1, 7))
    assert min(seen.values()) >= 50
