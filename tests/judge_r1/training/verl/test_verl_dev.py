"""Evaluation on dev pairs during training on verl: verl's own validation runs our episodes on the dev folder."""

import json
from collections import Counter
from pathlib import Path

import pytest
import torch
from conftest import flawed_pair

from data_builders.worlds.mini.source import read
from judge_r1.core.records import Case
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.models.hub import load_model
from judge_r1.training.best_checkpoint import best_of
from judge_r1.training.checkpoints import checkpoints, kept_best
from judge_r1.training.export_checkpoint import read_shards
from judge_r1.training.recipe import DataConfig, Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.dev_evaluation import DevEpisodes
from judge_r1.training.verl.runner import train_verl


@pytest.fixture(scope="module")
def dev_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dev")
    cases: list[Case] = list(read(None, 5, 1, Counter()))
    write_jsonl(folder / "cases.jsonl", cases)
    write_jsonl(folder / "pairs.jsonl", map(flawed_pair, cases))
    return folder


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_verl_evaluates_on_the_dev_pairs_and_keeps_the_best(
    recipe: Recipe, answering_model: Path, data_folder: Path, dev_folder: Path, tmp_path: Path
) -> None:
    recipe = Recipe.model_validate(
        recipe.model_dump()
        | {"model": str(answering_model), "data": DataConfig(train=data_folder, dev=dev_folder)}
        | {"save_every": 1, "eval_pairs": 4, "best_metric": "reward", "seed": 1}
        | {"grpo": recipe.grpo.model_dump() | {"steps": 4, "engine": "verl"}}
    )
    run = RunFolder(tmp_path / "run", recipe)
    train_verl(recipe, data_folder, run, cpu=True)

    rows = read_rows(run.folder / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    for row in rows:
        assert (row["rollout/episodes"], row["dev/episodes"]) == (8, 4)  # dev episodes are not trained on
        assert row["time/dev"] > 0
        verls = {name: row[name] for name in row if name.startswith("verl/val-core/") and name.endswith("/acc/mean@1")}
        domains = {name.removeprefix("dev/accuracy/") for name in row if name.startswith("dev/accuracy/")} & {
            name.split("/")[3] for name in verls
        }
        assert domains
        for domain in domains:
            ours = row[f"dev/accuracy/{domain}"]
            assert verls[f"verl/val-core/judge_r1/{domain}/acc/mean@1"] == pytest.approx(ours, abs=1e-6)

    best = best_of(recipe, rows)
    assert best is not None
    assert json.loads((run.folder / "best.json").read_text())["step"] == best.step
    (kept,) = kept_best(run.checkpoints)
    assert (kept.step, kept.has_manifest) == (best.step, True)
    assert [c.step for c in checkpoints(run.checkpoints) if (c.folder / "actor").exists()] == [3, 4]
    shards = read_shards(kept.folder / "actor")
    weights = load_model(str(run.best)).state_dict()
    assert all(torch.equal(weights[name], shards[name].to(weights[name].dtype)) for name in shards)

    # the exported model, evaluated by the code of the engine trl, has the metrics that verl's validation gave
    data = load_pairs(dev_folder)
    chosen = [pair for pair in data.pairs if pair.pair_id in evaluated(run)]
    episodes = DevEpisodes(recipe, type(data)(data.cases, chosen))
    here = episodes(load_model(str(run.best)).eval())
    there = {name: value for name, value in rows[best.step - 1].items() if name.startswith("dev/")}
    assert here == pytest.approx(there, abs=1e-6)


def evaluated(run: RunFolder) -> set[str]:
    """The ids of the dev pairs in the logs of verl's workers."""
    rows = [row for path in (run.folder / "verl" / "dev_rollouts").glob("*.jsonl") for row in read_rows(path)]
    return {row["pair_id"] for row in rows}
