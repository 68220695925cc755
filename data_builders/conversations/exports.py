"""Training files of conversation pairs: the benchmark's prompt, and the answer that is right in all three parts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from data_builders.exports import FACTORY_LIMIT, TRL_LIMIT, Format, Options, alpaca_row, single
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


def _sft(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
    pair = example.pair
    fields = alpaca_row(_messages(example), gold_answer(pair))
    return {**fields, "pair_id": pair.pair_id, "document_id": pair.document_id}


def _trl_sft(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
    completion = [{"role": "assistant", "content": gold_answer(example.pair)}]
    return {"prompt": _messages(example), "completion": completion, "pair_id": example.pair.pair_id}


def _trl_grpo(example: ConversationExample, index: int, split: str) -> dict[str, Any]:
    pair = example.pair
    return {
        "prompt": _messages(example), "winner": pair.preferred, "round": pair.flawed_round,
        "failure": pair.failure, "pair_id": pair.pair_id, "document_id": pair.document_id,
    }  # fmt: skip


def _notes(options: Options) -> Sequence[str]:
    return [
        "Prompts show the document and both conversations. An answer is right if the better side, the round and the "
        "type are right. Rows of grpo have the labels for `judge_r1.benchmarks.rankjudge.reward`."
    ]


CONVERSATION_FORMATS: Mapping[str, Format[ConversationExample]] = {
    "sft": single("instruction, input, output, for LLaMA-Factory", _notes, FACTORY_LIMIT, sft=_sft),
    "trl": single(
        "prompt and completion for SFTTrainer, prompts with labels for GRPOTrainer",
        _notes,
        TRL_LIMIT,
        sft=_trl_sft,
        grpo=_trl_grpo,
    ),
}
