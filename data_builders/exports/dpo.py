"""`dpo`: ShareGPT conversations with a chosen and a rejected answer (paper, appendix D), for LLaMA-Factory."""

from collections.abc import Mapping
from typing import Any

from data_builders.exports import FORMATS, Format, Options, PairExample, Row
from data_builders.exports.answers import preference, preference_notes

SPEAKERS = {"system": "system", "user": "human"}


def tables(options: Options) -> Mapping[str, Row[PairExample]]:
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


FORMATS.register("dpo")(
    Format(
        help="conversations, chosen, rejected, for LLaMA-Factory",
        tables=tables,
        notes=preference_notes,
        llama_factory=lambda options: {
            "dpo": {
                "formatting": "sharegpt",
                "ranking": True,
                "columns": {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"},
            }
        },
    )
)
