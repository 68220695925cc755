"""Asks each node of a running Ray cluster what it sees, or watches for lost nodes.

`cluster_check` runs this module in a separate process, which it can stop. The request is JSON on the command line and
the result is the last line of output. With `watch` instead of a request, the process ends when a node is lost, and its
last line names the node.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

POLL_SECONDS, START_SECONDS = 2.0, 300.0


def probe_node(request: dict[str, Any]) -> dict[str, Any]:
    """What this node sees. Imports are local because the node may lack our package and its dependencies."""
    import importlib.util
    import socket
    from importlib.metadata import PackageNotFoundError, version
    from pathlib import Path

    def installed(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    host = socket.gethostname()
    if importlib.util.find_spec("judge_r1") is None:
        return {"host": host, "missing": ["judge_r1"], "cuda": False, "versions": {}, "problems": []}
    import torch

    missing = [path for path in request["paths"] if not Path(path).exists()]
    return {
        "host": host,
        "missing": missing,
        "cuda": torch.cuda.is_available(),
        "versions": {package: installed(package) for package in request["versions"]},
        "problems": [] if missing else run_checks(request["checks"], request["check_seconds"]),
    }


def run_checks(checks: dict[str, Any], seconds: float) -> list[str]:
    """The sentences of `judge_r1.training.preflight`, in a process of its own that holds no GPU memory."""
    if not any(checks.values()):
        return []
    path = os.pathsep.join(folder for folder in sys.path if folder)
    variables = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": path}
    command = [sys.executable, "-m", "judge_r1.training.preflight", json.dumps(checks)]
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return [f"its checks did not end in {seconds:.0f} s: is its storage slow?"]
    if done.returncode:
        return [f"its checks failed: {(done.stderr.strip().splitlines() or [f'status {done.returncode}'])[-1]}"]
    problems: list[str] = json.loads(done.stdout.splitlines()[-1])
    return problems


def nodes_with(gpus: int) -> list[str]:
    """The living nodes with at least `gpus` GPUs, in use or not."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    return [node["NodeID"] for node in alive if node["Resources"].get("GPU", 0) >= gpus]


def collect_reports(nodes: int, gpus: int, request: dict[str, Any], until: float) -> dict[str, Any]:
    """Probe nodes until `nodes` of them answered or the time `until` is over. A probe reserves its node's GPUs."""
    probes: dict[str, Any] = {}
    task = ray.remote(probe_node)
    while True:
        available = nodes_with(gpus)
        probes = {node: ref for node, ref in probes.items() if node in available}
        for node in available:
            if node not in probes:
                strategy = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
                options = {"num_cpus": 0, "num_gpus": gpus, "scheduling_strategy": strategy, "max_retries": 0}
                probes[node] = task.options(**options).remote(request)
        refs = list(probes.values())
        done = ray.wait(refs, num_returns=len(refs), timeout=POLL_SECONDS)[0] if refs else []
        reports = []
        for ref in done:
            try:
                reports.append(ray.get(ref))
            except ray.exceptions.RayError:  # the node died; it is probed again if it comes back
                probes = {node: other for node, other in probes.items() if other != ref}
        if len(reports) >= nodes or time.monotonic() > until:
            return {"available": len(available), "reports": reports}
        if len(done) == len(refs):
            time.sleep(POLL_SECONDS)


def connect(until: float) -> None:
    """Connect to the Ray cluster at RAY_ADDRESS, retrying until the time `until` while its head is starting.

    Raises:
        ConnectionError: The cluster refused every attempt.
    """
    while True:
        try:
            ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False, logging_level="ERROR")
            return
        except ConnectionError:
            if time.monotonic() > until:
                raise
            time.sleep(POLL_SECONDS)


def watch() -> str:
    """Wait until a node is lost. Returns a message that names it."""
    connect(time.monotonic() + START_SECONDS)
    hosts = {node["NodeID"]: node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}
    while True:
        time.sleep(POLL_SECONDS)
        alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        if lost := [host for node, host in hosts.items() if node not in alive]:
            return f"Ray lost the node {lost[0]}"


def main() -> None:
    if sys.argv[1] == "watch":
        print(watch(), flush=True)
        return
    request = json.loads(sys.argv[1])
    until = time.monotonic() + request["seconds"]
    connect(until)
    result = collect_reports(request["nodes"], request["gpus_per_node"], request, until)
    ray.shutdown()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
