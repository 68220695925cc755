"""Writes pairs as the parquet file that verl's RLHFDataset reads.

A row only names its pair. The agent loop looks the pair up in the data folder and builds the prompt from it. verl needs
a `prompt` of messages in every row, and hands it to the agent loop unread. For training it is the pair id; for
`judge-r1 export` it is the prompt as text, without the control tokens of a chat template.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from judge_r1.core.errors import write_error
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.questions import Question, pair_of
from judge_r1.episode.rollout import task_prompt
from judge_r1.episode.task import pairwise_task
from judge_r1.files.partial_files import open_partial

AGENT_NAME = "judge_r1"
"""Name of our agent loop in the rows and in the agent-loop file."""
DEV = "dev"
"""`extra_info.split` of the rows of dev pairs."""
GROUP_ROWS = 256
"""Rows per row group; a few megabytes with whole prompts."""


def schema() -> Any:
    """The columns. `extra_info.index` is the row number, `reward_model.ground_truth` the gold judgment as JSON."""
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


def training_row(pair: ReasoningPair, *, index: int, split: str = "train", key: str | None = None) -> dict[str, Any]:
    """One pair, or the question `key` about it, as a row for training, whose `prompt` names it."""
    key = key or pair.pair_id
    gold = {"comparison": pair.gold.comparison, "violated_principles": list(pair.gold.violated_principles)}
    return {
        "data_source": f"judge_r1/{pair.domain}",
        "prompt": [{"role": "user", "content": key}],
        "ability": "judge",
        "reward_model": {"style": "rule", "ground_truth": json.dumps(gold, separators=(",", ":"))},
        "extra_info": {"index": index, "pair_id": key, "case_id": pair.case_id, "split": split},
        "agent_name": AGENT_NAME,
    }


def parquet_row(
    pair: ReasoningPair, case: Case, config: EpisodeConfig, *, index: int, split: str = "train"
) -> dict[str, Any]:
    """One pair as a row with its whole prompt."""
    prompt = task_prompt(pairwise_task(pair, case), config)
    return training_row(pair, index=index, split=split) | {"prompt": prompt.chat()}


class ParquetRows:
    """Writes a parquet file by row groups and moves it into place when the `with` block ends. If the block raises, an
    existing file stays unchanged. Equal rows give equal bytes.

    Raises:
        JudgeError: The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> "ParquetRows":
        import pyarrow.parquet as pq

        with self._writing():
            self._file = open_partial(self._path)
        self._writer = pq.ParquetWriter(self._file, schema())
        return self

    def write(self, row: dict[str, Any]) -> None:
        """Append a row."""
        self._rows.append(row)
        if len(self._rows) == GROUP_ROWS:
            self._flush()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            with self._writing():
                if kind is None and self._rows:
                    self._flush()
                self._writer.close()
                if kind is None:
                    self._file.flush()
                    os.fsync(self._file.fileno())
                    os.replace(self._file.name, self._path)
        finally:
            with suppress(OSError):
                os.unlink(self._file.name)
            with suppress(OSError):
                self._file.close()

    def _flush(self) -> None:
        import pyarrow as pa

        with self._writing():
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=schema()))
        self._rows.clear()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise write_error(self._path, error, "an existing file is unchanged") from error


def write_parquet(questions: Iterable[Question], path: Path, *, split: str = "train") -> None:
    """Write one training row per question, in order."""
    with ParquetRows(path) as file:
        for index, asked in enumerate(questions):
            file.write(training_row(pair_of(asked), index=index, split=split, key=asked.pair_id))
