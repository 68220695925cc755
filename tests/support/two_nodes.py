"""A Ray cluster with two nodes on one machine: two raylets with separate ports, folders and tokens."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

START_SECONDS = 300.0


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def free_port() -> int:
    return free_ports(1)[0]


@dataclass
class TwoNodes:
    """`folder` must have a short path, because it contains sockets."""

    folder: Path
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gcs, self.dashboard = free_ports(2)
        self.token = self.folder / "token"
        self.token.write_text("0123456789abcdef" * 4)
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("RAY_", "VERL_"))},
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.token),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_raylet_start_wait_time_s": "120",
            "RAY_worker_niceness": "0",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }

    def start(self, *arguments: str, cpus: int = 12) -> subprocess.Popen[bytes]:
        """Adds a node with one logical GPU."""
        number, (agent, metrics) = len(self.nodes), free_ports(2)
        low = 11_000 + os.getpid() % 20 * 1000 + 200 * number  # below the ephemeral port range
        command = [
            *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-gpus=1", f"--num-cpus={cpus}"),
            *(f"--temp-dir={self.folder}/{number}", f"--dashboard-agent-listen-port={agent}"),
            *(f"--metrics-export-port={metrics}", f"--min-worker-port={low}", f"--max-worker-port={low + 199}"),
            *("--object-store-memory=300000000", "--node-ip-address=127.0.0.1", *arguments),
        ]
        log = (self.folder / f"node{number}.log").open("wb")
        node = subprocess.Popen(
            command, env=self.environment, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder, start_new_session=True
        )
        self.nodes.append(node)
        return node

    def head(self) -> None:
        where = [f"--port={self.gcs}", f"--dashboard-port={self.dashboard}", "--dashboard-host=127.0.0.1"]
        self.start("--head", "--include-dashboard=true", *where)
        self.wait_for(lambda: self.jobs() is not None)

    def worker(self) -> subprocess.Popen[bytes]:
        return self.start(f"--address=127.0.0.1:{self.gcs}")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.dashboard}"

    def jobs(self) -> list[dict[str, str]] | None:
        """Ray's job list; None while Ray does not answer."""
        headers = {"Authorization": f"Bearer {self.token.read_text()}"}
        try:
            with urlopen(Request(f"{self.address}/api/jobs/", headers=headers), timeout=10) as answer:
                found: list[dict[str, str]] = json.load(answer)
                return found
        except OSError:
            return None

    def wait_for(self, done: "object", seconds: float = START_SECONDS) -> None:
        until = time.monotonic() + seconds
        while not done():  # type: ignore[operator]
            assert time.monotonic() < until, "\n".join(tail(path) for path in sorted(self.folder.glob("*.log")))
            time.sleep(0.5)

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """Simulates a power cut: kills every process of the node."""
        for pid in family(node.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.wait(timeout=180)

    def stop(self) -> None:
        for node in reversed(self.nodes):
            if node.poll() is None:
                self.kill(node)


def family(pid: int) -> Sequence[int]:
    """A process and all of its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def tail(path: Path) -> str:
    return f"{path}:\n" + "\n".join(path.read_text(errors="replace").splitlines()[-15:])


@contextmanager
def two_nodes(folder: Path) -> Iterator[TwoNodes]:
    """Starts both nodes and stops them at the end."""
    cluster = TwoNodes(folder)
    try:
        cluster.head()
        cluster.worker()
        yield cluster
    finally:
        cluster.stop()
