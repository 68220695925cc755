"""`verl`: the parquet files that verl's RLHFDataset reads, with whole prompts for readers."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.exports import FORMATS, Format, Options, PairExample, Row
from judge_r1.training.verl.dataset import ParquetRows, parquet_row


def tables(options: Options) -> Mapping[str, Row[PairExample]]:
    def row(example: PairExample, index: int, split: str) -> dict[str, Any]:
        return parquet_row(example.pair, example.case, options.config, index=index, split=split)

    return {"verl": row}


def notes(options: Options) -> Sequence[str]:
    config = options.config
    searches = config.effective_budget.max_searches
    return [
        f"Prompts: style `{config.prompt}`, context `{config.context}`, {searches} searches; tags in quoted text are "
        "neutralised. `reward_model.ground_truth` is the gold judgment.",
        "The agent loop plays each pair from its data folder by `extra_info.pair_id`; the prompts are for readers.",
    ]


FORMATS.register("verl")(
    Format(help="parquet for verl", tables=tables, notes=notes, suffix="parquet", open=ParquetRows, reads=("config",))
)
