"""`import judge_r1` takes under half a second, and the core imports no heavy library."""

import subprocess
import sys

HEAVY = ("torch", "transformers", "trl", "datasets", "faiss", "sklearn", "scipy", "sentence_transformers", "matplotlib")
LIGHT = [
    "judge_r1", "judge_r1.core.records", "judge_r1.core.principles", "judge_r1.episode", "judge_r1.episode.reward",
    "judge_r1.episode.parsing", "judge_r1.episode.prompts", "judge_r1.episode.tokenizer", "judge_r1.training.recipe",
    "judge_r1.training.run_folder", "judge_r1.files.pair_set", "judge_r1.episode.rollout", "judge_r1.models",
    "judge_r1.models.base", "judge_r1.episode.driver", "judge_r1.episode.chat_driver", "judge_r1.training.pipeline",
    "judge_r1.training.trl.grpo", "data_builders.rationales", "data_builders.worlds.mini.source",
    "data_builders.worlds.mini.rules",
]  # fmt: skip


def test_importing_judge_r1_takes_under_half_a_second() -> None:
    code = "import time; t = time.perf_counter(); import judge_r1; print(time.perf_counter() - t)"
    seconds = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert seconds < 0.5


def test_light_modules_import_no_heavy_library() -> None:
    """One process imports the modules in turn and names the first that loads a heavy library."""
    code = f"""
import importlib, sys
for module in {LIGHT}:
    importlib.import_module(module)
    if loaded := [name for name in {HEAVY} if name in sys.modules]:
        sys.exit(f"{{module}} imports {{loaded}}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
