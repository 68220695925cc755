"""`sft`: Alpaca fields (paper, Table 6). LLaMA-Factory uses `instruction` as the system prompt, so that training and
judging use the same chat."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.exports import FORMATS, Format, Options, PairExample, Row
from data_builders.exports.answers import answer_note, prompt_messages, prompt_note
from judge_r1.training.data.targets import answer


def tables(options: Options) -> Mapping[str, Row[PairExample]]:
    def row(example: PairExample, index: int, split: str) -> dict[str, Any]:
        system, user = prompt_messages(example, options)
        return {
            "instruction": system["content"],
            "input": user["content"],
            "output": answer(example.pair.gold, options.answer),
            "pair_id": example.pair.pair_id,
        }

    return {"sft": row}


def notes(options: Options) -> Sequence[str]:
    return [prompt_note(options), answer_note(options)]


FORMATS.register("sft")(
    Format(
        help="instruction, input, output, for LLaMA-Factory",
        tables=tables,
        notes=notes,
        llama_factory={
            "sft": {
                "formatting": "alpaca",
                "columns": {"system": "instruction", "prompt": "input", "response": "output"},
            }
        },
    )
)
