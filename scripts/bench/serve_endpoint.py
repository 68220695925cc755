"""`judge-r1 serve` with a judge at an endpoint beside a plain proxy: answers per second, processor time, memory.

    python -m scripts.bench.serve_endpoint
    python -m scripts.bench.serve_endpoint --judge agentic --clients 16 --seconds 2 --repeats 1 --answers 0

The plain proxy is FastAPI and httpx (`scripts.bench.plain_proxy`). Both servers make one chat request per judgment, to
the same endpoint, which answers after 50 ms, and get the same pairs from the same clients, which keep their connections
and send the next pair when they have an answer. Endpoint and clients are processes of their own
(`scripts.bench.endpoint_load`). The servers take turns in each repeat. `cpu_ms` is the processor time of the server's
process per answer; `clients_cpu` and `endpoint_cpu` are what the other two use of a core. Every answer is checked.
At the end the judge gives `--answers` more answers to the largest number of clients; `MiB` is its memory before and
after each quarter of them.
"""

import argparse
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from judge_r1.serving.middleware.body_limit import MIB
from scripts.bench.output import Row, draw_lines, parser_of, write_rows
from scripts.bench.serve import free_port

_REPO = Path(__file__).resolve().parents[2]
PLAIN, JUDGE = SERVERS = ("plain proxy", "judge-r1 serve")
_JSON = '{"comparison": "A>B", "violated_principles": [2], "explanation": "B names another sum."}'
ANSWERS = {
    "direct": ("direct", _JSON),
    "agentic": ("agentic:retriever=bm25", f"<think>B names another sum.</think><answer>{_JSON}"),
}
"""The SPEC of each judge, and what the endpoint answers. Chat servers leave out the stop string `</answer>`."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--judge", choices=list(ANSWERS), default="direct")
    parser.add_argument("--clients", type=int, nargs="+", default=[16, 128, 512])
    parser.add_argument("--max-concurrency", type=int, default=64, help="of judge-r1 serve")
    parser.add_argument("--words", type=int, default=300, help="length of a case")
    parser.add_argument("--seconds", type=float, default=4.0, help="of one measurement")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--answers", type=int, default=20_000, help="answers over which memory is measured")
    options = parser.parse_args()
    ports = {name: free_port() for name in ("endpoint", PLAIN, JUDGE)}
    url, largest = f"http://127.0.0.1:{ports['endpoint']}/v1", max(options.clients)
    most = str(largest + 16)
    judge, answer = ANSWERS[options.judge]
    limits = ("--max-connections", most, "--max-connections-per-client", most, "--queue-size", most)
    serve = ("serve", "--judge", f"{judge}@{url}#m", "--max-concurrency", str(options.max_concurrency), *limits)
    commands = {
        "endpoint": ("scripts.bench.endpoint_load", "endpoint", "--answer", answer, "--port", str(ports["endpoint"])),
        PLAIN: ("scripts.bench.plain_proxy", url, str(ports[PLAIN])),
        JUDGE: ("judge_r1.cli", *serve, "--port", str(ports[JUDGE])),
    }
    rows: list[Row] = []
    with ExitStack() as stack:
        processes = {name: stack.enter_context(running(ports[name], *command)) for name, command in commands.items()}

        def load(name: str, clients: int, answers: int = 0) -> Row:
            options.port, options.process, options.endpoint = ports[name], processes[name], processes["endpoint"]
            return _load(options, clients, answers)

        for clients in options.clients:
            found = [{name: load(name, clients) for name in (PLAIN, JUDGE)} for _ in range(options.repeats)]
            rows += [_row(name, clients, found) for name in (PLAIN, JUDGE)]
        if options.answers:
            memory = load(JUDGE, largest, options.answers)["rss"]
            shown = ", ".join(f"{size / MIB:.1f}" for size in memory)
            rows.append({"clients": largest, "server": f"{JUDGE}, memory over {options.answers} answers", "MiB": shown})
    write_rows(options.out, "serve_endpoint", rows, vars(options))
    points = {name: [row for row in rows if row["server"] == name] for name in SERVERS}
    series = {name: [(row["clients"], row["answers_per_s"]) for row in found] for name, found in points.items()}
    draw_lines(options.out / "serve_endpoint.svg", series, x="clients", y="answers per second")


def _row(name: str, clients: int, found: list[dict[str, Row]]) -> Row:
    """Medians over the repeats; ratios are those of the two measurements of a repeat."""
    rates = [one[name]["answers"] / one[name]["seconds"] for one in found]
    cpu = [1000 * one[name]["cpu_s"] / one[name]["answers"] for one in found]
    plain = [one[PLAIN] for one in found]
    return {
        "clients": clients, "server": name, "answers_per_s": median(rates), "lowest": min(rates), "highest": max(rates),
        "times_plain": median(rate * one["seconds"] / one["answers"] for rate, one in zip(rates, plain, strict=True)),
        "cpu_ms": median(cpu),
        "cpu_times_plain": median(
            ms * one["answers"] / (1000 * one["cpu_s"]) for ms, one in zip(cpu, plain, strict=True)
        ),
        "clients_cpu": median(one[name]["clients_cpu_s"] / one[name]["seconds"] for one in found),
        "endpoint_cpu": median(one[name]["endpoint_cpu_s"] / one[name]["seconds"] for one in found),
    }  # fmt: skip


@contextmanager
def running(port: int, *command: str) -> Iterator[int]:
    """Runs a module and yields the id of its process once it listens."""
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=_REPO, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command[0]} does not listen at port {port}")
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 5):
            return True
    except OSError:
        return False


def _load(options: argparse.Namespace, clients: int, answers: int) -> Row:
    given = {"clients": clients, "answers": answers}
    given |= {name: getattr(options, name) for name in ("port", "process", "endpoint", "words", "seconds")}
    flags = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "scripts.bench.endpoint_load", "clients", *flags]
    done = subprocess.run(command, cwd=_REPO, stdout=subprocess.PIPE, check=True)
    found: Row = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
