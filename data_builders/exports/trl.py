"""`trl`: conversational tables with `messages` for SFTTrainer, and prompt, chosen, rejected for DPOTrainer."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.exports import FORMATS, Format, Options, PairExample, Row
from data_builders.exports.answers import (
    answer_note,
    preference,
    preference_notes,
    prompt_messages,
    prompt_note,
    target,
)


def tables(options: Options) -> Mapping[str, Row[PairExample]]:
    def sft(example: PairExample, index: int, split: str) -> dict[str, Any]:
        messages = [*prompt_messages(example, options), *_assistant(target(example.pair.gold, options))]
        return {"messages": messages, "pair_id": example.pair.pair_id}

    def dpo(example: PairExample, index: int, split: str) -> dict[str, Any]:
        prompt, chosen, rejected = preference(example, options)
        return {
            "prompt": prompt,
            "chosen": _assistant(chosen),
            "rejected": _assistant(rejected),
            "pair_id": example.pair.pair_id,
        }

    return {"sft": sft, "dpo": dpo}


def notes(options: Options) -> Sequence[str]:
    shared = [prompt_note(options), answer_note(options)]
    return [f"sft. {' '.join(shared)}", f"dpo. {' '.join(preference_notes(options))}"]


def _assistant(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


FORMATS.register("trl")(Format(help="messages, and prompt, chosen, rejected, for TRL", tables=tables, notes=notes))
