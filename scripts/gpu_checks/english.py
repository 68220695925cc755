"""Trains a judge of real English on one GPU and compares it with controls: SmolLM2-135M, SFT on rationales, then GRPO
with search, on the training part of the casebook. A call that its deadline stops exits with 75; the next one continues
where it was.

    python -m scripts.gpu_checks.english --seconds 540 --out runs/gpu-check     # again, until it says `english: done`

Weights in pieces (runs/gpu-check-weights/model.safetensors.*, beside the other files of the model) are joined first.
The rows are on the dev part; `ENGLISH_PART=test` reads the test part, once. OUT/english/eval/report.html has the
traces, OUT/english/pieces the trained model in pieces of 16 MB. `--small` trains a tiny model with random
weights: it shows that every line runs.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

from data_builders.build import write_pairs
from data_builders.haystack_splits import shuffled_labels
from judge_r1.benchmarks.casebook.cases import Part, load_part
from judge_r1.core.errors import TRY_AGAIN
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.selection import ItemSelection
from judge_r1.files.pair_set import PAIRS_FILE, PairSet, load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.files.strict_json import read_json
from judge_r1.models.hub import load_tokenizer, resolve
from judge_r1.training.recipe import load_recipe
from scripts.gpu_checks.check import Check, child, main
from scripts.run_haystack import judge_elsewhere

MODEL = "bundled:smollm2-135m"
PIECES = Path("runs/gpu-check-weights")
PIECE = 16_000_000
"""Bytes of a piece of the trained model."""
START, RESERVE = 30, 45
"""Seconds that a training takes to start, and that it has before the deadline to save its checkpoint."""
SMALL = ("episode.prompt=compact",)
SMALL_STAGE = {
    "warmup": ("sft.max_steps=1", "sft.batch_size=2", "sft.micro_batch_size=1"),
    "grpo": (
        "grpo.steps=1", "grpo.group_size=2", "grpo.pairs_per_step=1", "grpo.micro_batch_size=1",
        "episode.budget.response_tokens=32",
    ),
}  # fmt: skip
STAGES = {
    "warmup": ("warmup", None, "train"),
    "grpo": ("grpo", "warmup", "train"),
    "grpo-shuffled": ("grpo", "warmup", "shuffled"),
}
"""Run folder -> recipe of recipes/english, the run that it starts from, its pairs."""
JUDGES = {
    "base": ("agentic", "base"),
    "warm-up": ("agentic", "warmup"),
    "GRPO": ("agentic", "grpo"),
    "GRPO without search": ("agentic:search=false", "grpo"),
    "GRPO with shuffled labels": ("agentic", "grpo-shuffled"),
}
"""Row -> judge and the stage whose model it reads."""


def run(check: Check) -> None:
    folder, until = check.out / "english", time.monotonic() + check.seconds - RESERVE
    folder.mkdir(exist_ok=True)
    models = {"base": tiny(folder / "base") if check.small else joined(folder / "base")}
    pairs(folder, check.size(1_000, 24))
    for name, (recipe, start, data) in STAGES.items():
        changes = [f"model={models[start or 'base']}", f"data.train={folder / data}"]
        changes += [*SMALL, *SMALL_STAGE[recipe]] if check.small else []
        trained(check, name, recipe, changes, until)
        models[name] = str(folder / name / "model")
    judged(check, folder, models)
    split(folder / "grpo" / "model" / "model.safetensors", folder / "pieces")
    check.row("english", "done", ok=True)


def joined(target: Path) -> str:
    """The base: a folder with the weights of the pieces that were brought, else the model in the package."""
    pieces = sorted(PIECES.glob("model.safetensors.*"))
    if not pieces:
        return MODEL
    target.mkdir(exist_ok=True)
    with (target / "model.safetensors").open("wb") as file:
        for piece in pieces:
            file.write(piece.read_bytes())
    for other in (path for path in PIECES.iterdir() if path not in pieces):
        (target / other.name).write_bytes(other.read_bytes())
    return str(target)


def tiny(target: Path) -> str:
    """A model of the same architecture with the same tokenizer, two narrow layers and random weights."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = AutoConfig.from_pretrained(resolve(MODEL), **sizes, num_key_value_heads=2, head_dim=16)
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config).save_pretrained(target)
    load_tokenizer(MODEL).save_pretrained(target)
    return str(target)


def pairs(folder: Path, most: int) -> None:
    """The training pairs of the casebook and, as the control, the same with the labels of others."""
    if (folder / "shuffled" / PAIRS_FILE).exists():  # written last
        return
    build = [sys.executable, "-m", "judge_r1.cli", "build", "casebook", "--out", str(folder / "all")]
    subprocess.run(build, check=True)
    every = load_pairs(folder / "all")
    data = PairSet(every.cases, every.pairs[:most])
    write_pairs(data, folder / "train")
    write_pairs(shuffled_labels(data, 0), folder / "shuffled")


def trained(check: Check, name: str, recipe: str, changes: list[str], until: float) -> None:
    """Trains a stage, or goes on with it, unless its model is there, and writes its rows. Exits with 75 at the
    deadline, if possible with a checkpoint, and with 1 if the training fails."""
    run_folder = check.out / "english" / name
    if not (run_folder / "model").exists():
        if (left := until - time.monotonic()) < START:
            check.row(f"{name}: no time to start, run this part again", max(0.0, left), "s")
            sys.exit(TRY_AGAIN)
        command = [sys.executable, "-m", "judge_r1.cli", "train", f"recipes/english/{recipe}.yaml", *changes]
        training = child([*command, "--out", str(run_folder)], check.out / f"english-{name}.log")
        try:
            training.wait(left)
        except subprocess.TimeoutExpired:
            training.send_signal(signal.SIGTERM)
            if code := training.wait():
                saved = "with a" if code == TRY_AGAIN else "without a new"
                steps = len(metrics(run_folder))
                check.row(f"{name}: stopped {saved} checkpoint, run this part again", steps, "steps")
                sys.exit(TRY_AGAIN)
    rows, done = metrics(run_folder), (run_folder / "model").exists()
    check.row(f"{name}: steps", len(rows), ok=done)
    if not done:
        sys.exit(1)
    for key in ("time/step", "rollout/reward/correct", "rollout/reward/label_f1", "rollout/reward/searches"):
        if values := [row[key] for row in rows if key in row]:
            check.row(f"{name}: {key}, first and last step", f"{values[0]:.3f}, {values[-1]:.3f}")


def metrics(run_folder: Path) -> list[dict[str, float]]:
    """The logged steps of a run."""
    file = run_folder / "metrics.jsonl"
    return [row for row in read_rows(file) if "time/step" in row] if file.exists() else []


def judged(check: Check, folder: Path, models: dict[str, str]) -> None:
    """A row for each judge, its controls and the rules without a model."""
    part, out, recipe = os.environ.get("ENGLISH_PART", "dev"), folder / "eval", folder / "grpo" / "recipe.yaml"
    command = [sys.executable, "-m", "judge_r1.cli", "eval", "--benchmark", "casebook", "--subset", f"part={part}"]
    command += ["--out", str(out), "--resume", "--recipe", str(recipe), *(["--limit", "2"] if check.small else [])]
    command += ["--judge", "evidence"]
    for name, (kind, model) in JUDGES.items():
        command += ["--judge", f"{name}={kind}@{models[model]}"]
    subprocess.run(command, check=True)
    elsewhere, name = folder / "eval-elsewhere", "GRPO with passages of another case"
    benchmark = ItemSelection("casebook", None, f"part={part}", 2 if check.small else None).load()
    with Evaluation(benchmark, elsewhere, resume=True, name="casebook", subset=f"part={part}") as evaluation:
        judge_elsewhere(evaluation, name, models["grpo"], load_recipe(recipe).episode, load_part(cast(Part, part)))
        control = evaluation.finish([], silent=True)
    for row in [*read_json(out / "summary.json")["rows"], *(r for r in control["rows"] if r["name"] == name)]:
        for key in ("accuracy", "label_f1"):
            if row.get(key) is not None:
                check.row(f"{part}: {row['name']}: {key}", row[key])


def split(file: Path, folder: Path) -> None:
    """The file in pieces that a transfer of small files takes; `cat folder/*` joins them."""
    folder.mkdir(exist_ok=True)
    data = file.read_bytes()
    for number, start in enumerate(range(0, len(data), PIECE)):
        (folder / f"{file.name}.{number:03}").write_bytes(data[start : start + PIECE])


if __name__ == "__main__":
    main(__doc__, "english", run)
