"""Pairs as the parquet file that verl's RLHFDataset reads.

A row names its pair and does not hold it: the agent loop looks the pair up in the data folder, so that a context is
stored once and not once a pair. The messages in `prompt` are for people who read the file; what the model sees is
built by the episode, from the pair.
"""

from pathlib import Path
from typing import Any

from judge_r1.config import EpisodeConfig
from judge_r1.pairs import PairSet
from judge_r1.prompts import judge_prompt

AGENT_NAME = "judge_r1"
"""The name of our agent loop, in the rows and in the file that tells verl about it."""


def schema() -> Any:
    """The columns, with `extra_info.index` the row's number and `reward_model.ground_truth` the gold judgment."""
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            pa.field("data_source", text),
            pa.field("prompt", pa.list_(pa.struct([("role", text), ("content", text)]))),
            pa.field("ability", text),
            pa.field("reward_model", pa.struct([("style", text), ("ground_truth", text)])),
            pa.field(
                "extra_info", pa.struct([("index", pa.int64()), ("pair_id", text), ("case_id", text), ("split", text)])
            ),
            pa.field("agent_name", text),
        ]
    )


def write_parquet(data: PairSet, path: Path, config: EpisodeConfig, *, split: str = "train") -> None:
    """Write one row per pair, in order; the same pairs give the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = []
    for index, pair in enumerate(data.pairs):
        prompt = judge_prompt(
            pair,
            data.case_of(pair),
            context=config.context,
            searches=config.spending.max_searches,
            style=config.prompt,
        )
        gold = pair.gold.model_dump_json(include={"comparison", "violated_principles"})
        rows.append(
            {
                "data_source": f"judge_r1/{pair.domain}",
                "prompt": prompt.chat(),
                "ability": "judge",
                "reward_model": {"style": "rule", "ground_truth": gold},
                "extra_info": {"index": index, "pair_id": pair.pair_id, "case_id": pair.case_id, "split": split},
                "agent_name": AGENT_NAME,
            }
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema()), path)
