"""Endurance: many searches from concurrent episodes while workers and the server die, disks are slow and cases change.

    OMP_NUM_THREADS=1 python -m scripts.bench.soak --out runs/soak
    OMP_NUM_THREADS=1 python -m scripts.bench.soak --searches 20000 --cases 100 --workers 2 --episodes 8 --faults-s 2

Worker processes run episodes in threads. An episode sends calls of 250 searches in up to four cases to one retrieval
server (`retrieval.server`), checks every passage against the text of the case that it asked for, and notes the call in
the log of its worker. Meanwhile the parent

* kills a worker or the server with SIGKILL, or replaces the server without a pause, every `--faults-s` seconds,
* removes a case and adds another one every second; ids are never used again.

Every `--progress-s` seconds a line says how far it is. Ctrl-C, SIGTERM or `--minutes` ends the run in order: the report
then covers what ran. One in fifty reads of a case takes up to 200 ms, and one in fifty calls gives up after 20 ms. A
killed worker reads its log and continues. At the end every call must be in the logs once: none is lost or doubled. The
report has the foreign passages (there must be none) and the memory of the server and the workers by quarter of the run.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from retrieval.case_index import Hit
from retrieval.client import RemoteRetriever
from retrieval.errors import SearchTimeout, UnknownCase
from retrieval.retriever import Retriever
from scripts.bench.output import Row, parser_of, write_rows
from scripts.bench.soak_cases import QUERIES, WORDS, FolderTexts, WordEmbedder, text_of

CALL, K = 250, 3


def serve_cases(folder: Path, port: int) -> None:
    from retrieval.server.__main__ import serve

    retriever = Retriever(FolderTexts(folder / "cases"), method=WordEmbedder(), passage_words=WORDS, max_cases=800)
    serve(retriever, "127.0.0.1", port, "soak")


@lru_cache(maxsize=4096)
def own_text(case_id: str) -> str:
    """The text of a case as it is written here, not as the server read it."""
    return text_of(case_id)


def is_wrong(case_id: str, hits: Sequence[Hit]) -> bool:
    """Whether a result is not `K` different passages of the case. Every passage names its case."""
    text = own_text(case_id)
    good = {p.start for p, _ in hits if p.text == text[p.start : p.end] and f" {case_id} " in p.text}
    return len(good) != K or len(hits) != K


def run_worker(folder: Path, port: int, number: int, episodes: Sequence[int], calls: int) -> None:
    """Runs episodes in threads. Notes `episode call searches foreign` for each call, and events, in `worker-N.log`."""
    path = folder / f"worker-{number}.log"
    done = {tuple(map(int, line.split()[1:3])) for line in read_lines(path) if line.startswith("call ")}
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    remote = RemoteRetriever(f"http://127.0.0.1:{port}", token="soak", timeout_s=300)
    hasty = RemoteRetriever(f"http://127.0.0.1:{port}", token="soak", timeout_s=0.02)

    def run(episode: int) -> None:
        for call in range(calls):
            if (episode, call) in done:
                continue
            if (folder / "stop").exists():
                return
            random = Random(os.urandom(8))
            while True:
                present = os.listdir(folder / "cases")
                cases = random.sample(present, random.randint(1, 4))
                requests = [(random.choice(cases), random.choice(QUERIES)) for _ in range(CALL)]
                try:
                    found = (hasty if random.random() < 0.02 else remote).search(requests, K)
                    break
                except UnknownCase:  # removed since the folder was listed
                    os.write(log, b"event removed\n")
                except SearchTimeout:
                    os.write(log, b"event timeout\n")
            foreign = sum(is_wrong(case_id, hits) for (case_id, _), hits in zip(requests, found, strict=True))
            os.write(log, f"call {episode} {call} {len(requests)} {foreign}\n".encode())

    threads = [threading.Thread(target=run, args=(episode,)) for episode in episodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(log, f"event retries {remote.retries}\n".encode())


def read_lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def resident(process: "subprocess.Popen[bytes]") -> float:
    """Resident MB of a child; 0 if it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


class Soak:
    """The parent: starts the processes, injects faults and samples memory."""

    def __init__(self, options: Any) -> None:
        self.options, self.folder = options, options.out / "soak-work"
        (self.folder / "cases").mkdir(parents=True)
        self.random, self.faults, self.next_case = Random(options.seed), Counter[str](), 0
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.calls = -(-options.searches // (CALL * options.episodes))
        for _ in range(options.cases):
            self.add_case()
        self.server, self.server_began = self.start("server"), time.monotonic()
        self.workers = [self.start("worker", str(number)) for number in range(options.workers)]
        self.samples: list[tuple[float, float, float, float]] = []
        """Seconds since the start, age of the server, MB of the server, MB of the largest worker."""

    def start(self, role: str, number: str = "0") -> "subprocess.Popen[bytes]":
        o = self.options
        command = [sys.executable, "-m", "scripts.bench.soak", f"--{role}", number, "--folder", str(self.folder)]
        command += ["--port", str(self.port), "--workers", str(o.workers), "--episodes", str(o.episodes)]
        return subprocess.Popen([*command, "--calls", str(self.calls)], start_new_session=True)  # Ctrl-C is ours

    def add_case(self) -> None:
        case_id = f"case-{self.next_case:06}"
        self.next_case += 1
        partial = self.folder / f".{case_id}"
        partial.write_text(text_of(case_id))
        partial.replace(self.folder / "cases" / case_id)

    def change_case(self) -> None:
        (self.folder / "cases" / self.random.choice(os.listdir(self.folder / "cases"))).unlink()
        self.add_case()
        self.faults["cases removed and added"] += 1

    def fault(self) -> None:
        kind = self.random.choice(("worker killed", "worker killed", "server killed", "server replaced"))
        running = [number for number, worker in enumerate(self.workers) if worker.poll() is None]
        if kind == "worker killed" and running:
            number = self.random.choice(running)
            self.workers[number].kill()
            self.workers[number].wait()
            self.workers[number] = self.start("worker", str(number))
        elif kind == "server killed":
            self.server.kill()
            self.server.wait()
            self.server, self.server_began = self.start("server"), time.monotonic()
        elif kind == "server replaced":
            old, self.server, self.server_began = self.server, self.start("server"), time.monotonic()
            time.sleep(5)  # until the new one listens
            old.send_signal(signal.SIGTERM)
            assert old.wait(60) == 0
        else:
            return
        self.faults[kind] += 1

    def run(self) -> float:
        """Runs to the end. Returns the seconds."""
        began = fault = shown = time.monotonic()
        last = 0.4 * self.options.searches  # no faults of the server later: its memory is then seen for long
        while any(worker.poll() is None for worker in self.workers):
            time.sleep(0.25)
            now = time.monotonic()
            if now - began > 60 * self.options.minutes:
                self.stop()
            if now - began > self.faults["cases removed and added"]:
                self.change_case()
            if now - fault > self.options.faults_s:
                fault = now
                if self.searches() < last:
                    self.fault()
                elif running := [n for n, worker in enumerate(self.workers) if worker.poll() is None]:
                    number = self.random.choice(running)
                    self.workers[number].kill()
                    self.workers[number].wait()
                    self.workers[number] = self.start("worker", str(number))
                    self.faults["worker killed"] += 1
            if now - shown > self.options.progress_s:
                shown = now
                print(self.progress(now - began), flush=True)
            if not self.samples or now - began - self.samples[-1][0] > 1:
                largest = max(resident(worker) for worker in self.workers)
                self.samples.append((now - began, now - self.server_began, resident(self.server), largest))
        self.server.send_signal(signal.SIGTERM)
        assert self.server.wait(60) == 0, "the server did not end in order"
        return time.monotonic() - began

    def stop(self, *_: object) -> None:
        """Lets every episode end its call; then `run` returns. A handler of signals."""
        (self.folder / "stop").touch()

    def searches(self) -> int:
        return CALL * len(self.calls_made())

    def calls_made(self) -> list[list[str]]:
        """The calls in the logs: `call`, episode, number, searches, wrong ones."""
        lines = (line.split() for path in sorted(self.folder.glob("worker-*.log")) for line in read_lines(path))
        return [line for line in lines if line[0] == "call"]

    def progress(self, seconds: float) -> str:
        made = self.calls_made()
        wrong, faults = sum(int(line[4]) for line in made), "; ".join(f"{n} {what}" for what, n in self.faults.items())
        memory = f"server {self.samples[-1][2]:.0f} MB, largest worker {self.samples[-1][3]:.0f} MB"
        return f"{seconds:.0f} s: {CALL * len(made):,} searches, {wrong} wrong; {faults or 'no faults yet'}; {memory}"

    def report(self, seconds: float) -> list[Row]:
        lines = [line.split() for path in sorted(self.folder.glob("worker-*.log")) for line in read_lines(path)]
        calls = Counter((int(line[1]), int(line[2])) for line in lines if line[0] == "call")
        ends = Counter[int](dict.fromkeys(range(self.options.episodes), self.calls))
        if (self.folder / "stop").exists():  # then each episode made its first calls
            ends = Counter({episode: max(c for e, c in calls if e == episode) + 1 for episode, _ in calls})
        expected = {(episode, call) for episode, end in ends.items() for call in range(end)}
        events = Counter(line[1] for line in lines if line[0] == "event")
        values: dict[str, float | str] = {
            "searches": sum(int(line[3]) for line in lines if line[0] == "call"),
            "cases": self.next_case,
            "episodes": self.options.episodes,
            "seconds": seconds,
            **self.faults,
            "calls of a removed case, repeated": events["removed"],
            "calls that gave up after 20 ms, repeated": events["timeout"],
            "searches with a foreign, missing or changed passage": sum(int(x[4]) for x in lines if x[0] == "call"),
            "calls lost": len(expected - calls.keys()),
            "calls doubled": sum(count - 1 for count in calls.values()) + len(calls.keys() - expected),
        }
        server = self.samples[-1][0] - self.samples[-1][1]  # when the last one began; its first samples are left out
        last = [x for x in self.samples if x[0] - x[1] > server - 1 and x[1] >= self.samples[-1][1] * 0.05]
        last = last or self.samples[-1:]  # a server that has just begun
        for quarter in range(4):
            part = last[len(last) * quarter // 4 : len(last) * (quarter + 1) // 4] or last
            values[f"MB of the last server, quarter {quarter + 1}"] = max(sample[2] for sample in part)
            part = self.samples[len(self.samples) * quarter // 4 : len(self.samples) * (quarter + 1) // 4] or last
            values[f"MB of the largest worker, quarter {quarter + 1}"] = max(sample[3] for sample in part)
        return [{"what": name, "value": value} for name, value in values.items()]


def main() -> int:
    parser: ArgumentParser = parser_of(__doc__)
    parser.add_argument("--searches", type=int, default=1_000_000)
    parser.add_argument("--cases", type=int, default=1000, help="cases at a time")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--episodes", type=int, default=64, help="concurrent episodes of all workers")
    parser.add_argument("--faults-s", type=float, default=30, help="seconds between faults")
    parser.add_argument("--minutes", type=float, default=1440, help="end with fewer searches after this time")
    parser.add_argument("--progress-s", type=float, default=30, help="seconds between lines of progress")
    parser.add_argument("--seed", type=int, default=0)
    for internal, kind in (("worker", int), ("server", int), ("folder", Path), ("port", int), ("calls", int)):
        parser.add_argument(f"--{internal}", type=kind, help="internal")
    options = parser.parse_args()
    if options.server is not None:
        serve_cases(options.folder, options.port)
        return 0
    if options.worker is not None:
        own = range(options.worker, options.episodes, options.workers)
        run_worker(options.folder, options.port, options.worker, own, options.calls)
        return 0
    if (options.out / "soak-work").exists():
        parser.error(f"{options.out / 'soak-work'} exists: remove it, or give another --out")
    soak = Soak(options)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, soak.stop)
    try:
        rows = soak.report(soak.run())
    finally:
        for process in (soak.server, *soak.workers):
            if process.poll() is None:
                process.kill()
    write_rows(options.out, "soak", rows, vars(options))
    values = {row["what"]: row["value"] for row in rows}
    bad = ("searches with a foreign, missing or changed passage", "calls lost", "calls doubled")
    return int(any(values[name] for name in bad))


if __name__ == "__main__":
    sys.exit(main())
