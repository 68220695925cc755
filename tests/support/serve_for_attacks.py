"""The server of `judge-r1 serve` with small limits, and a judge that takes `SECONDS` per request, and blocks the event
loop for `LAG` seconds before.

python serve_for_attacks.py PORT KEYS SECONDS LAG
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from serving_fixture import service

from judge_r1.judges.base import JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.serving.middleware.api_keys import KeyFile
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.serving.protocol import ConnectionLimits
from judge_r1.serving.server import run_app

LIMITS = Limits(body_s=1.5)
CONNECTIONS = ConnectionLimits(total=96, per_client=64, head_s=1.5, idle_s=1, send_s=1.5, drain_s=3.0)


class SlowJudge:
    """Judges like `longer` after a delay."""

    name = "slow"

    def __init__(self, seconds: float, lag: float) -> None:
        self.settings: dict[str, Any] = {}
        self._judge, self._seconds, self._lag = make_judge("longer", JudgeBuild("")), seconds, lag

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        time.sleep(self._lag)
        await asyncio.sleep(self._seconds)
        async for output in self._judge.judge(requests):
            yield output


if __name__ == "__main__":
    port, keys, seconds, lag = int(sys.argv[1]), KeyFile(Path(sys.argv[2])), float(sys.argv[3]), float(sys.argv[4])
    run_app(service(SlowJudge(seconds, lag), keys=keys, limits=LIMITS), "127.0.0.1", port, CONNECTIONS)
