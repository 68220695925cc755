"""Trains SFT and DPO on the nodes of a running Ray cluster: a task on each launches processes for its GPUs."""

import os
import time
from pathlib import Path
from typing import Any

from judge_r1.training.launcher import ProcessFailed, launch
from judge_r1.training.preflight.packages import node_checks
from judge_r1.training.recipe import Recipe
from judge_r1.training.verl.cluster_check import Machines, wait_for_nodes

PASSED = ("JUDGE_R1_", "NCCL_", "GLOO_", "HF_", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM")
"""Variables of this process that the nodes get, by the beginning of their names."""


def launch_on_ray(recipe: Recipe, folder: Path, nodes: int, processes: int) -> None:
    """Train the recipe of a run folder in `processes` processes on each of `nodes` nodes and wait for them. If one
    fails, or this process gets a signal or dies, all are stopped.

    Raises:
        ProcessFailed: Names the first failed process and its reason, or the lost node.
        JudgeError: A node is missing or lacks something (`cluster_check`).
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    from judge_r1.training.verl.node_probe import START_SECONDS, connect

    model = Path(recipe.model)
    shared = [*filter(None, (recipe.data.train, recipe.data.dev)), *([model] if model.exists() else [])]
    wait_for_nodes(Machines(nodes, processes), folder, shared, checks=node_checks(recipe, folder))
    connect(time.monotonic() + START_SECONDS)
    try:
        running = _start(folder.absolute(), nodes, processes)
        while running:
            ended, running = ray.wait(running)
            ray.get(ended)
    except RayTaskError as error:
        raise error.cause if isinstance(error.cause, ProcessFailed) else error from None
    except RayError as error:
        raise ProcessFailed(f"Ray lost a node: {' '.join(str(error).split())[:160]}") from None
    finally:
        ray.shutdown()  # ends the tasks that still run


def _start(folder: Path, nodes: int, processes: int) -> list[Any]:
    """Start a task on each node. Returns Ray's references of them."""
    import ray
    from ray.util.placement_group import placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    # The processes of a task use all its GPUs as those of one machine, so no node gets two.
    group = placement_group([{"CPU": 1, "GPU": processes}] * nodes, strategy="STRICT_SPREAD")
    variables = {name: value for name, value in os.environ.items() if name.startswith(PASSED)}

    def on(node: int, gpus: int) -> dict[str, Any]:
        place = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=node)
        settings = {"num_cpus": 0, "num_gpus": gpus, "max_retries": 0, "runtime_env": {"env_vars": variables}}
        return settings | {"scheduling_strategy": place}

    master, task = ray.get(ray.remote(_address).options(**on(0, 0)).remote()), ray.remote(_launch)
    return [
        task.options(**on(node, processes)).remote(
            os.getcwd(), folder, processes, node=node, nodes=nodes, master=master
        )
        for node in range(nodes)
    ]


def _address() -> str:
    """HOST:PORT of the node that runs this, with a port that is free now."""
    import ray
    from torch.distributed.elastic.utils.distributed import get_free_port

    return f"{ray.util.get_node_ip_address()}:{get_free_port()}"  # type: ignore[no-untyped-call]


def _launch(home: str, folder: Path, processes: int, **place: Any) -> None:
    os.chdir(home)
    launch(folder, processes, **place)
