"""Before a run on several machines: are they all there, and do they see the same files?

A run folder that only one machine sees would show itself an hour later, as episodes that never came back and shards of
a checkpoint that nobody can put together. So each node is asked first, by a task of its own on the Ray that runs.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from judge_r1.core.errors import TRY_AGAIN, JudgeError

MEETING_SECONDS = 900.0
"""How long to wait until all nodes are there with their GPUs free: a node that takes another's place is still starting,
and the processes of an attempt that failed are still ending."""
GRACE_SECONDS = 60.0


@dataclass(frozen=True)
class Machines:
    """Nodes that are alike. `gpus_per_node` counts what Ray calls GPUs: logical ones where ranks run on processors."""

    nodes: int = 1
    gpus_per_node: int = 1


@dataclass(frozen=True)
class NodeReport:
    """What a node says of itself. `missing`: the paths that it does not see, or ["judge_r1"] where that is not
    installed; `cuda`: has torch a GPU there?"""

    host: str
    missing: tuple[str, ...]
    cuda: bool


@dataclass(frozen=True)
class ClusterReady:
    """All nodes are there and see what they must."""

    cuda: bool


class NodesMissing(JudgeError):
    """Fewer nodes than the run was started for, after a long wait. They may come back."""

    exit_status = TRY_AGAIN


class NotShared(JudgeError):
    """A node that does not see the run's files, has no judge-r1, or differs from the others."""


def wait_for_nodes(
    machines: Machines, run_folder: Path, paths: Sequence[Path], *, seconds: float = MEETING_SECONDS
) -> ClusterReady:
    """Wait until the Ray at RAY_ADDRESS has the machines, with a file in `run_folder` and `paths` seen from each.
    Errors: NodesMissing when `seconds` are over; NotShared."""
    mark = (run_folder / f".seen-{uuid4().hex}").absolute()
    mark.touch()
    question = {**asdict(machines), "paths": [str(mark), *(str(p.absolute()) for p in paths)], "seconds": seconds}
    # Another process: a Ray that cannot be reached may hang its client, or end it without an exception.
    command = [sys.executable, "-m", "judge_r1.training.verl.node_probe", json.dumps(question)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        raise NodesMissing(f"{_where()} did not answer in {seconds + GRACE_SECONDS:.0f} s") from None
    finally:
        mark.unlink(missing_ok=True)
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NodesMissing(f"{_where()} cannot be used: {last}")
    answer = json.loads(lines[-1])
    seats = [NodeReport(seat["host"], tuple(seat["missing"]), seat["cuda"]) for seat in answer["seats"]]
    return check_reports(machines, seats, run_folder, answer["there"])


@contextmanager
def watch_nodes() -> Iterator[Callable[[], str | None]]:
    """Watches the Ray at RAY_ADDRESS while the block runs; what it yields says that a node is gone, None while all are
    there. verl can wait for ever for what a lost node held (its queue asks the node's store again and again)."""
    command = [sys.executable, "-m", "judge_r1.training.verl.node_probe", "watch"]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)

        def lost() -> str | None:
            if process.poll() is None:
                return None
            said.seek(0)
            return (said.read().strip().splitlines() or ["the watch over Ray's nodes ended"])[-1]

        try:
            yield lost
        finally:
            process.kill()
            process.wait()


def check_reports(machines: Machines, seats: Sequence[NodeReport], run_folder: Path, there: int) -> ClusterReady:
    """What the nodes said, as one answer. `there` counts the nodes that Ray has with enough GPUs, free or not."""
    if len(seats) < machines.nodes:
        wanted = f"{machines.nodes} node(s) with {machines.gpus_per_node} GPU(s) each"
        busy = f"; {there} are there, and something else uses their GPUs" if there >= machines.nodes else ""
        raise NodesMissing(f"{_where()} did not have {wanted} free in time: {len(seats)} answered{busy}")
    for seat in seats:
        if seat.missing == ("judge_r1",):
            raise NotShared(f"node {seat.host} has no judge_r1: all nodes need the same installation")
        if seat.missing:
            raise NotShared(
                f"node {seat.host} does not see {seat.missing[0]}: the run ({run_folder}), its data and its model must "
                "lie on storage that all nodes share, under the same path"
            )
    cuda = {seat.cuda for seat in seats}
    if len(cuda) > 1:
        without = ", ".join(seat.host for seat in seats if not seat.cuda)
        raise NotShared(f"torch finds no GPU on {without}, though it does on the other nodes")
    return ClusterReady(cuda=cuda.pop())


def _where() -> str:
    return f"the Ray at RAY_ADDRESS={os.environ.get('RAY_ADDRESS', '')}"
