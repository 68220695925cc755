"""`sft` and `dpo` for LLaMA-Factory.

`sft` has Alpaca fields (paper, Table 6). LLaMA-Factory reads `instruction` as the prompt uses it, so that training and
judging use the same chat: as the system message, or with Table 6 before `input` in one user message. `dpo` has ShareGPT
conversations with a chosen and a rejected answer (paper, appendix D).
"""

from collections.abc import Mapping
from typing import Any

from data_builders.exports import ALPACA_SYSTEM, FACTORY_LIMIT, FORMATS, Format, Options, PairExample, Row
from data_builders.exports.answers import answer_note, preference, preference_notes, prompt_note, target
from judge_r1.episode.prompts import TABLE6
from judge_r1.training.data.targets import question, single_turn_style

ALPACA_ONE_MESSAGE = {
    "formatting": "alpaca",
    "columns": {"prompt": "instruction", "query": "input", "response": "output"},
}
SHAREGPT_RANKING = {
    "formatting": "sharegpt",
    "ranking": True,
    "columns": {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"},
}
SPEAKERS = {"system": "system", "user": "human"}


def sft(options: Options) -> Mapping[str, Row[PairExample]]:
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


def sft_entries(options: Options) -> Mapping[str, Mapping[str, Any]]:
    style = single_turn_style(options.config, options.answer)
    return {"sft": ALPACA_ONE_MESSAGE if style == TABLE6 else ALPACA_SYSTEM}


def dpo(options: Options) -> Mapping[str, Row[PairExample]]:
    def row(example: PairExample, index: int, split: str) -> dict[str, Any]:
        prompt, chosen, rejected = preference(example, options)
        return {
            "conversations": [_message(SPEAKERS[message["role"]], message["content"]) for message in prompt],
            "chosen": _message("gpt", chosen),
            "rejected": _message("gpt", rejected),
            "pair_id": example.pair.pair_id,
        }

    return {"dpo": row}


def _message(role: str, text: str) -> dict[str, str]:
    return {"from": role, "value": text}


FORMATS.register("sft")(
    Format(
        help="instruction, input, output, for LLaMA-Factory",
        tables=sft,
        notes=lambda options: [prompt_note(options), answer_note(options)],
        llama_factory=sft_entries,
        reads=("config", "answer"),
        limit=FACTORY_LIMIT,
    )
)
FORMATS.register("dpo")(
    Format(
        help="conversations, chosen, rejected, for LLaMA-Factory",
        tables=dpo,
        notes=preference_notes,
        llama_factory=lambda options: {"dpo": SHAREGPT_RANKING},
        limit=FACTORY_LIMIT,
    )
)
