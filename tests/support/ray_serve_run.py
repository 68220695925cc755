"""Runs two replicas on a private Ray cluster; prints the port when they are ready, and stops when stdin closes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from paths import REPO, SUPPORT

JUDGE_S = 0.4


def slow() -> Any:
    """A judge that is named after its process and answers like `longer` after a delay."""
    from serving_fixture import service

    from judge_r1.judges.base import JudgeBuild, JudgeOutput
    from judge_r1.judges.panel import make_judge
    from judge_r1.judges.request import JudgeRequest

    class SlowJudge:
        name, settings = f"slow-{os.getpid()}", {}

        def check(self, requests: Sequence[JudgeRequest]) -> None: ...

        async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
            await asyncio.sleep(JUDGE_S)
            async for output in make_judge("longer", JudgeBuild("")).judge(requests):
                yield output

    return service(SlowJudge(), max_concurrency=8, queue_size=64)


def main(port: int, folder: Path) -> None:
    import ray
    import ray_serve_run  # importable by name in the replicas
    from ray import serve

    from judge_r1.serving.ray_serve import deploy

    paths = os.pathsep.join(str(path) for path in (SUPPORT, REPO))
    ray.init(
        address="local", num_cpus=4, include_dashboard=False, _temp_dir=str(folder), object_store_memory=10**8,
        log_to_driver=False, logging_level="ERROR", runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )  # fmt: skip
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(deploy(ray_serve_run.slow, 72, replicas=2), name="judge", route_prefix="/")
    print("ready", flush=True)
    sys.stdin.read()
    serve.shutdown()
    ray.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
