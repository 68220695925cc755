"""A crowd of clients, some of them ill-behaved, against a server in a process of its own (scripts/bench_serve.py)."""

import sys

import pytest

from judge_r1.serving.middleware.body_limit import MIB
from scripts.bench_serve import Round, rounds
from scripts.load_test_clients import KINDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def check(one: Round, requests: int) -> None:
    load = one.load
    assert load.lost == []
    assert load.crossed == []
    assert load.judged + load.vanished + load.refused == requests == sum(load.asked.values())
    assert load.statuses[200] == load.judged
    assert set(load.asked) == set(KINDS)
    assert set(load.statuses) <= {200, 400, 405, 413, 422, 429, 503}


@pytest.mark.timeout(180)
def test_no_answer_is_lost_or_crossed() -> None:
    """The queue holds 4 + 8 of 40 clients, so that many are sent away and come again."""
    before, [first, second] = rounds(40, 100, 2, running=4, waiting=8)
    check(first, 100)
    check(second, 100)
    assert first.load.statuses[429] > 0
    assert second.rss - before < 120 * MIB


@pytest.mark.slow
def test_two_thousand_requests_of_two_hundred_clients() -> None:
    """Memory is flat: what the first round needed is enough for the others."""
    _, found = rounds(200, 2000, 3)
    for one in found:
        check(one, 2000)
    assert found[0].load.statuses[429] > 0
    assert found[2].rss < found[0].rss + 32 * MIB
