"""The fields that LLaMA-Factory's documentation of dataset_info.json requires."""

import json
from pathlib import Path

import pytest

from data_builders.export import export
from data_builders.exports import Options

OPTIONS = [
    ("sft", Options()),
    ("sft", Options(answer="table6")),
    ("dpo", Options()),
    ("dpo", Options(preference="reasoning")),
    ("dpo", Options(preference="table7")),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_fields_named_in_dataset_info_exist(name: str, options: Options, split_folder: Path, tmp_path: Path) -> None:
    """Alpaca: string columns. ShareGPT with ranking: conversations of `from` and `value` that end with a human turn
    (an odd number after the system turn), and one `gpt` turn each as chosen and rejected."""
    export(split_folder, tmp_path, name, options)
    info = json.loads((tmp_path / "dataset_info.json").read_text("ascii"))
    assert sorted(info) == [f"judge_r1_{name}_{split}" for split in ("test", "train_42", "train_84")]
    for entry in info.values():
        rows = [json.loads(line) for line in (tmp_path / entry["file_name"]).open()]
        assert rows
        for row in rows:
            columns = {column: row[key] for column, key in entry["columns"].items()}
            if name == "sft":
                first = "query" if options.answer == "table6" else "system"
                assert (entry["formatting"], set(columns)) == ("alpaca", {first, "prompt", "response"})
                assert {"instruction", "input", "output"} < set(row)
                assert all(isinstance(text, str) and text for text in columns.values())
            else:
                assert (entry["formatting"], entry["ranking"]) == ("sharegpt", True)
                speakers = ["human"] if options.preference == "table7" else ["system", "human"]
                assert [turn["from"] for turn in columns["messages"]] == speakers
                assert columns["chosen"]["from"] == columns["rejected"]["from"] == "gpt"
                turns = [*columns["messages"], columns["chosen"], columns["rejected"]]
                assert all(set(turn) == {"from", "value"} and turn["value"] for turn in turns)
