"""A workspace of valid files, and ways to damage one of them."""

import contextlib
import ctypes
import gzip
import io
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from label_factories import write_csv
from typer.testing import CliRunner

RECIPE = """\
name: attacked
stage: sft
model: bundled:tiny
data: {train: DATA}
episode:
  context: none
  prompt: compact
  retriever: bm25
  prompt_tokens: 1000
  budget: {max_searches: 6, top_k: 1, passage_words: 3, response_tokens: 96, observation_tokens: 32}
sft: {rationales: mini-hasty, epochs: 1, examples: 8, batch_size: 4, micro_batch_size: 4, max_steps: 2}
save_every: 1
"""
CLUSTER = """\
kind: slurm
partition: gpu
nodes: 1
gpus_per_node: 1
time: "01:00:00"
folder: /shared/judge-r1
venv: /shared/judge-r1/.venv
"""
DOMAIN = """\
domain: insurance claims
role: a claims adjuster
decision_name: coverage decision
files: claims.jsonl
columns: {context: file, decision: outcome, reference: why, id: number}
license: CC BY 4.0
"""
CLAIM = {
    "number": 7,
    "file": "A hose of Ana burst on 3 May. The adjuster visited the flat of Ana on 5 May and saw 4 cm of water.",
    "outcome": "covered",
    "why": (
        "1. Ana's hose burst on 3 May, so the damage was sudden.\n"
        "2. The adjuster visited the flat of Ana on 5 May and saw 4 cm of water.\n"
        "3. The claim is covered because a hose of Ana burst in the flat."
    ),
}
PRICES = "m: {input: 1.0, output: 2.0}\n"


def cli(*arguments: str | Path) -> None:
    """Runs a command in this process. It must succeed."""
    from judge_r1.cli import app

    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, (arguments, result.output)


def make_workspace(root: Path) -> Path:
    """A folder with the inputs of every command: data, recipe, cluster, evaluation, run, keys, answers and others."""
    from audit_factories import choose
    from hellobench_factories import instruction_row

    from judge_r1.benchmarks.casebook.cases import FOLDER
    from judge_r1.files.jsonl import write_jsonl
    from judge_r1.files.pair_set import load_pairs
    from judge_r1.files.transcripts import read_conversations

    write = {
        "recipe.yaml": RECIPE.replace("DATA", str(root / "data")), "cluster.yaml": CLUSTER, "prices.yaml": PRICES,
        "domain.yaml": DOMAIN, "claims.jsonl": json.dumps(CLAIM) + "\n",
    }  # fmt: skip
    root.mkdir(parents=True, exist_ok=True)
    for name, text in write.items():
        (root / name).write_text(text, encoding="utf-8")
    (root / "casebook" / "test").mkdir(parents=True)
    shutil.copy(next((FOLDER / "test").iterdir()), root / "casebook" / "test" / "one.yaml")
    lines = [{"confidence": n / 40, "correct": n % 3 > 0, "cluster": f"c{n % 20}"} for n in range(40)]
    write_jsonl(root / "confidences.jsonl", lines)
    scores = [{"category": "rewrite", "scores": [n % 2, 1, 0.5], "overall": 3 + n % 5} for n in range(6)]
    write_jsonl(root / "annotations.jsonl", scores)
    answers = [{"annotator": who, "id": str(n), "answer": n % 2} for who in ("ana", "ben") for n in range(6)]
    write_jsonl(root / "people.jsonl", answers)
    write_jsonl(root / "hellobench" / "data" / "main_data" / "chat.jsonl", [instruction_row("rewrite", 0)])
    answered = [(judge, item) for judge in range(4) for item in range(8)]
    write_jsonl(
        root / "votes.jsonl",
        [
            {"judge": f"j{judge}", "item": f"i{item}", "score": (item * (judge + 1) // 3) % 2}
            for judge, item in answered
        ],
    )
    rated = [(document, task, length) for document in "abc" for task in ("gold", "41") for length in ("full", "2000")]
    write_jsonl(
        root / "scores.jsonl",
        [
            {"judge": "j", "document": document, "length": length, "task": task, "fluency": 5 - len(task) / 4}
            for document, task, length in rated
        ],
    )
    write_jsonl(
        root / "sampled.jsonl",
        [
            {"step": step, "prompt": f"p{number}", "answer": "a b" * (step + number + 1)}
            for step in (0, 5)
            for number in range(3)
        ],
    )
    cli("build", "mini", "limit=12", "variants=1", "--out", root / "data")
    cli("build", "mini", "limit=2", "variants=1", "seed=5", "--out", root / "examples")
    (root / "cases.jsonl").write_text((root / "data" / "cases.jsonl").read_text(encoding="utf-8").split("\n")[0] + "\n")
    pairs = load_pairs(root / "data").pairs
    write_jsonl(root / "answers.jsonl", [choose(pair, True) for pair in pairs])
    cli("build", "mini-conversations", "limit=12", "variants=1", "--out", root / "talks")
    talks, _ = read_conversations(root / "talks")
    label = {"schema": 1, "annotator": "ana", "label": "clean", "at": "2026-11-24"}
    write_jsonl(root / "labels.jsonl", [label | {"pair_id": pair.pair_id} for pair in talks])
    cli("audit", "sample", root / "data", "--per-principle", "1", "--out", root / "sheet")
    sheet = map(json.loads, (root / "sheet" / "sheet.jsonl").read_text(encoding="utf-8").splitlines())
    write_jsonl(root / "read.jsonl", [line | {"real": True, "natural": False} for line in sheet])
    cli("keys", "add", "ana", "--file", root / "keys.json")
    compared = {
        "source": "livebench-math", "response_model": "m", "response_A": "one", "response_B": "two", "label": "A>B",
    }  # fmt: skip
    write_jsonl(
        root / "judgebench" / "data.jsonl", [compared | {"pair_id": f"p{n}", "question": f"q{n}"} for n in range(4)]
    )
    write_jsonl(root / "texts.jsonl", [{"instruction": f"do {n}", "response": "text " * n} for n in range(1, 4)])
    write_jsonl(root / "results.jsonl", [{"custom_id": "x", "response": {"status_code": 200, "body": {}}}])
    said = [{"role": "user", "content": "Run the tests."}, {"role": "assistant", "content": "They pass."}]
    (root / "run.json").write_text(json.dumps(said, indent=1) + "\n")
    (root / "rubric.yaml").write_text("- question: Is it right?\n  weight: 2\n- question: Is it short?\n")
    (root / "people.csv").write_text("annotator,id,answer\nana,1,1\nben,1,0\nana,2,1\nben,2,1\n")
    words = ["pass", "fail"] * 60
    labelled = [{"id": f"i{n}", "output": f"text {n}", "label": word, "verdict": word} for n, word in enumerate(words)]
    write_csv(root / "my.csv", labelled)
    write_jsonl(root / "pool.jsonl", [{"id": f"p{n}", "verdict": word} for n, word in enumerate(words)])
    cli("labels", "check", root / "my.csv", "--verdicts", "verdict", "--out", root / "checked")
    cli("labels", "pin", root / "checked", "--out", root / "gate.json")
    (root / "books").mkdir()
    talk = "Ana went to the house of Ben on day {}. She saw him there, and he gave her a book that he had read."
    (root / "books" / "one.txt").write_text("\n\n".join(talk.format(day) for day in range(40)))
    cli("build", "cofluence", f"path={root / 'books'}", "--out", root / "copies")
    cli("rate", root / "votes.jsonl", "--out", root / "rating")
    judges = ["--judge", "longer", "--judge", "tiny=agentic@bundled:tiny", "--recipe", root / "recipe.yaml"]
    with contextlib.redirect_stderr(io.StringIO()):
        cli("eval", *judges, "--path", root / "data", "--limit", "2", "--out", root / "eval")
        cli("train", root / "recipe.yaml", "--processes", "1", "--out", root / "run")
    return root


@dataclass(frozen=True)
class Damage:
    """A damage of one file or folder. `to_folders` and `to_files` say what it applies to."""

    apply: Callable[[Path], object]
    to_files: bool = True
    to_folders: bool = False
    only: str = ""
    """The ending of the files that it applies to."""

    def applies(self, path: str) -> bool:
        """Does it apply to a file or folder of this name? A name with a dot is that of a file."""
        if "." not in Path(path).name:
            return self.to_folders
        return self.to_files and path.endswith(tuple(self.only.split()) or "")


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(path: Path) -> None:
        remove(path)
        make(path)

    return replace


def _content(content: bytes) -> Callable[[Path], object]:
    return _replaced(lambda path: path.write_bytes(content))


def _cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: max(1, len(data) * 2 // 3 - 7)])


def _edited(edit: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(edit(path.read_bytes()))


def _with_nan(data: bytes) -> bytes:
    """Replaces the first value of a JSON or YAML object."""
    value = rb"true|false|null|-?[0-9][0-9.e+-]*"
    json_value, yaml_value = rb'("[^"\n]*": ?)("(?:[^"\\\n]|\\.)*"|' + value + rb")", rb"^([ -]*\w+: )(.+)$"
    changed = re.sub(json_value, rb"\1NaN", data, count=1)
    return changed if changed != data else re.sub(yaml_value, rb"\1.nan", data, count=1, flags=re.MULTILINE)


def _compressed(path: Path) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def _in_utf16(path: Path) -> None:
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))


def _prefixed(prefix: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(prefix + path.read_bytes())


DAMAGES = {
    "missing": Damage(remove, to_folders=True),
    "wrong type, a folder": Damage(_replaced(Path.mkdir)),
    "wrong type, a file": Damage(_replaced(lambda path: path.write_bytes(b"x\n")), to_files=False, to_folders=True),
    "empty": Damage(_content(b"")),
    "empty folder": Damage(_replaced(Path.mkdir), to_files=False, to_folders=True),
    "truncated": Damage(_cut, only=".jsonl .json .safetensors .pt"),
    "other schema": Damage(_content(b'{"a": 1}\n')),
    "a list": Damage(_content(b"[1]\n")),
    "a number": Damage(_content(b"3\n")),
    "unreadable": Damage(_replaced(lambda path: path.symlink_to("/proc/self/mem"))),
    "a loop of links": Damage(_replaced(lambda path: path.symlink_to(path)), to_folders=True),
    "binary": Damage(_content(bytes(range(256)))),
    "UTF-16": Damage(_in_utf16, only=".json .jsonl .yaml"),
    "byte order mark": Damage(_prefixed(b"\xef\xbb\xbf"), only=".json .jsonl"),
    "null byte": Damage(_edited(lambda data: data[: len(data) // 2] + b"\0" + data[len(data) // 2 :])),
    "NaN": Damage(_edited(_with_nan), only=".json .jsonl .yaml"),
    "repeated record": Damage(_edited(lambda data: data.partition(b"\n")[0] + b"\n" + data), only=".jsonl"),
    "a line of 4 MiB": Damage(_content(b'{"a": "' + b"x" * 2**22 + b'"}\n')),
    "gzip": Damage(_edited(gzip.compress)),
    "gzip, with its ending": Damage(_compressed),
    "another ending": Damage(lambda path: path.rename(path.with_suffix(".text"))),
    "200,000 levels": Damage(_content(b"[" * 200_000 + b"]" * 200_000 + b"\n")),
    "6,000 digits": Damage(_content(b'{"a": ' + b"9" * 6_000 + b"}\n")),
    "repeated key": Damage(_content(b'{"a": 1, "a": 2}\n')),
}  # fmt: skip
LEGAL = Damage(_edited(lambda data: data.replace(b"\n", b"\r\n\r\n").rstrip(b"\r\n")), only=".json .jsonl .yaml .csv")
"""Line ends of Windows, empty lines, and no line end after the last line."""


def listing(root: Path) -> dict[str, int]:
    """Every file below a folder, hidden ones included, with its size."""
    return {
        str(path.relative_to(root)): path.lstat().st_size
        for path in sorted(root.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }


def let_permissions_bind() -> bool:
    """Takes from root, in this process, the right to ignore the permissions of files. Returns whether they bind."""
    if os.getuid() != 0:
        return True
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the structure, this process
    sets = (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets) != 0:
        return False
    sets[0] &= ~0b110  # effective: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    return bool(libc.capset(header, sets) == 0)
