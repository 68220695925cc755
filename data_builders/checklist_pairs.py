"""The data set of pairs of responses that were scored by checklists, and its export formats."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from data_builders.dataset_type import DatasetType, RecordFile
from data_builders.exports import AS_RECORDS, Format, Options, alpaca_row, single
from judge_r1.core.pair_set import PAIRS_FILE
from judge_r1.episode.checklist_pair import ChecklistPair
from judge_r1.episode.checklist_reward import COMPARISON, LOWER


def labels(pair: ChecklistPair) -> Mapping[str, Iterable[str]]:
    return {"by_task": [pair.task], "by_preferred": [pair.preferred], "by_lower_items": [str(len(pair.lower))]}


PAIR_FILE = RecordFile("pair", PAIRS_FILE, ChecklistPair, "pair_id", labels)


def _sft(pair: ChecklistPair, index: int, split: str) -> dict[str, Any]:
    return {**alpaca_row(pair.prompt().chat(), pair.answer), "pair_id": pair.pair_id}


def _trl_sft(pair: ChecklistPair, index: int, split: str) -> dict[str, Any]:
    """TRL trains on the whole of `messages`, and on the completion alone of these two columns."""
    completion = [{"role": "assistant", "content": pair.answer}]
    return {"prompt": pair.prompt().chat(), "completion": completion, "pair_id": pair.pair_id}


def _trl_grpo(pair: ChecklistPair, index: int, split: str) -> dict[str, Any]:
    return {
        "prompt": pair.prompt().chat(), COMPARISON: pair.comparison, LOWER: list(pair.lower), "pair_id": pair.pair_id,
    }  # fmt: skip


def _notes(options: Options) -> Sequence[str]:
    return [
        "Answers: one JSON object with `comparison` and `lower_items`, the questions on which the worse response "
        "scores lower."
    ]


class ChecklistPairDataset(DatasetType[ChecklistPair]):
    """Pairs of responses. An example is a pair."""

    files = (PAIR_FILE,)
    main = PAIR_FILE
    title = "Pairs of long responses, compared by checklists"
    description = (
        "Which of two responses is better by a weighted checklist, and on which questions the other is lower.",
    )
    tags = ("llm-as-a-judge", "preference", "long-text")

    def formats(self) -> Mapping[str, Format[ChecklistPair]]:
        return {
            "jsonl": AS_RECORDS,
            "sft": single("instruction, input, output, for LLaMA-Factory", _notes, sft=_sft),
            "trl": single(
                "prompts with completions for SFTTrainer, prompts with labels for GRPOTrainer",
                _notes,
                sft=_trl_sft,
                grpo=_trl_grpo,
            ),
        }
