"""verl's dataset reads the file that training writes, and the output of `judge-r1 export --format verl`."""

from pathlib import Path

import pyarrow.parquet as pq
from verl_factories import compose, keys_of

from data_builders.export import export
from data_builders.exports import Options
from judge_r1.files.pair_set import PairSet
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.recipe import Recipe
from judge_r1.training.verl.dataset import write_parquet


def test_verl_reads_the_export(recipe: Recipe, data_folder: Path, pairs: PairSet, tmp_path: Path) -> None:
    from verl.trainer.ppo.utils import create_rl_dataset
    from verl.utils.dataset.rl_dataset import RLHFDataset

    export(data_folder, tmp_path, "verl", Options(config=recipe.episode))
    config = compose(keys_of(recipe, folder=tmp_path)).data
    dataset = create_rl_dataset(config.train_files, config, load_tokenizer(recipe.model), None)
    assert isinstance(dataset, RLHFDataset)
    assert len(dataset) == len(pairs.pairs)
    for number, pair in enumerate(pairs.pairs):
        row = dataset[number]
        assert (row["agent_name"], row["data_source"]) == ("judge_r1", f"judge_r1/{pair.domain}")
        assert row["extra_info"] == {
            "index": number,
            "pair_id": pair.pair_id,
            "case_id": pair.case_id,
            "split": "train",
        }
        assert [message["role"] for message in row["raw_prompt"]] == ["system", "user"]
        assert pair.reasoning_a in row["raw_prompt"][1]["content"]
        assert pair.gold.comparison in row["reward_model"]["ground_truth"]


def test_the_file_of_a_training_names_pairs_only(recipe: Recipe, pairs: PairSet, tmp_path: Path) -> None:
    from verl.trainer.ppo.utils import create_rl_dataset

    for name in ("train.parquet", "again.parquet"):
        write_parquet(pairs.pairs, tmp_path / name)
    assert (tmp_path / "train.parquet").read_bytes() == (tmp_path / "again.parquet").read_bytes()
    config = compose(keys_of(recipe, folder=tmp_path)).data
    dataset = create_rl_dataset(config.train_files, config, load_tokenizer(recipe.model), None)
    assert len(dataset) == len(pairs.pairs)
    for number, pair in enumerate(pairs.pairs):
        row = dataset[number]
        assert (row["agent_name"], row["index"]) == ("judge_r1", number)
        assert (row["extra_info"]["pair_id"], row["extra_info"]["case_id"]) == (pair.pair_id, pair.case_id)
        assert row["raw_prompt"] == [{"role": "user", "content": pair.pair_id}]
        assert pair.reasoning_a not in str(row)
        assert pairs.cases[pair.case_id].context not in str(row)


def test_the_export_differs_from_the_file_that_training_writes_by_whole_prompts(
    recipe: Recipe, data_folder: Path, pairs: PairSet, tmp_path: Path
) -> None:
    export(data_folder, tmp_path / "out", "verl", Options(config=recipe.episode))
    write_parquet(pairs.pairs, tmp_path / "own.parquet")
    exported, own = (pq.read_table(path) for path in (tmp_path / "out" / "train.parquet", tmp_path / "own.parquet"))
    assert exported.schema == own.schema
    assert exported.drop_columns("prompt") == own.drop_columns("prompt")
    assert own["prompt"].to_pylist() == [[{"role": "user", "content": pair.pair_id}] for pair in pairs.pairs]
