"""Run folders and evaluations in the format of `train` and `eval`, with synthetic numbers."""

import json
from pathlib import Path
from typing import Any

from evaluation_digests import write_summary

from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder

CODES = ("P1", "P2", "P3", "P4", "P5", "P6")


def toy_run(folder: Path, size: int, *, name: str = "toy", **fields: Any) -> Path:
    """A finished run on `size` pairs; `fields` override a GRPO recipe with full context and no search."""
    base = {
        "name": name, "stage": "grpo", "model": "base", "data": {"train": "nowhere"},
        "episode": {"context": "full", "search": False},
        "grpo": {"pairs_per_step": 4, "group_size": 4, "micro_batch_size": 8},
    }  # fmt: skip
    run = RunFolder(folder, Recipe.model_validate(base | fields))
    (folder / "data.json").write_text(json.dumps({"pairs": size, "cases": size, "files": {}}))
    for step in range(1, 5):
        run.log({"step": step, "progress": step / 4, "loss": 1 / step, "rollout/reward/r": step / 4})
    return folder


def toy_eval(folder: Path, accuracy: dict[str, tuple[str, float]], pairs: str = "p") -> Path:
    """An evaluation with judges by name: (spec, accuracy); accuracy on P2 is 0.1 lower."""
    folder.mkdir(parents=True)
    rows = []
    for name, (_, value) in accuracy.items():
        whole = {"n": 60, "cases": 12, "accuracy": value, "ci95": [max(value - 0.1, 0), min(value + 0.1, 1)],
                 "label_f1": value, "valid_rate": 1.0, "searches": 0.0}  # fmt: skip
        harder = whole | {"accuracy": max(value - 0.1, 0)}
        rows.append(whole | {
            "name": name, "valid_strict": 1.0, "valid_tolerant": 1.0, "evidence_hit": None, "predicted_a": 0.5,
            "settings": {"temperature": 0.0},
            "by_domain": dict.fromkeys(("academic", "legal", "medical"), whole),
            "by_principle": {code: (harder if code == "P2" else whole) | {"single": None} for code in CODES},
        })  # fmt: skip
    judges = {name: {"judge": spec, "settings": {}, "items": pairs} for name, (spec, _) in accuracy.items()}
    (folder / "rows.json").write_text(json.dumps(judges))
    write_summary(folder, {"rows": rows, "differences": [], "seconds": {"all": 1.0}})
    return folder


def scaling_study(home: Path) -> None:
    """GRPO at three sizes and the ablations of Table 4, with their evaluation in `home/eval`."""
    search = {"context": "none", "search": True}
    warm = toy_run(home / "warm", 500, name="warm", stage="sft")
    judged = {"base": ("agentic@base", 0.5)}
    for size, value in ((21_000, 0.77), (63_000, 0.81), (105_000, 0.97)):
        run = toy_run(home / f"grpo{size // 1000}", size, name=f"grpo{size // 1000}")
        judged[f"GRPO {size // 1000}K"] = (f"agentic@{run}/model", value)
    for name, value, episode, model in (
        ("warm-fc", 0.88, {"context": "full", "search": False}, f"{warm}/model"),
        ("search", 0.92, search, "base"),
        ("fc-search", 0.93, search | {"context": "full"}, "base"),
        ("warm-fc-search", 0.98, search | {"context": "full"}, f"{warm}/model"),
    ):
        run = toy_run(home / name, 21_000, name=name, episode=episode, model=model)
        judged[name] = (f"agentic@{run}/model", value)
    toy_eval(home / "eval", judged)
