"""TRL accepts the exported tables in its own checks and chat templating."""

from pathlib import Path
from typing import Any

import pytest

from data_builders.export import export
from data_builders.exports import Options
from judge_r1.core.pair_set import load_pairs
from judge_r1.models.hub import load_tokenizer


def test_trl_accepts_both_tables_as_conversations(split_folder: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    from trl import is_conversational, maybe_apply_chat_template

    tokenizer = load_tokenizer("bundled:tiny")
    export(split_folder, tmp_path / "out", "trl", Options())
    data = load_pairs(split_folder / "train_42")

    def rows(table: str) -> Any:
        loaded = datasets.load_dataset(str(tmp_path / "out"), table, split="train_42", cache_dir=str(tmp_path / "c"))
        assert len(loaded) == 42
        return loaded

    for row, pair in zip(rows("sft"), data.pairs, strict=True):
        assert is_conversational(row)
        text = maybe_apply_chat_template(row, tokenizer)["text"]
        assert [text.count(part) for part in (pair.reasoning_a, pair.reasoning_b)] == [1, 1]
        assert text.index(data.case_of(pair).context) < text.rindex("<answer>") < text.rindex("</answer>")
        assert text.rstrip().endswith(tokenizer.eos_token)
    for row, pair in zip(rows("dpo"), data.pairs, strict=True):
        assert is_conversational(row)
        applied = maybe_apply_chat_template(row, tokenizer)
        assert pair.reasoning_b in applied["prompt"]
        for key in ("chosen", "rejected"):
            assert applied[key].startswith(row[key][0]["content"])
        assert applied["prompt"].endswith("<|im_start|>assistant\n")
        assert applied["chosen"] != applied["rejected"]
