"""`dpo`: ShareGPT conversations with a chosen and a rejected answer (paper, Table 7), for LLaMA-Factory."""

from collections.abc import Mapping
from typing import Any

from data_builders.exports import FORMATS, Format, Options, Row
from data_builders.exports.answers import preference, preference_notes
from judge_r1.core.records import Case, ReasoningPair


def tables(options: Options) -> Mapping[str, Row]:
    def row(pair: ReasoningPair, case: Case, index: int, split: str) -> dict[str, Any]:
        (system, user), chosen, rejected = preference(pair, case, options)
        return {
            "conversations": [_said("system", system["content"]), _said("human", user["content"])],
            "chosen": _said("gpt", chosen),
            "rejected": _said("gpt", rejected),
            "pair_id": pair.pair_id,
        }

    return {"dpo": row}


def _said(who: str, text: str) -> dict[str, str]:
    return {"from": who, "value": text}


FORMATS.register("dpo")(
    Format(
        help="conversations, chosen, rejected, for LLaMA-Factory",
        tables=tables,
        notes=preference_notes,
        llama_factory={
            "dpo": {
                "formatting": "sharegpt",
                "ranking": True,
                "columns": {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"},
            }
        },
    )
)
