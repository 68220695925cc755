"""`sft`: Alpaca fields (paper, Table 6). LLaMA-Factory reads `instruction` as the prompt uses it, so that training and
judging use the same chat: as the system message, or with Table 6 before `input` in one user message."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.exports import ALPACA_SYSTEM, FORMATS, Format, Options, PairExample, Row
from data_builders.exports.answers import answer_note, prompt_note, target
from judge_r1.episode.prompts import TABLE6
from judge_r1.training.data.targets import question, single_turn_style

ALPACA_ONE_MESSAGE = {
    "formatting": "alpaca",
    "columns": {"prompt": "instruction", "query": "input", "response": "output"},
}


def tables(options: Options) -> Mapping[str, Row[PairExample]]:
    def row(example: PairExample, index: int, split: str) -> dict[str, Any]:
        prompt = question(*example, options.config, options.answer)
        instruction, shown = map(prompt.filled, prompt.messages)
        return {
            "instruction": instruction,
            "input": shown,
            "output": target(example.pair.gold, options),
            "pair_id": example.pair.pair_id,
        }

    return {"sft": row}


def notes(options: Options) -> Sequence[str]:
    return [prompt_note(options), answer_note(options)]


def llama_factory(options: Options) -> Mapping[str, Mapping[str, Any]]:
    style = single_turn_style(options.config, options.answer)
    return {"sft": ALPACA_ONE_MESSAGE if style == TABLE6 else ALPACA_SYSTEM}


FORMATS.register("sft")(
    Format(
        help="instruction, input, output, for LLaMA-Factory",
        tables=tables,
        notes=notes,
        llama_factory=llama_factory,
        reads=("config", "answer"),
    )
)
