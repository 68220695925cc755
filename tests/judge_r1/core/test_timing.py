import time

import pytest

from judge_r1.core.timing import StageTimer


def test_a_stage_inside_another_counts_for_itself_alone() -> None:
    clock, started = StageTimer(), time.perf_counter()
    with clock.stage("generation"):
        for _ in range(2):
            time.sleep(0.01)
            with clock.stage("search"):
                time.sleep(0.02)
    whole = time.perf_counter() - started
    seconds = clock.pop()
    assert seconds["search"] >= 0.04
    assert seconds["generation"] >= 0.02
    assert sum(seconds.values()) == pytest.approx(whole, abs=1e-3)
    assert clock.pop() == {}


def test_a_stage_that_raises_is_counted() -> None:
    clock = StageTimer()
    with pytest.raises(KeyError), clock.stage("search"):
        raise KeyError
    clock.add("score", 1.5)
    clock.add("score", 0.5)
    assert clock.pop().keys() == {"search", "score"}
