"""Asks each node of a running Ray what it sees, or watches that none goes; run in a process of its own, which can be
ended, by `machines`. The question is JSON on the command line, the answer the last line; `watch` instead of a question
ends when a node that was there is gone, and its last line says which."""

import json
import os
import sys
import time
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

POLL_SECONDS, START_SECONDS = 2.0, 300.0


def probe_node(paths: list[str]) -> dict[str, Any]:
    """What this node sees. Imports stand here because it runs on a node that may lack anything of ours."""
    import importlib.util
    import socket
    from pathlib import Path

    if importlib.util.find_spec("judge_r1") is None:
        return {"host": socket.gethostname(), "missing": ["judge_r1"], "cuda": False}
    import torch

    missing = [path for path in paths if not Path(path).exists()]
    return {"host": socket.gethostname(), "missing": missing, "cuda": torch.cuda.is_available()}


def nodes_with(gpus: int) -> list[str]:
    """The nodes that are alive and have so many GPUs, in use or not."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    return [node["NodeID"] for node in alive if node["Resources"].get("GPU", 0) >= gpus]


def collect_reports(nodes: int, gpus: int, paths: list[str], until: float) -> dict[str, Any]:
    """Ask as many nodes as are wanted, each with its GPUs taken while it answers, until all have or time is over."""
    asked: dict[str, Any] = {}
    task = ray.remote(probe_node)
    while True:
        there = nodes_with(gpus)
        asked = {node: ref for node, ref in asked.items() if node in there}
        for node in there:
            if node not in asked:
                place = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
                asked[node] = task.options(num_cpus=0, num_gpus=gpus, scheduling_strategy=place, max_retries=0).remote(
                    paths
                )
        refs = list(asked.values())
        done = ray.wait(refs, num_returns=len(refs), timeout=POLL_SECONDS)[0] if refs else []
        seats = []
        for ref in done:
            try:
                seats.append(ray.get(ref))
            except ray.exceptions.RayError:  # the node died while it was asked: it is asked again if it comes back
                asked = {node: other for node, other in asked.items() if other != ref}
        if len(seats) >= nodes or time.monotonic() > until:
            return {"there": len(there), "seats": seats}
        if len(done) == len(refs):
            time.sleep(POLL_SECONDS)


def join(until: float) -> None:
    """Connect to the Ray at RAY_ADDRESS; a head that is still starting refuses for a while. Errors: ConnectionError."""
    while True:
        try:
            ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False, logging_level="ERROR")
            return
        except ConnectionError:
            if time.monotonic() > until:
                raise
            time.sleep(POLL_SECONDS)


def watch() -> str:
    """Returns the sentence that says which node is gone."""
    join(time.monotonic() + START_SECONDS)
    here = {node["NodeID"]: node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}
    while True:
        time.sleep(POLL_SECONDS)
        alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        if lost := [host for node, host in here.items() if node not in alive]:
            return f"Ray lost the node {lost[0]}"


def main() -> None:
    if sys.argv[1] == "watch":
        print(watch(), flush=True)
        return
    question = json.loads(sys.argv[1])
    until = time.monotonic() + question["seconds"]
    join(until)
    answer = collect_reports(question["nodes"], question["gpus_per_node"], question["paths"], until)
    ray.shutdown()
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
