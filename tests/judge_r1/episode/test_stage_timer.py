import time

import pytest

from judge_r1.episode.rollout import StageTimer


def test_nested_stages_are_exclusive() -> None:
    timer, started = StageTimer(), time.perf_counter()
    with timer.stage("generation"):
        for _ in range(2):
            time.sleep(0.01)
            with timer.stage("search"):
                time.sleep(0.02)
    total = time.perf_counter() - started
    seconds = timer.pop()
    assert seconds["search"] >= 0.04
    assert seconds["generation"] >= 0.02
    assert sum(seconds.values()) == pytest.approx(total, abs=1e-3)
    assert timer.pop() == {}


def test_a_stage_that_raises_is_counted() -> None:
    timer = StageTimer()
    with pytest.raises(KeyError), timer.stage("search"):
        raise KeyError
    timer.add("score", 1.5)
    timer.add("score", 0.5)
    assert timer.pop().keys() == {"search", "score"}
