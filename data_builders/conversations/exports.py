"""Training files of conversation pairs: the benchmark's prompt, and the answer that is right in all three parts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from data_builders.exports import ALPACA_SYSTEM, Format, Options, Row
from judge_r1.benchmarks.rankjudge.prompt import pairwise_prompt
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.verdicts import LocatedVerdict
from judge_r1.episode.located_answer import located_answer


class ConversationExample(NamedTuple):
    """A pair and its document."""

    pair: ConversationPair
    document: Document


def gold_answer(pair: ConversationPair) -> str:
    """The answer that scores 1."""
    return located_answer(LocatedVerdict(winner=pair.preferred, round=pair.flawed_round, failure=pair.failure))


def _messages(example: ConversationExample) -> list[dict[str, str]]:
    pair = example.pair
    return pairwise_prompt(pair.conversation_a, pair.conversation_b, example.document.context).chat()


def _sft(options: Options) -> Mapping[str, Row[ConversationExample]]:
    def row(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
        system, user = _messages(example)
        output = gold_answer(example.pair)
        return {
            "instruction": system["content"], "input": user["content"], "output": output,
            "pair_id": example.pair.pair_id, "document_id": example.pair.document_id,
        }  # fmt: skip

    return {"sft": row}


def _trl(options: Options) -> Mapping[str, Row[ConversationExample]]:
    def sft(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
        last = {"role": "assistant", "content": gold_answer(example.pair)}
        return {"messages": [*_messages(example), last], "pair_id": example.pair.pair_id}

    def grpo(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
        pair = example.pair
        return {
            "prompt": _messages(example), "winner": pair.preferred, "round": pair.flawed_round,
            "failure": pair.failure, "pair_id": pair.pair_id, "document_id": pair.document_id,
        }  # fmt: skip

    return {"sft": sft, "grpo": grpo}


def _notes(options: Options) -> Sequence[str]:
    return [
        "Prompts show the document and both conversations. An answer is right if the better side, the round and the "
        "type are right. Rows of grpo have the labels for `judge_r1.benchmarks.rankjudge.reward`."
    ]


CONVERSATION_FORMATS: Mapping[str, Format[ConversationExample]] = {
    "sft": Format(
        help="instruction, input, output, for LLaMA-Factory",
        tables=_sft,
        notes=_notes,
        llama_factory=lambda options: {"sft": ALPACA_SYSTEM},
        reads=(),
    ),
    "trl": Format(
        help="messages for SFTTrainer, prompts with labels for GRPOTrainer", tables=_trl, notes=_notes, reads=()
    ),
}
