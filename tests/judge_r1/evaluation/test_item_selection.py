"""`--limit` takes items of every group, the first ones of each."""

from pathlib import Path

from hellobench_factories import make_checkout, write_responses
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.evaluation.generation import tasks_of
from judge_r1.evaluation.selection import ItemSelection, spread


@given(st.lists(st.sampled_from("abc")), st.integers(0, 12))
def test_counts_differ_by_one_at_most_while_there_are_elements(strata: list[str], limit: int) -> None:
    kept = spread(strata, limit)
    assert kept == sorted(set(kept))
    assert len(kept) == min(limit, len(strata))
    for name in set(strata):
        chosen = [index for index in kept if strata[index] == name]
        assert chosen == [index for index, other in enumerate(strata) if other == name][: len(chosen)]
        if len(chosen) < strata.count(name):
            assert all(len(chosen) + 1 >= sum(strata[i] == other for i in kept) for other in set(strata))


def test_of_one_group_the_first_items_are_taken() -> None:
    assert spread(["a"] * 5, 3) == [0, 1, 2]
    assert spread(["a", "a", "a", "b"], 2) == [0, 3]


def test_a_limit_covers_tasks_and_systems_with_the_same_instructions(tmp_path: Path) -> None:
    root = make_checkout(tmp_path / "HelloBench", each=3)
    for system in ("one", "two"):
        write_responses(tmp_path / "responses" / system, "A text", each=3)
    selection = ItemSelection("hellobench", root, f"responses={tmp_path / 'responses'}", limit=4)
    assert [item.item_id for item in selection.load().items] == [
        "one/open_ended_qa/open_ended_qa_000", "one/chat/chat_000", "two/open_ended_qa/open_ended_qa_000",
        "two/chat/chat_000",
    ]  # fmt: skip
    assert [task.id for task in tasks_of("hellobench", root, None, 3)] == [
        "open_ended_qa_000", "open_ended_qa_001", "chat_000",
    ]  # fmt: skip
