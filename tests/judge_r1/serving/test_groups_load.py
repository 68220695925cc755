"""10,000 rollouts of two tenants over HTTP, some of whose clients are killed."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from paths import REPO
from serving_fixture import LiveServer, service, wait_for

from judge_r1.judges.base import JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.serving.middleware.api_keys import KeyFile, add_key
from judge_r1.serving.protocol import ConnectionLimits

TENANTS, GROUPS, SIZE = ("ana", "ben"), 313, 16
KILLED, LOST = 10, 5
"""Groups of each tenant with killed members, and how many of their members are killed."""


class SeesGroups:
    """Judges like `longer` and records pairs whose texts are of two tenants or two groups."""

    name, settings = "longer", {}

    def __init__(self) -> None:
        self._judge = make_judge("longer", JudgeBuild(""))
        self.crossed: list[Any] = []
        self.judged = 0

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            first, second = (str(text).split()[:2] for text in request.item.candidates)
            self.judged += 1
            if first != second:
                self.crossed.append(request.item.candidates)
        async for output in self._judge.judge(requests):
            yield output


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_rollouts_of_two_tenants_with_killed_members(tmp_path: Path) -> None:
    keys = {name: add_key(tmp_path / "keys.json", name, 10**6) for name in TENANTS}
    served = service(judge := SeesGroups(), keys=KeyFile(tmp_path / "keys.json"), max_concurrency=32)
    connections = ConnectionLimits(total=4000, per_client=4000)
    with LiveServer(served, connections) as server:

        def start(tenant: str, first: int, groups: int, begin: int, end: int) -> subprocess.Popen[str]:
            numbers = map(str, (first, groups, SIZE, begin, end))
            command = [sys.executable, str(REPO / "tests" / "support" / "group_clients.py"), server.url, keys[tenant]]
            return subprocess.Popen([*command, tenant, *numbers], stdout=subprocess.PIPE, text=True)

        victims = [start(tenant, 0, KILLED, 0, LOST) for tenant in TENANTS]
        wait_for(lambda: served.cohorts.waiting == len(TENANTS) * KILLED * LOST)
        clients = {
            tenant: (start(tenant, 0, KILLED, LOST, SIZE - 1), start(tenant, KILLED, GROUPS - KILLED, 0, SIZE))
            for tenant in TENANTS
        }
        wait_for(lambda: served.cohorts.waiting >= len(TENANTS) * KILLED * (SIZE - 1))
        for victim in victims:
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        lines = {
            tenant: [line.split() for process in processes for line in process.communicate()[0].splitlines()]
            for tenant, processes in clients.items()
        }
        assert (served.cohorts.waiting, served.queue.running, served.queue.waiting) == (0, 0, 0)
    answered = KILLED * (SIZE - 1 - LOST) + (GROUPS - KILLED) * SIZE
    assert len(TENANTS) * (answered + KILLED * LOST) >= 9_900
    for tenant in TENANTS:
        assert len(lines[tenant]) == answered
        assert {status for _, _, status, _ in lines[tenant]} == {"200"}
        found: dict[int, dict[str, float]] = {}
        for group, member, _, score in lines[tenant]:
            found.setdefault(int(group), {})[member] = float(score)
        for group, scores in found.items():
            assert len(scores) == (SIZE - 1 - LOST if group < KILLED else SIZE)
            assert sum(scores.values()) / len(scores) == pytest.approx(0.5)
    assert judge.crossed == []
