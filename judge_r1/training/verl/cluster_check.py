"""Checks, before a run on several nodes, that all nodes are up, see the same files and can train the recipe.

A run folder that only one node sees would otherwise fail an hour later, with missing episodes and checkpoint shards on
different machines. A Ray task on each node reports what the node sees, and runs `judge_r1.training.preflight` there.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.core.text_check import counted

WAIT_SECONDS = 900.0
"""How long to wait for all nodes with free GPUs: a replacement node may still be starting, and processes of a failed
attempt may still be ending."""
GRACE_SECONDS = 60.0
CHECK_SECONDS = 300.0
"""How long the checks of one node may take: imports, the tokenizer and the embedder from shared storage."""
NO_CHECKS: Mapping[str, Any] = {"packages": [], "gpu_packages": [], "files": []}
EQUAL = ("judge-r1", "torch", "transformers", "vllm", "verl", "ray")
"""Packages whose versions must be equal on all nodes."""


@dataclass(frozen=True)
class Machines:
    """Identical nodes. `gpus_per_node` counts Ray's GPUs, which are logical ones when ranks run on processors."""

    nodes: int = 1
    gpus_per_node: int = 1


@dataclass(frozen=True)
class NodeReport:
    """What one node reports. `missing`: paths that it does not see, or ("judge_r1",) if the package is not installed.
    `cuda`: whether torch finds a GPU. `versions`: those of `EQUAL`. `problems`: the sentences of its failed checks."""

    host: str
    missing: tuple[str, ...]
    cuda: bool
    versions: Mapping[str, str | None] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


class NodesMissing(JudgeError):
    """Fewer nodes than requested after the wait. They may come back."""

    exit_status = TRY_AGAIN


class NotShared(JudgeError):
    """A node does not see the run's files, lacks a package or a model, or differs from the other nodes."""


def wait_for_nodes(
    machines: Machines,
    run_folder: Path,
    paths: Sequence[Path],
    *,
    checks: Mapping[str, Any] = NO_CHECKS,
    seconds: float = WAIT_SECONDS,
) -> bool:
    """Wait until the Ray cluster at RAY_ADDRESS has the machines and each sees `paths` and a new file in `run_folder`.
    Each node then runs `checks` (`preflight.request.node_checks`). Returns whether the nodes have GPUs.

    Raises:
        NodesMissing: The machines are not there after `seconds`.
        NotShared: A node does not see a path, a check fails, or the nodes differ.
    """
    marker = (run_folder / f".seen-{uuid4().hex}").absolute()
    marker.touch()
    request = {
        **asdict(machines),
        "paths": [str(marker), *(str(path.absolute()) for path in paths)],
        "versions": EQUAL,
        "checks": checks,
        "check_seconds": CHECK_SECONDS,
        "seconds": seconds,
    }
    # In another process: an unreachable Ray cluster may hang its client, or end it without an exception.
    command = [sys.executable, "-m", "judge_r1.training.verl.node_probe", json.dumps(request)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        raise NodesMissing(f"{_cluster()} did not answer in {seconds + GRACE_SECONDS:.0f} s") from None
    finally:
        marker.unlink(missing_ok=True)
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NodesMissing(f"{_cluster()} cannot be used: {last}")
    result = json.loads(lines[-1])
    reports = [
        NodeReport(node["host"], tuple(node["missing"]), node["cuda"], node["versions"], tuple(node["problems"]))
        for node in result["reports"]
    ]
    return check_reports(machines, reports, run_folder, result["available"])


@contextmanager
def watch_nodes() -> Iterator[Callable[[], str | None]]:
    """Watch the Ray cluster at RAY_ADDRESS. Yields a function that returns None, or a message once a node is gone.

    verl can wait forever for data of a lost node: its queue keeps polling the node's store."""
    command = [sys.executable, "-m", "judge_r1.training.verl.node_probe", "watch"]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

        def lost_node() -> str | None:
            if process.poll() is None:
                return None
            output.seek(0)
            return (output.read().strip().splitlines() or ["the process that watches Ray's nodes ended"])[-1]

        try:
            yield lost_node
        finally:
            process.kill()
            process.wait()


def check_reports(machines: Machines, reports: Sequence[NodeReport], run_folder: Path, available: int) -> bool:
    """Combine the nodes' reports. `available` is the number of Ray's nodes with enough GPUs, free or not. Returns
    whether torch finds a GPU on the nodes.

    Raises:
        NodesMissing: There are fewer reports than `machines.nodes`.
        NotShared: A node does not see a path, a check fails, or the nodes differ.
    """
    if len(reports) < machines.nodes:
        wanted = f"{counted(machines.nodes, 'node')} with {counted(machines.gpus_per_node, 'GPU')} each"
        busy = f"; {available} are up, but their GPUs are in use" if available >= machines.nodes else ""
        raise NodesMissing(f"{_cluster()} did not have {wanted} free in time: {len(reports)} answered{busy}")
    for report in reports:
        if report.missing == ("judge_r1",):
            raise NotShared(f"node {report.host} has no judge_r1: all nodes need the same installation")
        if report.missing:
            raise NotShared(
                f"node {report.host} does not see {report.missing[0]}: the run ({run_folder}), its data and its model "
                "must be on storage that all nodes share, under the same path"
            )
    if problems := [*_unequal(reports), *(f"node {one.host}: {text}" for one in reports for text in one.problems)]:
        raise NotShared("\n".join(problems))
    cuda = {report.cuda for report in reports}
    if len(cuda) > 1:
        without = ", ".join(report.host for report in reports if not report.cuda)
        raise NotShared(f"torch finds no GPU on {without}, but finds one on the other nodes")
    return cuda.pop()


def _unequal(reports: Sequence[NodeReport]) -> list[str]:
    """One sentence for each package and node that differs from the first node."""
    first = reports[0]
    return [
        f"{package} is {other.versions.get(package) or 'not installed'} on node {other.host}, and "
        f"{found or 'not installed'} on node {first.host}: all nodes need the same versions (requirements/gpu.txt)"
        for other in reports[1:]
        for package, found in first.versions.items()
        if other.versions.get(package) != found
    ]


def _cluster() -> str:
    return f"the Ray cluster at RAY_ADDRESS={os.environ.get('RAY_ADDRESS', '')}"
