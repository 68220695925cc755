"""What a node must be able to do for a run, as a JSON request to `python -m judge_r1.training.preflight`."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from judge_r1.models.shape import UnknownShape, shape_of
from judge_r1.training.cost_estimate import checkpoint_bytes
from judge_r1.training.preflight.packages import needed
from judge_r1.training.recipe import Recipe


def node_checks(recipe: Recipe, run_folder: Path) -> dict[str, Any]:
    """The checks of one node. `gpu_packages` apply to nodes whose torch is built for CUDA."""
    on_processor = needed(recipe, gpu=False)
    files: list[tuple[str, list[Any]]] = [("tokenizer", [recipe.model]), ("weights", [recipe.model])]
    if recipe.episode.effective_budget.max_searches and recipe.stage != "dpo":  # which samples no episodes
        files.append(("embedder", [recipe.episode.retriever]))
    with suppress(UnknownShape):  # an architecture without an estimate
        saved = sum(path.stat().st_size for path in (run_folder / "checkpoints").rglob("*") if path.is_file())
        wanted = checkpoint_bytes(recipe, shape_of(recipe.model)) - saved
        files.append(("disk", [str(run_folder.absolute()), wanted]))
    return {
        "packages": on_processor,
        "gpu_packages": [name for name in needed(recipe, gpu=True) if name not in on_processor],
        "files": files,
    }
