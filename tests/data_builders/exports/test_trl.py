"""TRL accepts the exported tables in its own checks and chat templating, and trains on the answers alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer

from data_builders.export import export
from data_builders.exports import Options
from judge_r1 import load_judge
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.pair_set import load_pairs
from judge_r1.models.hub import load_model, load_tokenizer


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
        text = "".join(maybe_apply_chat_template(row, tokenizer).values())
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


def test_sft_trains_on_the_answer_alone_and_its_default_length_would_cut_it(split_folder: Path, tmp_path: Path) -> None:
    """trl 1.16.0: a row of `messages` would train on every token."""
    datasets = pytest.importorskip("datasets")
    from trl import SFTConfig, SFTTrainer

    exported = export(split_folder, tmp_path / "out", "trl", Options(), "bundled:tiny")
    rows = datasets.load_dataset(str(tmp_path / "out"), "sft", split="test", cache_dir=str(tmp_path / "c"))
    args = SFTConfig(output_dir=str(tmp_path / "sft"), max_length=None, use_cpu=True, report_to=[])
    tokenizer = load_tokenizer("bundled:tiny")
    trained = SFTTrainer(load_model("bundled:tiny"), args, train_dataset=rows, processing_class=tokenizer).train_dataset
    longest = 0
    for row, plain in zip(trained, rows, strict=True):
        taught = [label for label in row["labels"] if label != -100]
        answer = plain["completion"][0]["content"]
        assert "".join(tokenizer.decode(taught).split()) == "".join(answer.split()) + tokenizer.eos_token
        longest = max(longest, len(row["input_ids"]))
    [line] = exported.lengths
    said = int(re.findall(r"of `sft` ([\d,]+) tokens of bundled:tiny", line)[0].replace(",", ""))
    assert longest - 60 <= said  # the test split is a part, and the markup of the chat is not counted
    assert SFTConfig(output_dir=str(tmp_path / "sft"), use_cpu=True).max_length == 1024
    assert "set max_length of SFTConfig and DPOConfig (1,024 tokens by default)" in line
    assert line in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    "options",
    [Options(), Options(answer="table6"), Options(EpisodeConfig(prompt="chain-of-thought")),
     Options(EpisodeConfig(context="none"))],
    ids=["answer", "table6", "direct", "no context"],
)  # fmt: skip
def test_the_card_names_a_judge_that_asks_the_same(options: Options, split_folder: Path, tmp_path: Path) -> None:
    export(split_folder, tmp_path / "out", "trl", options)
    [spec] = set(re.findall(r"`(agentic:\S+@)MODEL`", (tmp_path / "out" / "README.md").read_text()))
    data, asked = load_pairs(split_folder / "test"), []

    def answer(system: str, user: str, sample: int) -> str:
        asked.append((system, user))
        return "no answer"

    with FakeLLMServer(answer) as server:
        judge = load_judge(f"{spec}{server.url}/v1#m")
        for pair in data.pairs[:2]:
            case = data.case_of(pair)
            judge(context=case.context, decision=case.decision, domain=case.domain,
                  reasoning_a=pair.reasoning_a, reasoning_b=pair.reasoning_b)  # fmt: skip
    rows = [json.loads(line)["prompt"] for line in (tmp_path / "out" / "sft" / "test.jsonl").open()][:2]
    exported = [[message["content"] for message in row] for row in rows]
    # The prompt of Table 6 shows an id of the case, which a call without one gets by its content.
    without_id = re.compile(r"(?m)^Case [0-9a-f]+:$")
    assert [[without_id.sub("", text) for text in one if text] for one in asked] == [
        [without_id.sub("", text) for text in one] for one in exported
    ]
