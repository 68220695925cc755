"""LLaMA-Factory reads the exports.

Tests with its own loader run only if it is installed (`pip install llamafactory`; it is not a dependency). The fields
that its documentation of dataset_info.json requires are always tested.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from data_builders.export import export
from data_builders.exports import Options
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.episode.prompts import judge_prompt, reasoning_prompt, violations_prompt

OPTIONS = [
    ("sft", Options()),
    ("sft", Options(answer="table6")),
    ("dpo", Options()),
    ("dpo", Options(preference="reasoning")),
    ("dpo", Options(preference="table7")),
]


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(
        "DISABLE_VERSION_CHECK", "1"
    )  # the release requires an older transformers, but its readers work with the current one
    try:
        from llamafactory.data import loader, parser
    except Exception as error:
        pytest.skip(f"LLaMA-Factory is not installed, or not in working order: {error}")
    return SimpleNamespace(load=loader._load_single_dataset, attributes=parser.get_dataset_list)


def expected_prompt(data: PairSet, number: int, name: str, options: Options) -> list[dict[str, str]]:
    pair = data.pairs[number]
    if options.preference == "reasoning":
        return reasoning_prompt(data.case_of(pair), context="full").chat()
    if options.preference == "table7":
        return violations_prompt(data.case_of(pair), pair.flawed, context="full").chat()
    style = "table6" if options.answer == "table6" else "answer"
    return judge_prompt(pair, data.case_of(pair), context="full", searches=0, style=style).chat()


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_llama_factory_loads_every_row_as_exported(
    name: str, options: Options, split_folder: Path, tmp_path: Path, loader: Any
) -> None:
    export(split_folder, tmp_path / "out", name, options)
    arguments = SimpleNamespace(
        dataset_dir=str(tmp_path / "out"),
        media_dir=str(tmp_path / "out"),
        streaming=False,
        max_samples=None,
        preprocessing_num_workers=None,
        overwrite_cache=True,
    )
    model = SimpleNamespace(cache_dir=str(tmp_path / "cache"), hf_hub_token=None)
    for split in ("test", "train_84"):
        (attributes,) = loader.attributes([f"judge_r1_{name}_{split}"], arguments.dataset_dir)
        assert attributes.ranking == (name == "dpo")
        rows = loader.load(attributes, model, arguments, SimpleNamespace(local_process_index=0))
        data = load_pairs(split_folder / split)
        written = [json.loads(line) for line in (tmp_path / "out" / f"{split}.jsonl").open()]
        assert len(rows) == len(data.pairs) == len(written)
        for number, (row, ours) in enumerate(zip(rows, written, strict=True)):
            *system, user = expected_prompt(data, number, name, options)
            assert row["_system"] == "".join(message["content"] for message in system)
            assert row["_prompt"] == [{"role": "user", "content": user["content"]}]
            answers = [ours["output"]] if name == "sft" else [ours["chosen"]["value"], ours["rejected"]["value"]]
            assert row["_response"] == [{"role": "assistant", "content": text} for text in answers]


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
