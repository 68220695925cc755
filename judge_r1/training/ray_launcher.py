"""Trains SFT and DPO on the nodes of a running Ray cluster: places one launcher with the node's GPUs on each.

Run as a module, it is the client of Ray, in a process of its own because an unreachable cluster may hang it:
`python -m judge_r1.training.ray_launcher REQUEST`. The request is JSON, and so is the result, a line of output.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training.distributed import PLACED_BY
from judge_r1.training.launcher import ProcessFailed
from judge_r1.training.network import free_port
from judge_r1.training.preemption import Preempted, StopRequest, save_on_sigterm
from judge_r1.training.preflight.request import node_checks
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished
from judge_r1.training.verl.cluster_check import Machines, wait_for_nodes, watch_nodes
from judge_r1.training.verl.supervisor import exit_on_sigterm, stop_group

POLL_SECONDS = 0.5
OTHERS_SECONDS = 90.0
"""How long the other nodes may take to end after one has failed."""
RESULT = "judge-r1 nodes: "
"""Begins the line with the result."""
PASSED = ("JUDGE_R1_", "NCCL_", "GLOO_", "HF_", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM")
"""Variables of this process that the launchers get, by the beginning of their names."""


def launch_on_ray(recipe: Recipe, folder: Path, nodes: int, per_node: int | None) -> None:
    """Train the recipe of a run folder in `per_node` processes on each of `nodes` nodes and wait for them.

    Raises:
        ProcessFailed: Names the first failed node and its reason.
        Preempted: The run was asked to stop, and has saved a checkpoint.
        JudgeError: A node is missing or lacks something (`cluster_check`).
    """
    count = per_node or _gpus_here()
    model, dev = Path(recipe.model), recipe.data.dev
    shared = [recipe.data.train, *([dev] if dev else []), *([model] if model.exists() else [])]
    request = StopRequest(folder)
    logs = (folder / "logs").absolute()
    with exit_on_sigterm():
        wait_for_nodes(Machines(nodes, count), folder, shared, checks=node_checks(recipe, folder))
        logs.mkdir(exist_ok=True)
        train = ["judge_r1.cli", "train", str((folder / "recipe.yaml").absolute()), "--out", str(folder.absolute())]
        task = {
            "command": [sys.executable, "-m", *train, "--nodes", str(nodes), "--processes", str(count)],
            "folder": str(Path.cwd()),
            "environment": _passed() | {PLACED_BY: str(folder)},
            "logs": str(logs),
        }
        statuses = _run(json.dumps({"nodes": nodes, "gpus": count, "task": task}), logs / "ray.log", request)
    failed = sorted((rank for rank, (status, _) in statuses.items() if status), key=lambda rank: _order(statuses[rank]))
    if finished(folder):  # a node that ends late may not have learned that the run is complete
        return
    if request:
        raise Preempted(folder)
    if failed:
        status, line = statuses[failed[0]]
        log = logs / f"node-{failed[0]}.log"
        raise ProcessFailed(f"node {failed[0]} of {nodes} ended with status {status}: {line} (see {log})", status)


def _run(request: str, log: Path, stop: StopRequest) -> dict[int, tuple[int, str]]:
    """Run this module until the launchers end. Returns the status and the last line of output of each that ended."""
    command = [sys.executable, "-m", "judge_r1.training.ray_launcher", request]
    with watch_nodes() as lost_node, save_on_sigterm(stop), log.open("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            while process.poll() is None:
                if reason := lost_node():
                    raise ProcessFailed(f"the run on the Ray cluster ended: {reason}", TRY_AGAIN)
                time.sleep(POLL_SECONDS)
        finally:
            stop_group(process)
    lines = log.read_text(errors="replace").strip().splitlines() or ["no reason given"]
    results = [line.removeprefix(RESULT) for line in lines if line.startswith(RESULT)]  # Ray may print after it
    if process.returncode or not results:
        raise ProcessFailed(f"the launchers could not run on the Ray cluster: {lines[-1]} (see {log})", TRY_AGAIN)
    return {int(rank): (status, line) for rank, (status, line) in json.loads(results[-1]).items()}


def _order(result: tuple[int, str]) -> tuple[bool, bool]:
    """Sorts user errors first, and nodes that ended because of another one last."""
    status, line = result
    return status != JudgeError.exit_status, line.startswith("node ") or "is gone" in line


def _passed() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(PASSED)}


def _gpus_here() -> int:
    import torch

    return max(1, torch.cuda.device_count())


def address() -> str:
    """HOST:PORT of the node that runs this, with a port that is free now."""
    import ray

    return f"{ray.util.get_node_ip_address()}:{free_port()}"


def run_node(task: dict[str, Any], rank: int, master: str) -> tuple[int, str]:
    """Run a launcher on this node. Returns its status and its last line of output."""
    log = Path(task["logs"]) / f"node-{rank}.log"
    variables = {**os.environ, **task["environment"], "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    if "OMP_NUM_THREADS" not in task["environment"]:
        variables.pop("OMP_NUM_THREADS", None)  # Ray sets it to 1 in its workers
    with log.open("w") as output:
        place = ["--node-rank", str(rank), "--master", master]
        process = subprocess.Popen(
            [*task["command"], *place], cwd=task["folder"], env=variables, stdout=output, stderr=subprocess.STDOUT
        )
        status = process.wait()
    return status, (log.read_text(errors="replace").strip().splitlines() or [""])[-1]


def place(request: dict[str, Any]) -> dict[int, tuple[int, str]]:
    """Run a launcher on each node, and wait until all end, or one has failed and the others had time to end."""
    import ray
    from ray.util.placement_group import placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    bundle = {"CPU": 1, "GPU": request["gpus"]}
    # A launcher uses all GPUs that it is given as those of one machine, so no node gets two.
    group = placement_group([bundle] * request["nodes"], strategy="STRICT_SPREAD")
    ray.get(group.ready())

    def on(rank: int, gpus: int) -> dict[str, Any]:
        where = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=rank)
        return {"num_cpus": 0, "num_gpus": gpus, "scheduling_strategy": where, "max_retries": 0}

    master = ray.get(ray.remote(address).options(**on(0, 0)).remote())
    node = ray.remote(run_node)
    refs = {
        node.options(**on(r, request["gpus"])).remote(request["task"], r, master): r for r in range(request["nodes"])
    }
    results: dict[int, tuple[int, str]] = {}
    waiting, until = list(refs), float("inf")
    while waiting and time.monotonic() < until:
        done, waiting = ray.wait(waiting, timeout=POLL_SECONDS)
        for ref in done:
            try:
                results[refs[ref]] = ray.get(ref)
            except ray.exceptions.RayError as error:
                results[refs[ref]] = TRY_AGAIN, f"Ray lost its process: {' '.join(str(error).split())[:200]}"
        if any(status for status, _ in results.values()):
            until = min(until, time.monotonic() + OTHERS_SECONDS)
    return results


def main() -> None:
    from judge_r1.training.verl.node_probe import START_SECONDS, connect

    connect(time.monotonic() + START_SECONDS)
    result = place(json.loads(sys.argv[1]))
    print(f"\n{RESULT}{json.dumps(result)}", flush=True)


if __name__ == "__main__":
    main()
