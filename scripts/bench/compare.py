"""Compares the processor time and memory of this checkout with those of another revision, both in turn.

    python -m scripts.bench.compare 8ccd0052
    python -m scripts.bench.compare main --rows start-up sampling --repeats 5
    python -m scripts.bench.compare 8ccd0052 --rows demo tests --repeats 1    # about an hour and a half

Each measurement has a process of its own with one thread. `times` is the other revision's number over this one's, the
median of the repeats with the lowest and the highest. The other revision is checked out into a temporary folder, and
both read the same data, which this checkout builds.

`demo` and `tests` take long and are measured only when named. They are each revision's own: its data, its recipes, its
tests, in two workers. Set JUDGE_R1_REAL_DATA to the folder of the corpora; otherwise their tests are skipped.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from textwrap import dedent

from scripts.bench.output import Row, parser_of, write_rows

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("judge_r1", "data_builders", "retrieval", "scripts")

TRAINING = """
    import statistics
    from judge_r1.training.recipe import load_recipe
    from transformers.trainer_callback import CallbackHandler
    from judge_r1.training.pipeline import run_recipe
    from judge_r1.training.trl.grpo import TrlRollouts
    steps, sampling = [], []

    def timed(owner, name, into, *, begins=False):
        original = getattr(owner, name)

        def run(*args, **kwargs):
            started = time.process_time()
            found = original(*args, **kwargs)
            into.append(started if begins else time.process_time() - started)
            return found

        setattr(owner, name, run)

    timed(CallbackHandler, "on_step_begin", steps, begins=True)
    timed(TrlRollouts, "__call__", sampling)

    def typical(seconds):
        return statistics.median(seconds[1:])  # the first step warms up

    def train(name, *changes, **options):
        recipe = load_recipe(Path("haystack", name), [f"data.train={data}", *changes])
        run_recipe(recipe, Path(sys.argv[2]), **options)
        return typical([after - before for before, after in zip(steps, steps[1:])])
"""
RATIONALES = """
    from judge_r1.training.recipe import load_recipe
    from data_builders.rationales import rules
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer

    if hasattr(rules, "recipe_rationales"):
        written, examples = rules.recipe_rationales, "sft.examples"
    else:  # revisions before 2026-11-29
        written, examples = rules.recipe_traces, "sft.traces"

    def write(count):
        recipe = load_recipe(Path("haystack", "warmup"), [f"data.train={data}", f"{examples}={count}"])
        return written(recipe, load_pairs(data), SafeTokenizer(load_tokenizer(recipe.model)))
"""
_GRPO = '"model=bundled:haystack", "grpo.steps=3", "grpo.pairs_per_step=6", "grpo.micro_batch_size=24"'
_ANSWERS = """
import http.server, json
class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        text = '<answer>{"preferred": "A", "violations": []}</answer>'
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        reply["usage"] = usage
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
print(server.server_port, flush=True)
server.serve_forever()
"""
"""A chat endpoint that answers at once, in a process of its own."""


def _command(*arguments: str, before: str = "") -> str:
    """A program that prints the processor seconds of its whole process, which runs a command."""
    return f"""{before}
    import contextlib, io
    from judge_r1.cli import main
    sys.argv[1:] = [str(part) for part in ({", ".join(arguments)})]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main()
    except SystemExit as end:
        if end.code:
            raise
    print(time.process_time())
    """


WHOLE: Mapping[str, tuple[str, str]] = {
    "start-up": ("s for `judge-r1 --help`", "cli('--help')"),
    "demo": ("s for `judge-r1 demo`", "cli('demo', '--out', sys.argv[2])"),
    "tests": (
        "s for the tests",
        "command = [sys.executable, '-m', 'pytest', '-q', '-n', '2', '--dist', 'loadfile']\n"
        "sys.exit(subprocess.run(command).returncode > 1)",  # 1: a test failed
    ),
}
"""Row -> its unit, and the program whose processor time counts, with that of the processes that it waits for."""
MEASURES: Mapping[str, tuple[str, str]] = {
    "rationales": (
        "ms for a rationale of the warm-up",
        f"""{RATIONALES}
    write(10)
    started = time.process_time()
    write(200)
    print((time.process_time() - started) * 1000 / 200)
    """,
    ),
    "warm-up step": (
        "s for 16 rationales",
        f"""{RATIONALES}{TRAINING}
    print(train("warmup", f"{{examples}}=80", rationales=written))
    """,
    ),
    "GRPO step": (
        "s for 48 episodes",
        f"""{TRAINING}
    print(train("grpo", {_GRPO}))
    """,
    ),
    "sampling": (
        "s for 48 episodes",
        f"""{TRAINING}
    train("grpo", {_GRPO})
    print(typical(sampling))
    """,
    ),
    "build": (
        "ms for a pair by rules",
        """
    from data_builders.build import build
    build("builtin", Path(sys.argv[2], "first"), variants=1, limit=1)
    started = time.process_time()
    build("builtin", Path(sys.argv[2]), variants=5, limit=6)
    pairs = Path(sys.argv[2], "pairs.jsonl").read_text(encoding="utf-8").count(chr(10))
    print((time.process_time() - started) * 1000 / pairs)
    """,
    ),
    "reading": (
        "ms for a variant that bundled:smollm2-135m reads, six sets of eight of a reference",
        """
    from data_builders.sources import SOURCES
    from data_builders.text_units.likelihood import LikelihoodReader
    reference = next(iter(SOURCES.get("builtin").read(None, 1, 0, Counter()))).reference
    words = reference.split(" ")
    variants = [" ".join([*words[:at], "seldom", *words[at + 1 :]]) for at in range(0, len(words), len(words) // 48)]
    reader = LikelihoodReader("bundled:smollm2-135m")
    reader.read([variants[-1]])
    started = time.process_time()
    reader.read([reference, *variants])
    print((time.process_time() - started) * 1000 / 48)
    """,
    ),
    "stats": (
        "s for `judge-r1 stats`",
        _command("'stats'", "data", "'--out'", "sys.argv[2]"),
    ),
    "stats memory": (
        "MB at the peak of `judge-r1 stats`",
        _command("'stats'", "data", "'--out'", "sys.argv[2]")
        + """
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    """,
    ),
    "eval": (
        "s for `judge-r1 eval` of 4 items at an endpoint that answers at once",
        _command(
            "'eval'",
            "'--judge'",
            "judge",
            "'--path'",
            "data",
            "'--limit'",
            "4",
            "'--out'",
            "sys.argv[2] + '/eval'",
            before=f"""
    import atexit, subprocess
    endpoint = subprocess.Popen([sys.executable, "-c", {_ANSWERS!r}], stdout=subprocess.PIPE, text=True)
    atexit.register(endpoint.kill)
    judge = f"direct@http://127.0.0.1:{{endpoint.stdout.readline().strip()}}/v1#m"
    """,
        ),
    ),
    "evaluation": (
        "MB at the peak of an evaluation of 100,000 episodes with its report",
        f"""
    import runpy
    print(runpy.run_path({str(ROOT / "scripts" / "bench" / "eval_memory.py")!r})["measure"](100_000)["peak_MB"])
    """,
    ),
    "worker": (
        "bytes that a worker keeps for each of 20,000 cases",
        """
    import gc, os, tracemalloc
    from types import SimpleNamespace
    import numpy
    from judge_r1.files.pair_set import CaseTexts, open_cases
    from judge_r1.core.records import Case
    from retrieval.store import VectorStore, fill_store
    os.fsync = lambda descriptor: None  # takes minutes, and is not measured
    folder = Path(sys.argv[2])
    fixed = dict.fromkeys(("domain", "decision", "reference", "source", "license"), "text")
    with open(folder / "cases.jsonl", "w", encoding="utf-8") as file:
        for n in range(20_000):
            print(Case.of(context=f"case {n}", **fixed).model_dump_json(by_alias=True), file=file)
    half = SimpleNamespace(name="half", dim=4, encode_passages=lambda texts: numpy.full((len(texts), 4), 0.5, "f4"))
    texts = CaseTexts(open_cases(folder))
    fill_store(VectorStore(folder, half, 100), texts, list(texts))
    tracemalloc.start()
    kept = open_cases(folder), VectorStore(folder, half, 100)
    gc.collect()
    print(tracemalloc.get_traced_memory()[0] / len(texts))
    """,
    ),
}
"""Row -> its unit, and the program that prints one number. Its arguments are the data and a folder to write."""
DATA = """
import sys
from pathlib import Path
from data_builders.haystack_splits import build_split
build_split(Path(sys.argv[1]), "train", 20)
"""
# The finder of an editable install would give the modules that `root` lacks (findings/editable_submodules.sh).
_ALONE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not finder.__module__.startswith("__editable__")]
"""
_COMMAND = """
import subprocess, sys
def cli(*arguments):
    from judge_r1.cli import main
    sys.argv[:] = ["judge-r1", *arguments]
    main()
"""
BEGIN = """
import sys, time
from collections import Counter
from pathlib import Path
data = Path(sys.argv[1])
"""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("revision", help="a commit, branch or tag")
    rows = ["start-up", *MEASURES]
    parser.add_argument("--rows", nargs="+", choices=[*WHOLE, *MEASURES], default=rows, help="all but demo and tests")
    parser.add_argument("--repeats", type=int, default=3, help="of each row (3)")
    given = parser.parse_args()
    with checkout(given.revision) as other, tempfile.TemporaryDirectory(prefix="compare-") as folder:
        data = Path(folder) / "data"
        if not WHOLE.keys() >= set(given.rows):
            run(ROOT, DATA, str(data))
        for tree in (ROOT, other):  # else the first process of each side compiles
            subprocess.run([sys.executable, "-m", "compileall", "-q", *PACKAGES], cwd=tree, check=True)
        found = list[Row]()
        for name in given.rows:
            found.append(compare(name, other, data, given.repeats))
            write_rows(given.out, "compare", found, vars(given))  # a later row may fail


def compare(name: str, other: Path, data: Path, repeats: int) -> Row:
    """Measures both sides in turn."""
    here, there = [], []
    for _ in range(repeats):
        here.append(measure(name, ROOT, data))
        there.append(measure(name, other, data))
    ratios = sorted(before / after for before, after in zip(there, here, strict=True))
    unit, _ = WHOLE[name] if name in WHOLE else MEASURES[name]
    return {"row": name, "unit": unit, "here": median(here), "there": median(there), "times": median(ratios)} | {
        "lowest": ratios[0], "highest": ratios[-1]
    }  # fmt: skip


def measure(name: str, root: Path, data: Path) -> float:
    """One measurement of the code in `root`, in a new process."""
    with tempfile.TemporaryDirectory(prefix="compare-run-") as folder:
        if name not in WHOLE:
            return float(run(root, BEGIN + dedent(MEASURES[name][1]), str(data), folder).split()[-1])
        before = _seconds_of_children()
        printed = run(root, _COMMAND + WHOLE[name][1], str(data), folder)
        seconds = _seconds_of_children() - before
        if name != "start-up":
            print(f"{root}: {name}: {printed.splitlines()[-1]}", file=sys.stderr, flush=True)
        return seconds


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(root: Path, program: str, *arguments: str) -> str:
    """The output of a Python program that imports the code in `root`, and nothing from an installed checkout. Its own
    processes may find modules there that `root` lacks."""
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", _ALONE + program, *arguments]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{root}: the measurement failed:\n{done.stderr[-2000:]}")
    return done.stdout


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A git worktree of the revision, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="compare-worktree-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        if subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=False).returncode:
            raise SystemExit(f"no worktree of {revision}")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


if __name__ == "__main__":
    main()
