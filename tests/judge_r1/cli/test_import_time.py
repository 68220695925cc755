"""The core is light: importing it loads no heavy library, and `import judge_r1` is far below half a second."""

import subprocess
import sys

HEAVY = ("torch", "transformers", "trl", "datasets", "faiss", "sklearn", "scipy", "sentence_transformers", "matplotlib")
LIGHT = [
    "judge_r1",
    "judge_r1.core.records",
    "judge_r1.core.principles",
    "judge_r1.episode",
    "judge_r1.episode.reward",
    "judge_r1.episode.parsing",
    "judge_r1.episode.prompts",
    "judge_r1.episode.tokenizer",
    "judge_r1.training.recipe",
    "judge_r1.training.run_folder",
    "judge_r1.core.pair_set",
    "judge_r1.episode.rollout",
    "judge_r1.models",
    "judge_r1.models.base",
    "judge_r1.episode.driver",
    "judge_r1.episode.chat_driver",
    "judge_r1.training.sft",
    "judge_r1.training.trl.grpo",
    "data_builders.rationales",
    "data_builders.sources.mini",
    "data_builders.perturb.rules.mini",
]


def test_importing_judge_r1_takes_well_under_half_a_second() -> None:
    code = "import time; t = time.perf_counter(); import judge_r1; print(time.perf_counter() - t)"
    seconds = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert seconds < 0.5


def test_no_heavy_library_comes_with_any_of_them() -> None:
    """One process imports them in turn and says what each brought along."""
    code = f"""
import importlib, sys
for module in {LIGHT}:
    importlib.import_module(module)
    if brought := [name for name in {HEAVY} if name in sys.modules]:
        sys.exit(f"{{module}} imports {{brought}}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
