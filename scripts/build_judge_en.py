"""Packs a trained English judge as `bundled:judge-en`: the adapters of a run in half precision, and its recipe.

    OMP_NUM_THREADS=1 python -m scripts.run_english --out runs/english --rows warm-up
    python -m scripts.build_judge_en runs/english/warm-up --out judge_r1/models/judge_en

The model card, README.md in the folder, is written by hand.
"""

import argparse
from pathlib import Path

from safetensors.torch import load_file, save_file

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_atomic, write_json
from judge_r1.core.strict_json import read_json
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.recipe import dump_recipe, load_recipe

MEBIBYTES = 10
DATA = "runs/english/data/train"
"""The training data as scripts/run_english.py writes it by default, so that the recipe names no local folder."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run folder with checkpoints of adapters")
    parser.add_argument("--out", type=Path, default=Path("judge_r1/models/judge_en"))
    given = parser.parse_args()
    last = checkpoints(given.run / "checkpoints")[-1].folder
    config = read_json(last / "adapter_config.json")
    given.out.mkdir(parents=True, exist_ok=True)
    halved = {name: tensor.half() for name, tensor in load_file(last / "adapter_model.safetensors").items()}
    size = sum(tensor.nbytes for tensor in halved.values())
    if size > MEBIBYTES * 2**20:
        raise JudgeError(f"{last} has {size / 2**20:.1f} MiB of adapters, more than {MEBIBYTES}: train a lower rank")
    save_file(halved, given.out / "adapter_model.safetensors")
    write_json(given.out / "adapter_config.json", {name: config[name] for name in ("r", "lora_alpha")})
    recipe = load_recipe(given.run / "recipe.yaml", [f"data.train={DATA}"])
    write_atomic(given.out / "recipe.yaml", [dump_recipe(recipe)])
    print(f"{given.out}: {len(halved)} tensors of {last}, {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
