"""Well-behaved and misbehaving clients against a server in a subprocess (scripts/bench/serve.py)."""

import sys

import pytest

from judge_r1.serving.middleware.body_limit import MIB
from scripts.bench.serve import Round, rounds
from scripts.load_test_clients import KINDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def check(one: Round, requests: int) -> None:
    load = one.load
    assert load.failed == []
    assert load.mismatched == []
    assert load.judged + load.disconnected + load.refused == requests == sum(load.sent.values())
    assert load.statuses[200] == load.judged
    assert set(load.sent) == set(KINDS)
    assert set(load.statuses) <= {200, 400, 405, 413, 422, 429, 503}


@pytest.mark.timeout(180)
def test_every_request_gets_its_own_answer() -> None:
    """The queue has room for 12 of 40 clients, so many get a 429 and retry."""
    before, [first, second] = rounds(40, 100, 2, running=4, waiting=8)
    check(first, 100)
    check(second, 100)
    assert first.load.statuses[429] > 0
    assert second.rss - before < 120 * MIB


@pytest.mark.slow
def test_two_thousand_requests_of_two_hundred_clients() -> None:
    """Memory does not grow after the first round."""
    _, found = rounds(200, 2000, 3)
    for one in found:
        check(one, 2000)
    assert found[0].load.statuses[429] > 0
    assert found[2].rss < found[0].rss + 32 * MIB
