"""`trl`: conversational tables with prompt and completion for SFTTrainer, and prompt, chosen, rejected for DPOTrainer.

SFTTrainer trains on the completion alone; of rows with `messages` it would train on every token of the prompt."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.exports import FORMATS, TRL_LIMIT, Format, Options, PairExample, Row
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
        completion = _assistant(target(example.pair.gold, options))
        return {"prompt": prompt_messages(example, options), "completion": completion, "pair_id": example.pair.pair_id}

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


FORMATS.register("trl")(
    Format(
        help="prompt and completion, and prompt, chosen, rejected, for TRL",
        tables=tables,
        notes=notes,
        limit=TRL_LIMIT,
    )
)
