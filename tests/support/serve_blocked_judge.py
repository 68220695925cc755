"""The `judge-r1 serve` server with a judge that takes a second per request, for signal tests."""

import sys
import threading
from pathlib import Path

from serving_fixture import Held, service

from judge_r1.serving.middleware.api_keys import KeyFile
from judge_r1.serving.server import run_app


class Slow(Held):
    """Every request takes a second."""

    async def judge(self, asks):  # type: ignore[no-untyped-def]
        if not self.began:
            threading.Timer(1.0, self.go.set).start()
        async for played in super().judge(asks):
            yield played


if __name__ == "__main__":
    port, keys = int(sys.argv[1]), KeyFile(Path(sys.argv[2])) if len(sys.argv) > 2 else None
    run_app(service(Slow(), max_concurrency=2, keys=keys), "127.0.0.1", port)
