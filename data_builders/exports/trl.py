"""`trl`: conversational tables: `messages` for its SFTTrainer; prompt, chosen, rejected for its DPOTrainer."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.exports import FORMATS, Format, Options, Row
from data_builders.exports.answers import answer_note, preference, preference_notes, prompt_note, question
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.training.data.targets import answer


def tables(options: Options) -> Mapping[str, Row]:
    def sft(pair: ReasoningPair, case: Case, index: int, split: str) -> dict[str, Any]:
        messages = [*question(pair, case, options), *_assistant(answer(pair.gold, options.answer))]
        return {"messages": messages, "pair_id": pair.pair_id}

    def dpo(pair: ReasoningPair, case: Case, index: int, split: str) -> dict[str, Any]:
        prompt, chosen, rejected = preference(pair, case, options)
        return {
            "prompt": list(prompt),
            "chosen": _assistant(chosen),
            "rejected": _assistant(rejected),
            "pair_id": pair.pair_id,
        }

    return {"sft": sft, "dpo": dpo}


def notes(options: Options) -> Sequence[str]:
    shared = [prompt_note(options), answer_note(options)]
    return [f"sft. {' '.join(shared)}", f"dpo. {' '.join(preference_notes(options))}"]


def _assistant(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


FORMATS.register("trl")(Format(help="messages, and prompt, chosen, rejected, for TRL", tables=tables, notes=notes))
