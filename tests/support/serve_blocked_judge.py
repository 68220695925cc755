"""The `judge-r1 serve` server with a judge that takes a second per request, for signal tests."""

import sys
import threading
from pathlib import Path

from serving_fixture import BlockedJudge, service

from judge_r1.serving.middleware.api_keys import KeyFile
from judge_r1.serving.server import run_app


class SlowJudge(BlockedJudge):
    """All requests end one second after the first one."""

    async def judge(self, requests):  # type: ignore[no-untyped-def]
        if not self.started:
            threading.Timer(1.0, self.release.set).start()
        async for output in super().judge(requests):
            yield output


if __name__ == "__main__":
    port, keys = int(sys.argv[1]), KeyFile(Path(sys.argv[2])) if len(sys.argv) > 2 else None
    run_app(service(SlowJudge(), max_concurrency=2, keys=keys), "127.0.0.1", port)
