"""Connects the launchers of a run on several machines, so that all end when one of them does."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training.network import free_port

JOIN_SECONDS = 900.0
"""How long to wait for the launchers of all nodes."""
LOST_SECONDS = 60.0
"""A node without a sign of life for this long is lost."""
BEAT_SECONDS = 1.0
REPORT_SECONDS = 4.0
"""How long another node may take to report a failure that this node feels as a closed connection."""
STUCK_SECONDS = 60.0
"""How long this node may take to stop its processes after another one has failed."""
LEAVE_SECONDS = 15.0
"""How long the first node, which holds the store, waits for the others to leave."""


@dataclass(frozen=True)
class Node:
    """This machine among the `count` machines of a run. Their launchers meet at `host`:`port` on the one of rank 0."""

    rank: int
    count: int
    host: str
    port: int


class NodeFailed(JudgeError):
    """Another node of the run failed or is gone."""

    def __init__(self, message: str, status: int = TRY_AGAIN) -> None:
        super().__init__(message)
        self.exit_status = status


class NodeGroup:
    """The launchers of a run's nodes, connected through a store on the first one.

    In the `with` block, each node shows signs of life. When another node fails or is gone, this process gets SIGHUP,
    and `failure` says why.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.failure: NodeFailed | None = None
        self._store: Any = None
        self._left = threading.Event()
        self._stopped = threading.Event()
        self._others = [rank for rank in range(node.count) if rank != node.rank]
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "NodeGroup":
        """Waits for all nodes.

        Raises:
            NodeFailed: They did not join within `JOIN_SECONDS`.
        """
        from torch.distributed import TCPStore  # type: ignore[attr-defined]

        node, limit = self.node, timedelta(seconds=JOIN_SECONDS)
        try:
            self._store = TCPStore(node.host, node.port, node.count, node.rank == 0, limit)
            self._store.set(self._key("alive"), "0")
            if node.rank == 0:
                self._store.set("port", str(free_port()))
            self._store.wait([self._key("alive", rank) for rank in self._others], limit)
        except RuntimeError as error:  # torch raises subclasses of it
            reason = str(error).strip().split("\n")[0]
            raise NodeFailed(
                f"node {node.rank} of {node.count}: the others did not join at {node.host}:{node.port} within "
                f"{JOIN_SECONDS:.0f} s ({reason}); start the command on every node"
            ) from None
        # From now on a call that waits longer means that the first node is gone.
        self._store.set_timeout(timedelta(seconds=LOST_SECONDS))
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Tells the others how this node ended, and on the first node waits until they know."""
        self._left.set()
        self._thread.join()
        with suppress(RuntimeError):  # the first node may be gone
            if error is not None:
                status = getattr(error, "exit_status", TRY_AGAIN)
                self._store.set(self._key("failed"), f"{int(status)} {' '.join(str(error).split())}")
            self._store.set(self._key("left"), "")
            until = time.monotonic() + LEAVE_SECONDS
            while self.node.rank == 0 and self.failure is None and time.monotonic() < until:
                if self._store.check([self._key("left", rank) for rank in self._others]):
                    break
                time.sleep(0.1)

    def cause(self, *, wait: bool) -> NodeFailed | None:
        """The failure of another node, if there is one. With `wait`, it may be about to be reported.

        This process has stopped, so it gets no signal from now on.
        """
        self._stopped.set()
        if wait:
            self._thread.join(REPORT_SECONDS)
        return self.failure

    @property
    def port(self) -> int:
        """A free port of the first node, for torch's rendezvous."""
        return int(self._store.get("port"))

    def barrier(self) -> None:
        """Waits until all nodes call it.

        Raises:
            NodeFailed: One has failed or is gone.
        """
        self._store.set(self._key("ready"), "")
        self._await([self._key("ready", rank) for rank in self._others])

    def agree(self, answer: bool) -> bool:
        """The answer of the first node, on all nodes.

        Raises:
            NodeFailed: A node has failed or is gone.
        """
        if self.node.rank == 0:
            self._store.set("answer", str(int(answer)))
        self._await(["answer"])  # the first node may take minutes to write the model
        return bool(int(self._store.get("answer")))

    def _await(self, keys: list[str]) -> None:
        while self.failure is None and not self._store.check(keys):
            time.sleep(0.1)
        if self.failure:
            raise self.failure

    def _key(self, name: str, rank: int | None = None) -> str:
        return f"{name}/{self.node.rank if rank is None else rank}"

    def _watch(self) -> None:
        beats = 0
        # By this node's clock, since when a count stands still: the clocks of two machines may differ.
        seen = dict.fromkeys(self._others, (b"0", time.monotonic()))
        while not self._left.wait(BEAT_SECONDS):
            beats += 1
            try:
                self._store.set(self._key("alive"), str(beats))
                self.failure = next(filter(None, (self._failure_of(rank, seen) for rank in self._others)), None)
            except RuntimeError:
                self.failure = NodeFailed(f"node 0 of {self.node.count} is gone")
            if self.failure is not None and self._stopped.is_set():
                return
            if self.failure is not None and not self._left.is_set():
                # Not SIGTERM, which asks for a checkpoint: without the other node none can be saved.
                os.kill(os.getpid(), signal.SIGHUP)
                if not self._left.wait(STUCK_SECONDS):  # in a call that Python cannot interrupt
                    print(self.failure, file=sys.stderr, flush=True)
                    os._exit(self.failure.exit_status)
                return

    def _failure_of(self, rank: int, seen: dict[int, tuple[bytes, float]]) -> NodeFailed | None:
        name = f"node {rank} of {self.node.count}"
        if self._store.check([self._key("failed", rank)]):
            status, _, message = self._store.get(self._key("failed", rank)).decode().partition(" ")
            return NodeFailed(f"{name} failed: {message}", int(status))
        if self._store.check([self._key("left", rank)]):
            return None
        beat, now = self._store.get(self._key("alive", rank)), time.monotonic()
        if beat != seen[rank][0]:
            seen[rank] = beat, now
        lost = now - seen[rank][1] > LOST_SECONDS
        return NodeFailed(f"{name} gave no sign of life for {LOST_SECONDS:.0f} s") if lost else None
