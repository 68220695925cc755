"""Builds and splits LRBench at its full size, with a scripted teacher and renamed copies of the cases.

    python -m scripts.bench.full_build --data DATA --out runs/full-build
    python -m scripts.bench.full_build --data DATA --out runs/tenth --cases 120 --sizes 100 300 500 --test 10 --dev 5

DATA holds medical_medrbench, legal_echr_argmining and academic_f1000rd, which have too few cases: in copy n, a third of
the words of four letters or more have each letter moved by n in the alphabet, in the case, the decision and the
reasoning alike. `judge-r1 build recipes/data/lrbench.yaml` runs for the three domains at the same time, each with 50
requests in flight to the teacher `honest` of tests/support/fake_teacher.py behind HTTP; then `judge-r1 split` runs.
OUT/full_build.csv has

* seconds, processor seconds (without the server's), MB of memory and MB on disk of each command,
* thousands of tokens, 4/3 for each word; `cached_k` are those of the input that a provider's cache would have had,
* the hours of the calls if each takes 30 seconds, and USD by PRICES. No provider was called.
"""

import csv
import importlib
import json
import os
import string
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import count, islice
from pathlib import Path
from re import DOTALL, MULTILINE, compile
from zlib import crc32

from data_builders.prompts import DOMAINS
from data_builders.sources import SOURCES
from data_builders.teachers.answer_cache import Tokens
from data_builders.teachers.budget import Price
from judge_r1.core.records import Case
from judge_r1.files.jsonl import write_json, write_jsonl
from scripts.bench.output import Row, parser_of

ROOT = Path(__file__).resolve().parents[2]
CORPORA = {
    "medical": ("medrbench", "medical_medrbench"),
    "legal": ("echr", "legal_echr_argmining"),
    "academic": ("f1000rd", "academic_f1000rd"),
}
"""The source and the folder of each domain."""
TEXTS = ("context", "decision", "reference")
IN_FLIGHT, CALL_S = 50, 30
PRICES = {
    "claude-3.7-sonnet": Price(input=3, output=15, cached_input=0.3, stored_input=3.75),
    "gpt-4o": Price(input=2.5, output=10, cached_input=1.25),
    "deepseek-v3": Price(input=0.27, output=1.1, cached_input=0.07),
}
"""List prices of 2025, USD per million tokens. Input that is not read from the cache counts as stored there."""
_WORD, _LETTERS = compile(r"[A-Za-z]{4,}"), string.ascii_lowercase
_MATERIAL = compile(r"<case>\n(.*?)\n</case>.*<reasoning>\n(.*?)\n</reasoning>", DOTALL)
_HEADER = compile(r"^(?:Flawed Variant|Violated Principles).*", MULTILINE)
Answer = Callable[[str, str, int], str]
"""Maps a system prompt, a user prompt and the number of the sample to an answer."""


def renamed(text: str, number: int) -> str:
    """Copy `number` of a text. The same word becomes the same word, of the same length and case, in all texts."""
    turned = _LETTERS[number % 26 :] + _LETTERS[: number % 26]
    table = str.maketrans(_LETTERS + _LETTERS.upper(), turned + turned.upper())
    return _WORD.sub(
        lambda word: word[0].translate(table) if crc32(word[0].lower().encode()) % 3 == 0 else word[0], text
    )


class Corpus:
    """The cases of a domain, then their first copies, and so on, `wanted` in all."""

    def __init__(self, domain: str, data: Path, wanted: int) -> None:
        source, folder = CORPORA[domain]
        cases = list(SOURCES.get(source).read(data / folder, None, 0, Counter()))
        numbered = ((case, number) for number in count() for case in cases)
        self.domain, self.license, self.copies = domain, cases[0].license, list(islice(numbered, wanted))

    def write(self, out: Path) -> Path:
        """Writes the copies and the domain file that `judge-r1 build custom` reads."""
        out.mkdir(parents=True, exist_ok=True)
        write_jsonl(out / f"{self.domain}.jsonl", (self._row(*copy) for copy in self.copies))
        columns = {name: name for name in (*TEXTS, "id", "group")}
        described = {"domain": self.domain, "files": f"{self.domain}.jsonl", "columns": columns}
        wording = asdict(DOMAINS[self.domain])
        write_json(out / f"{self.domain}.yaml", {**described, **wording, "license": self.license})
        return out / f"{self.domain}.yaml"

    def _row(self, case: Case, number: int) -> dict[str, str]:
        group = f"{case.meta['group']}-{number}" if "group" in case.meta else ""
        texts = {name: renamed(getattr(case, name), number) for name in TEXTS}
        return {**texts, "id": f"{case.source}-{number}", "group": group}


def scripted(corpora: Sequence[Corpus], teacher: Answer) -> Answer:
    """The answers of `teacher` on a case, renamed for its copies: rules read each case once."""
    copies = [copy for corpus in corpora for copy in corpus.copies]
    known = {(renamed(case.context, n), renamed(case.reference, n)): (case, n) for case, n in copies}

    def answer(system: str, user: str, sample: int) -> str:
        found = _MATERIAL.search(user)
        assert found
        case, number = known[found[1], found[2]]
        for name in TEXTS:
            user = user.replace(f"\n{renamed(getattr(case, name), number)}\n", f"\n{getattr(case, name)}\n")
        text, parts, end = teacher(system, user, sample), list[str](), 0
        for header in _HEADER.finditer(text):
            parts += [renamed(text[end : header.start()], number), header[0]]
            end = header.end()
        return "".join([*parts, renamed(text[end:], number)])

    return answer


def measured(arguments: Sequence[object], out: Path) -> Row:
    """Runs a command of judge-r1 that writes `out`."""
    command, began = [sys.executable, "-m", "judge_r1.cli", *map(str, arguments), "--out", str(out)], time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return {
        "s": time.monotonic() - began,
        "cpu_s": used.ru_utime + used.ru_stime,
        "memory_mb": used.ru_maxrss / 1024,
        "disk_mb": sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6,
    }


def spent(tokens: Tokens) -> Row:
    """What the calls take, of a provider's tokens. A token of the scripted teacher is a word."""
    real = Tokens(tokens.calls, *(round(number * 4 / 3) for number in (tokens.input, tokens.output, tokens.cached)))
    marked = Tokens(real.calls, real.input, real.output, real.cached, real.input - real.cached)
    return {
        "calls": real.calls,
        "input_k": real.input / 1000,
        "cached_k": real.cached / 1000,
        "output_k": real.output / 1000,
        "hours": real.calls * CALL_S / IN_FLIGHT / 3600,
        **{f"{model}_usd": price.of(marked) for model, price in PRICES.items()},
    }


def build(domain: str, corpus: Path, out: Path, server: str) -> tuple[Row, Tokens]:
    """Builds a domain. Returns its row and the tokens, as words."""
    recipe = [ROOT / "recipes/data/lrbench.yaml", "source=custom", f"path={corpus}", f"teacher={server}"]
    row = measured(["build", *recipe, f"concurrency={IN_FLIGHT}"], out)
    counts = json.loads((out / "build.json").read_text(encoding="utf-8"))
    [bill] = json.loads((out / "timing.json").read_text(encoding="utf-8"))["spending"].values()
    tokens = Tokens(bill["calls"], bill["input_tokens"], bill["output_tokens"], bill["cached_tokens"])
    return {
        "command": f"build {domain}",
        "cases": counts["cases"],
        "pairs": counts["pairs"],
        **row,
        **spent(tokens),
    }, tokens


def _short(value: object) -> object:
    return value if not isinstance(value, float) else f"{value:.3g}" if value < 100 else round(value)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument(
        "--cases", type=int, nargs="+", default=[1200, 1200, 1400], help="medical, legal, academic; or one number"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000, 5000])
    parser.add_argument("--test", type=int, default=100)
    parser.add_argument("--dev", type=int, default=50)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    honest = importlib.import_module("fake_teacher").honest
    out, rows, total = options.out, list[Row](), Tokens()
    wanted = options.cases * 3 if len(options.cases) == 1 else options.cases
    folders = [(out / domain).resolve() for domain in CORPORA]
    corpora = [Corpus(domain, options.data, cases) for domain, cases in zip(CORPORA, wanted, strict=True)]
    with importlib.import_module("fake_llm_server").FakeLLMServer(scripted(corpora, honest)) as server:
        files = [corpus.write(out / "corpora").resolve() for corpus in corpora]
        with ThreadPoolExecutor() as pool:
            for row, tokens in pool.map(partial(build, server=server.chat), CORPORA, files, folders):
                total += tokens
                rows.append(row)
        if server.errors:
            raise SystemExit(f"the teacher failed: {server.errors[0]}")
    parts = ["--sizes", ",".join(map(str, options.sizes)), "--test", options.test, "--dev", options.dev]
    lrbench = (out / "lrbench").resolve()
    row = measured(["split", *folders, *parts], lrbench)
    rows.append({"command": "split", **row})
    for folder in sorted(lrbench.glob("*/")):
        sizes = {name: sum(1 for _ in (folder / f"{name}.jsonl").open("rb")) for name in ("cases", "pairs")}
        rows.append({"command": folder.name, **sizes})
    made = {name: sum(row[name] for row in rows[:3]) for name in ("cases", "pairs")}
    rows.append({"command": "all", **made, **spent(total)})
    with (out / "full_build.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _short(value) for name, value in row.items()} for row in rows)
    print((out / "full_build.csv").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
