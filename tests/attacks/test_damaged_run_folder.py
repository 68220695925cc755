"""Damages every file of a run folder: train, merge, watch and report work, or end with one sentence."""

import importlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from factories import mini_pairs
from process_faults import command, forked, short_and_long
from turn_recipes import turn_recipe

from data_builders.build import write_pairs
from judge_r1.core.errors import ExitStatus
from judge_r1.models.hub import load_model
from judge_r1.training.recipe import dump_recipe


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe\x00\x80"),
    "an object": lambda path: path.write_text("{}\n"),
    "a list": lambda path: path.write_text("[1, [2]]\n"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "a folder": as_folder,
    "missing": Path.unlink,
}
SHORT = ("a list",)
FILES = (
    "recipe.yaml", "versions.json", "metrics.jsonl", "data.json", "examples.json",
    "checkpoints/processes.json", "checkpoints/checkpoint-2/manifest.json",
    "checkpoints/checkpoint-2/trainer_state.json", "checkpoints/checkpoint-2/config.json",
    "model/config.json", "model/README.md",
)  # fmt: skip
ALLOWED = (ExitStatus.OK, ExitStatus.USAGE, ExitStatus.IO_ERROR)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with recipe.yaml and the finished run in run/."""
    for module in ("trl.trainer.sft_trainer", "data_builders.rationales.rules", "judge_r1.training.trl.resume",
                   "judge_r1.training.trl.sft", "judge_r1.training.pipeline"):  # fmt: skip
        importlib.import_module(module)  # so that forks start at once
    load_model("bundled:tiny")
    root = tmp_path_factory.mktemp("training")
    write_pairs(mini_pairs(8), root / "data")
    recipe = turn_recipe("sft", root / "data", "sft.max_steps=2", "save_every=1")
    (root / "recipe.yaml").write_text(dump_recipe(recipe))
    done = forked(command("train", root / "recipe.yaml", "--out", root / "run"))
    assert done.returncode == 0, done.stderr
    return root


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("damages", short_and_long(SHORT, tuple(DAMAGES)))
@pytest.mark.parametrize("name", FILES)
def test_commands_survive_a_damaged_run_folder(
    name: str, damages: tuple[str, ...], finished: Path, tmp_path: Path, attacks: Callable[[str, int], None]
) -> None:
    for damage in damages:
        for verb in ("train", "merge", "report"):
            folder = tmp_path / f"{verb} {damage}" / "run"
            unfinished = shutil.ignore_patterns("model") if verb == "train" else None
            shutil.copytree(finished / "run", folder, ignore=unfinished)
            if not (folder / name).exists():
                continue
            DAMAGES[damage](folder / name)
            arguments: dict[str, tuple[str | Path, ...]] = {
                "train": (finished / "recipe.yaml", "--out", folder),
                "merge": (folder, "--out", folder.parent / "merged"),
                "report": (folder, "--out", folder.parent / "report"),
            }
            done = forked(command(verb, *arguments[verb]))
            what = f"{verb} with {name} {damage}: {done.stdout}{done.stderr}"
            assert done.returncode in ALLOWED, what
            assert "Traceback" not in done.stderr, what
            if done.returncode:
                assert re.match(r"error: \S", done.stderr.splitlines()[-1]), what
            assert not list(folder.parent.glob(".*")), what
            attacks("damaged file of a run folder", 1)
