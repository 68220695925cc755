from collections import Counter
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from data_builders.splits.index import SETS, CaseEntry, PairEntry
from data_builders.splits.sampling import SIDES, Cell, choose_test, training_order
from judge_r1.core.verdicts import Preference

MULTI = len(SETS) - 1


def entry(group: str, at: int, side: Preference, violated: tuple[int, ...] = (), name: str = "") -> PairEntry:
    case = CaseEntry(group, "legal", group, 0, 0)
    numbers = violated or ((at + 1,) if at < MULTI else (1, 2))
    return PairEntry(name or f"{group}-{at}-{side}", case, numbers, side, 0, 0)


def pools_of(has: dict[str, list[Cell]]) -> dict[str, dict[Cell, list[PairEntry]]]:
    return {group: {cell: [entry(group, *cell)] for cell in cells} for group, cells in has.items()}


def chosen_counts(pairs: list[PairEntry]) -> list[int]:
    counts = Counter(pair.set for pair in pairs)
    return [counts[at] for at in range(len(SETS))]


def best_counts(has: dict[str, list[Cell]], count: int) -> list[int]:
    """The most balanced sorted counts over all assignments of `count` groups to sets, by brute force."""
    options = [sorted({cell[0] for cell in cells}) for cells in has.values()]
    best: list[int] = []
    for sets in product(*([None, *sets] for sets in options)):
        taken = [at for at in sets if at is not None]
        if len(taken) <= count:
            counts = sorted(Counter(taken)[at] for at in range(len(SETS)))
            if (sum(counts), counts) > (sum(best), best):
                best = counts
    return best


CELLS = st.tuples(st.integers(0, 3) | st.just(MULTI), st.sampled_from(SIDES))
HAS = st.dictionaries(st.sampled_from("abcde"), st.lists(CELLS, min_size=1, max_size=4, unique=True), min_size=1)


@given(HAS, st.integers(1, 8))
def test_the_choice_is_optimally_balanced(has: dict[str, list[Cell]], count: int) -> None:
    pairs = choose_test(pools_of(has), count, domain_index=0, seen=Counter())
    assert len({pair.case.group for pair in pairs}) == len(pairs) == min(count, len(has))
    for pair in pairs:
        assert (pair.set, pair.preferred) in has[pair.case.group]
    assert sorted(chosen_counts(pairs)) == best_counts(has, count)


@given(HAS, st.integers(2, 8))
def test_sides_are_balanced_if_every_group_has_both(has: dict[str, list[Cell]], count: int) -> None:
    both = {group: sorted({(at, side) for at, _ in cells for side in SIDES}) for group, cells in has.items()}
    pairs = choose_test(pools_of(both), count, domain_index=0, seen=Counter())
    a_better = sum(pair.preferred == "A" for pair in pairs)
    assert abs(2 * a_better - len(pairs)) <= 1


def test_other_choices_move_to_balance_the_sides() -> None:
    """All first choices prefer A. The only B belongs to a group that another set uses."""
    has: dict[str, list[Cell]] = {"a": [(0, "A")], "b": [(1, "A")], "c": [(2, "A"), (1, "B")], "d": [(2, "A")]}
    pairs = choose_test(pools_of(has), 3, domain_index=0, seen=Counter())
    assert chosen_counts(pairs)[:3] == [1, 1, 1]
    assert abs(2 * sum(pair.preferred == "A" for pair in pairs) - 3) == 1


def test_multi_pairs_balance_the_principles() -> None:
    pools: dict[str, dict[Cell, list[PairEntry]]] = {
        f"g{n}": {
            (MULTI, "A"): [entry(f"g{n}", MULTI, "A", numbers, f"{n}{numbers}") for numbers in ((1, 2), (3, 4), (5, 6))]
        }
        for n in range(6)
    }
    seen: Counter[int] = Counter()
    pairs = choose_test(pools, 6, domain_index=0, seen=seen)
    assert Counter(n for pair in pairs for n in pair.violated) == seen == dict.fromkeys(range(1, 7), 2)


def test_every_case_contributes_before_any_contributes_twice() -> None:
    pairs = [entry(f"g{n}", 0, "A", name=f"{n}-{variant}") for n in range(20) for variant in range(1 + n % 5)]
    ordered = training_order(pairs, seed=3)
    assert sorted(pair.pair_id for pair in ordered) == sorted(pair.pair_id for pair in pairs)
    seen: Counter[str] = Counter()
    rounds = []
    for pair in ordered:
        rounds.append(seen[pair.case.case_id])
        seen[pair.case.case_id] += 1
    assert rounds == sorted(rounds)
    assert [pair.pair_id for pair in training_order(pairs, seed=4)] != [pair.pair_id for pair in ordered]
    assert training_order(pairs[::-1], seed=3) == ordered
