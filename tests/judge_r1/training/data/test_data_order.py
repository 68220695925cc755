from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from judge_r1.training.data.training_pairs import by_length, pair_order, shuffled
from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import SftConfig
from judge_r1.training.trl.common import ordered

SIZES = st.integers(1, 30)


@given(SIZES, st.integers(0, 100), st.integers(0, 3))
def test_every_example_is_seen_once_an_epoch(count: int, wanted: int, seed: int) -> None:
    order = shuffled(count, wanted, seed)
    assert len(order) == wanted
    for start in range(0, wanted - count + 1, count):
        assert sorted(order[start : start + count]) == list(range(count))
    assert set(Counter(order[wanted - wanted % count :]).values()) <= {1}


def test_epochs_and_seeds_have_different_orders() -> None:
    order = shuffled(20, 60, 0)
    assert len({tuple(order[:20]), tuple(order[20:40]), tuple(order[40:]), tuple(shuffled(20, 20, 1))}) == 4
    assert shuffled(20, 30, 0) == order[:30]


def pairs(sides: str) -> Any:
    return SimpleNamespace(pairs=[SimpleNamespace(preferred=side) for side in sides])


@given(st.text("AB", min_size=1, max_size=40), st.integers(0, 100), st.integers(0, 3))
def test_every_pair_is_seen_once_an_epoch(sides: str, wanted: int, seed: int) -> None:
    order = pair_order(pairs(sides), wanted, seed)
    assert len(order) == wanted
    for start in range(0, wanted, len(sides)):
        assert set(Counter(order[start : start + len(sides)]).values()) <= {1}


@given(st.permutations("A" * 18 + "B" * 6), st.integers(0, 3))
def test_each_step_has_its_share_of_both_sides(sides: list[str], seed: int) -> None:
    order = pair_order(pairs("".join(sides)), 48, seed)
    for start in range(0, 48, 8):
        assert abs(sum(sides[i] == "B" for i in order[start : start + 8]) - 2) <= 1
    assert order[:24] != order[24:]
    assert [i for i in order[:24] if sides[i] == "B"] == [i for i in shuffled(24, 24, seed) if sides[i] == "B"]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 90), st.integers(1, 8), st.integers(0, 3))
def test_batching_by_length_keeps_the_examples(lengths: list[int], wanted: int, batch_size: int, seed: int) -> None:
    assert Counter(by_length(lengths, wanted, batch_size, seed)) == Counter(shuffled(len(lengths), wanted, seed))


def test_a_batch_has_similar_lengths_and_batches_are_shuffled() -> None:
    lengths = [length for length in range(10) for _ in range(16)]
    order = by_length(lengths, 160, 16, 0)
    batches = [[lengths[i] for i in order[start : start + 16]] for start in range(0, 160, 16)]
    assert all(len(set(batch)) == 1 for batch in batches)
    firsts = [batch[0] for batch in batches]
    assert firsts != sorted(firsts) != firsts[::-1]


def test_batches_of_sft_have_similar_lengths_or_are_random(tmp_path: Path) -> None:
    lengths = [length for length in range(1, 11) for _ in range(4)]
    recipe = Recipe(name="r", stage="sft", model="bundled:tiny", data={"train": tmp_path}, seed=3)
    run: Any = SimpleNamespace(folder=tmp_path)
    args, part = SimpleNamespace(world_size=1), SftConfig(batch_size=4)

    def order(sort: bool) -> list[int]:
        rows = [{"length": length, "n": n} for n, length in enumerate(lengths)]
        return list(ordered(args, recipe, part, run, lambda: rows, sort=sort)["n"])

    assert order(True) == by_length(lengths, 40, 4, 3)
    assert order(False) == shuffled(40, 40, 3) != order(True)
