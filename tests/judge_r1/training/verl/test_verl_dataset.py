"""verl's dataset reads our parquet file."""

from pathlib import Path

from verl_factories import compose, keys_of

from judge_r1.core.pair_set import PairSet
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.recipe import Recipe
from judge_r1.training.verl.dataset import write_parquet


def test_verl_reads_the_parquet_file(recipe: Recipe, pairs: PairSet, tmp_path: Path) -> None:
    from verl.trainer.ppo.utils import create_rl_dataset

    write_parquet(pairs.pairs, tmp_path / "train.parquet")
    config = compose(keys_of(recipe, folder=tmp_path)).data
    dataset = create_rl_dataset(config.train_files, config, load_tokenizer(recipe.model), None)
    assert len(dataset) == len(pairs.pairs)
    for number, pair in enumerate(pairs.pairs):
        row = dataset[number]
        assert row["agent_name"] == "judge_r1"
        assert row["index"] == number
        assert row["extra_info"]["pair_id"] == pair.pair_id
        assert row["extra_info"]["case_id"] == pair.case_id
        assert row["raw_prompt"] == [{"role": "user", "content": pair.pair_id}]
        assert pair.reasoning_a not in str(row)
        assert pairs.cases[pair.case_id].context not in str(row)


def test_writing_twice_gives_the_same_bytes(recipe: Recipe, pairs: PairSet, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_parquet(pairs.pairs, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
