"""Measures builds with a teacher: overhead, peak memory, and recovery from faults and kills.

    python -m scripts.bench.build real --data DIR --out DIR   builds all real cases (7 sets, 5 variants) with a fake
                                                              teacher; repeats it under faults and kills and compares
                                                              the files byte for byte
    python -m scripts.bench.build overhead --data DIR         answers per second with an instant teacher
    python -m scripts.bench.build memory --plot FILE          peak memory at 10,000, 30,000 and 100,000 pairs

The teacher "liar" (tests/support/fake_teacher.py) makes variants with the rule engine and corrupts a third of them.
The teacher "swap" inserts an unknown word into one or two steps. `overhead` prepares all answers beforehand and also
reports the CPU time of the builder, which varies less on a shared machine than wall time.
"""

import argparse
import asyncio
import importlib
import json
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from data_builders.build import build, build_by_teacher
from data_builders.generators.base import BuildPlan
from data_builders.sources import SOURCES, Source
from data_builders.teachers import TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import Cache
from data_builders.teachers.budget import Spending
from data_builders.teachers.cached_teacher import CachedTeacher, ConcurrencyGate
from data_builders.text_units.steps import split_steps
from judge_r1.core.principles import NUMBERS
from judge_r1.core.records import Case

ROOT = Path(__file__).resolve().parents[2]
REAL = ("medrbench", "echr", "f1000rd", "elife")
SETS = [*(f"P{number}" for number in NUMBERS), "multi"]
CONCURRENCY, KILLS, FAULTS = 32, 5, 0.3
STALL_S, LATENCY_S, CUT, TIMEOUT_S = 0.5, 0.1, 0.03, 1800.0
"""Duration of an injected stall, and of a good answer in the fault run, so that a kill finds calls in flight. `CUT` is
the share of requests whose answer is truncated at the token limit, in both runs."""
DATA_FILES = ("cases.jsonl", "pairs.jsonl", "opinions.jsonl", "build.json")
CALM_COLUMNS = (
    *(
        "calm",
        "cases",
        "pairs",
        "teacher answers",
        "verifier answers",
        "repeated calls",
        "verifier agrees",
        "unreadable",
    ),
    *("seconds", "answers/s", "peak MB"),
)
FAULT_COLUMNS = ("faults", "requests", "failed", "kills", "lost per kill", "repeated calls", "seconds", "files equal")
"""Lost: answers to a build that was already killed, at most CONCURRENCY from each of teacher and verifier."""
MODES = ("no cache", "new answers", "all cached")
PAIRS_PER_CASE = 25.5
"""Pairs that the teacher `swap` yields per `mini` case."""

_REASONING = re.compile(r"<reasoning>\n(.*)\n</reasoning>", re.DOTALL)
_WANTED = re.compile(r"^Flawed Variant (\d+):$", re.MULTILINE)


# ---- instant teachers ----


def swap_answer(request: TeacherRequest) -> str:
    """Variant k has the word `zyxal` in step k; multi variants have it in two steps."""
    found = _REASONING.search(request.user)
    assert found
    target = re.search(r"^Target principle: (\d)", request.user, re.MULTILINE)
    steps, parts = split_steps(found[1]), []
    pairs = list(combinations(range(len(steps)), 2))
    for number in map(int, _WANTED.findall(request.user[found.end() :])):
        where = [number - 1] if target else list(pairs[(number - 1) % len(pairs)])
        text = found[1]
        for step in sorted(where, reverse=True):
            word = re.compile(r"[^\W\d_]{3,}").search(text, steps[step].start)
            at = word.start() if word else steps[step].start
            text = f"{text[:at]}zyxal{target[1] if target else ''} {text[at:]}"
        listed = "" if target else f"Violated Principles: [{number}, {number % 6 + 1}]\n"
        parts.append(f"Flawed Variant {number}:\n{listed}{text}")
    return "\n\n".join(parts)


class InstantTeacher:
    """Answers with a function, without delay."""

    name = "stub:at-once"

    def __init__(self, answer: Callable[[TeacherRequest], str]) -> None:
        self._answer = answer

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        return TeacherReply(text=self._answer(request), input_tokens=1, output_tokens=1, finished=True, model="stub")


def recording(answer: Callable[[TeacherRequest], str], known: dict[TeacherRequest, str]) -> InstantTeacher:
    """An instant teacher that records its answers in `known`."""

    def record(request: TeacherRequest) -> str:
        known[request] = answer(request)
        return known[request]

    return InstantTeacher(record)


def run_build(plan: BuildPlan, out: Path, teacher: InstantTeacher, cache_file: Path | None) -> dict[str, Any]:
    async def work() -> dict[str, Any]:
        if cache_file is None:
            return await build_by_teacher(plan, out, teacher, concurrency=CONCURRENCY)
        with Cache(cache_file) as cache:
            cached = CachedTeacher(teacher, cache, ConcurrencyGate(Spending(), CONCURRENCY))
            return await build_by_teacher(plan, out, cached, concurrency=CONCURRENCY)

    return asyncio.run(work())


# ---- measurements ----


def overhead(data: Path | None, repeats: int) -> None:
    fake_teacher = test_module("fake_teacher")
    teachers: dict[str, Callable[[TeacherRequest], str]] = {
        "swap": swap_answer,
        "liar": lambda request: fake_teacher.liar(request.system, request.user, request.sample),
    }
    prepared: list[Case] = []
    SOURCES.register("prepared")(Source(read=lambda path, limit, seed, skipped: iter(prepared), help="cases in memory"))
    rows = []
    for source in (*REAL, "mini") if data else ("mini",):
        prepared[:] = SOURCES.get(source).read(data, 300 if source == "mini" else None, 0, Counter())
        for name, answer in teachers.items():
            known: dict[TeacherRequest, str] = {}
            with TemporaryDirectory() as folder:
                run_build(BuildPlan("prepared"), Path(folder), recording(answer, known), None)
                counts, rates = _rates(InstantTeacher(known.__getitem__), Path(folder), repeats)
            answers, size = counts["teacher"]["answers"], sum(map(len, known.values())) // len(known)
            rows.append((source, name, counts["cases"], counts["pairs"], answers, size, *rates))
            print(rows[-1], flush=True)
    print("\nAnswers per second: median (minimum to maximum). CPU per answer: median in ms.")
    table(("source", "teacher", "cases", "pairs", "answers", "characters", *(f"{mode}, CPU" for mode in MODES)), rows)


def _rates(teacher: InstantTeacher, folder: Path, repeats: int) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, list[tuple[float, float]]] = {mode: [] for mode in MODES}
    for number in range(repeats):
        file = folder / f"{number}.sqlite"
        for mode, cache in zip(MODES, (None, file, file), strict=True):
            started, used = time.perf_counter(), time.process_time()
            counts = run_build(BuildPlan("prepared"), folder / "out", teacher, cache)
            seconds, cpu = time.perf_counter() - started, time.process_time() - used
            answers = counts["teacher"]["answers"]
            found[mode].append((answers / seconds, 1000 * cpu / answers))
    return counts, [_spread(*zip(*runs, strict=True)) for runs in found.values()]


def _spread(rates: Sequence[float], cpu: Sequence[float]) -> str:
    return f"{median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f}), {median(cpu):.2f}"


def memory(sizes: Sequence[int], plot: Path | None) -> None:
    found: dict[str, list[tuple[int, float]]] = {"by teacher": [], "by rules": []}
    for kind, points in found.items():
        for size in sizes:
            command = [sys.executable, "-m", "scripts.bench.build", "one", "--pairs", str(size), "--kind", kind]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            row = json.loads(done.stdout.splitlines()[-1])
            points.append((row["pairs"], row["peak_mb"]))
            print(f"{kind}: {row}", flush=True)
    if plot:
        draw(found, plot)


def one(pairs: int, kind: str) -> None:
    """Builds about `pairs` pairs in this process and prints its peak memory."""
    with TemporaryDirectory() as folder:
        started = time.perf_counter()
        if kind == "by rules":
            counts = build("mini", Path(folder), limit=round(pairs / 17))
        else:
            plan = BuildPlan("mini", limit=round(pairs / PAIRS_PER_CASE))
            counts = run_build(plan, Path(folder), InstantTeacher(swap_answer), Path(folder) / "answers.sqlite")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = (Path(folder) / "pairs.jsonl").stat().st_size / 2**20
    seconds = time.perf_counter() - started
    row = {"pairs": counts["pairs"], "peak_mb": round(peak, 1), "file_mb": round(size), "seconds": round(seconds)}
    print(json.dumps(row))


def draw(found: dict[str, list[tuple[int, float]]], file: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "build", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 2.6))
    for kind, points in found.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=kind)
    top = 1.2 * max(peak for points in found.values() for _, peak in points)
    axes.set(xlabel="pairs built", ylabel="peak memory (MB)", xlim=(0, None), ylim=(0, top))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})


def real(data: Path, out: Path, sources: Sequence[str], limit: int | None) -> None:
    """Raises SystemExit if the fault run differs from the calm run, or repeats more calls than were lost."""
    fake_teacher, server_module, fault_run = map(test_module, ("fake_teacher", "fake_llm_server", "fault_run"))
    calm_rows: list[tuple[object, ...]] = []
    fault_rows: list[tuple[object, ...]] = []
    counts: list[dict[str, Any]] = []
    broken: list[str] = []
    for source in sources:
        started = time.perf_counter()
        for case in SOURCES.get(source).read(data, limit, 0, Counter()):
            fake_teacher.variants_of(case.domain, case.context, case.decision, case.reference)
        print(f"{source}: variants prepared in {time.perf_counter() - started:.0f} s", flush=True)
        common = [source, "--path", str(data), "--concurrency", str(CONCURRENCY)]
        common += ["--limit", str(limit)] if limit else []

        def build_at(name: str, server: Any, kills: Sequence[int], source: str, common: list[str]) -> Any:
            second = server.chat.replace("#toy", "#second")
            command = [*common, "--out", str(out / source / name), "--teacher", server.chat, "--verify", second]
            cache = out / source / f"{name}.sqlite"
            return fault_run.build(command, server, cache, kills=kills, seed=7, timeout_s=TIMEOUT_S)

        with server_module.FakeLLMServer(fake_teacher.liar, faults=server_module.Faults(cut=CUT)) as server:
            calm = build_at("calm", server, [], source, common)
            stats = server.stats()
        report = json.loads((out / source / "calm" / "build.json").read_text())
        timing = json.loads((out / source / "calm" / "timing.json").read_text())
        counts.append(report["teacher"])
        agreement = report["verifier"]["agreement"]["all"]
        served = stats["served"]
        calm_rows.append(
            (
                *(source, report["cases"], report["pairs"], report["teacher"]["answers"], agreement["pairs"]),
                *(stats["repeated"], agreement["worse_agreed"], agreement["unreadable"], round(calm.seconds)),
                *(round(served / calm.seconds), timing["peak_memory_mb"]),
            )
        )
        print(f"  calm: {calm_rows[-1]} {stats}", flush=True)
        broken += [f"{source}, calm: {error}" for error in stats["errors"]]
        broken += [f"{source}, calm: {stats['repeated']} repeated calls"] * bool(stats["repeated"])

        moments = [int(served * (number + 0.5) / KILLS) for number in range(KILLS)]
        faults = server_module.Faults(rate=FAULTS, stall_s=STALL_S, cut=CUT)
        with server_module.FakeLLMServer(fake_teacher.liar, faults=faults, latency_s=LATENCY_S) as server:
            faulty = build_at("faults", server, moments, source, common)
            stats = server.stats()
        same = [
            (out / source / "calm" / name).read_bytes() == (out / source / "faults" / name).read_bytes()
            for name in DATA_FILES
        ]
        fault_rows.append(
            (
                *(source, stats["calls"], sum(stats["injected"].values()), faulty.kills),
                *(" + ".join(map(str, faulty.lost)), stats["repeated"], round(faulty.seconds)),
                f"{sum(same)} of {len(same)}",
            )
        )
        print(f"  faults, killed after {moments} answers: {fault_rows[-1]} {stats}", flush=True)
        broken += [f"{source}, faults: {error}" for error in stats["errors"]]
        broken += [f"{source}: files differ"] * (not all(same))
        broken += [f"{source}: {faulty.kills} kills"] * (faulty.kills != KILLS)
        broken += [f"{source}: {stats['repeated']} repeated calls"] * (stats["repeated"] > sum(faulty.lost))
        broken += [f"{source}: lost {faulty.lost}"] * any(lost > 2 * CONCURRENCY for lost in faulty.lost)
    table(CALM_COLUMNS, calm_rows)
    table(FAULT_COLUMNS, fault_rows)
    rejections(counts)
    if broken:
        raise SystemExit("FAILED: " + "; ".join(broken))


def rejections(reports: Sequence[dict[str, Any]]) -> None:
    """Prints the rejection reasons per set, summed over all sources."""
    counts: dict[str, Counter[str]] = {"**wanted**": Counter(), "**accepted**": Counter()}
    reasons: dict[str, Counter[str]] = {}
    for report in reports:
        counts["**wanted**"].update(report["wanted"])
        counts["**accepted**"].update(report["accepted"])
        for key, count in report["rejected"].items():
            name, _, reason = key.partition(": ")
            reasons.setdefault(reason, Counter())[name] += count
    counts |= dict(sorted(reasons.items(), key=lambda entry: -entry[1].total()))
    rows = [(title, *(count[name] for name in SETS), count.total()) for title, count in counts.items()]
    table(("", *SETS, "all"), rows)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a Markdown table."""
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |")


def test_module(name: str) -> Any:
    """Imports a module of tests/support, where the fake teacher and its server are."""
    if str(ROOT / "tests" / "support") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests" / "support"))
    return importlib.import_module(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("real")
    command.add_argument("--data", type=Path, required=True)
    command.add_argument("--out", type=Path, required=True)
    command.add_argument("--sources", nargs="+", default=REAL)
    command.add_argument("--limit", type=int, help="cases of each source, for a first try")
    command = commands.add_parser("overhead")
    command.add_argument("--data", type=Path)
    command.add_argument("--repeats", type=int, default=3)
    command = commands.add_parser("memory")
    command.add_argument("--sizes", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    command.add_argument("--plot", type=Path)
    command = commands.add_parser("one")
    command.add_argument("--pairs", type=int, required=True)
    command.add_argument("--kind", required=True)
    options = vars(parser.parse_args())
    run: dict[str, Callable[..., None]] = {"real": real, "overhead": overhead, "memory": memory, "one": one}
    run[options.pop("command")](**options)


if __name__ == "__main__":
    main()
