"""Single-turn training examples from pairs: gold judgments for SFT, preferences for DPO. Nothing is truncated."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.questions import Question, TaskName, question, question_keys
from judge_r1.episode.rollout import PromptTooLong, new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.judges.scalar import scalar_ids
from judge_r1.training.data.targets import (
    answer,
    answer_form,
    chosen_principles,
    reasonings,
    violations,
    wrong_judgment,
)
from judge_r1.training.recipe import Recipe


class AnswerDoesNotFit(JudgeError):
    """A gold judgment that does not fit the recipe's episode."""


def judgment_examples(data: PairSet, recipe: Recipe, tokenizer: SafeTokenizer, eos_id: int) -> list[Trajectory]:
    """The gold judgments that a recipe trains on: `sft.examples` of them in seeded order."""
    task: TaskName = "pointwise" if recipe.sft.form == "score" else "pairwise"
    by_id = data.by_id()
    keys = sorted(question_keys(data, task), key=lambda key: content_hash("order", key, recipe.seed))
    asked = (question(key, by_id) for key in keys[: recipe.sft.examples])
    return [gold_answer(one, data, recipe.episode, tokenizer, eos_id) for one in asked]


def gold_answer(
    pair: Question, data: PairSet, config: EpisodeConfig, tokenizer: SafeTokenizer, eos_id: int
) -> Trajectory:
    """The gold judgment of a pair as a trajectory of the episode state machine, as a judge would write it.

    Raises:
        PromptTooLong: The prompt is over `prompt_tokens`.
        AnswerDoesNotFit: The episode does not end with the judgment.
    """
    episode = new_episode(pair, data, config, tokenizer, (eos_id,))
    gold = pair.gold
    ids = tokenizer.encode_policy_text(answer(gold, answer_form(config), config.prompt))
    used = episode.feed([*ids, eos_id], [0.0] * (len(ids) + 1))
    trajectory = episode.trajectory()
    judgment = trajectory.judgment and trajectory.judgment.model_copy(update={"explanation": None})
    if used < len(ids) or judgment != gold:
        raise AnswerDoesNotFit(
            f"pair {pair.pair_id}: its gold judgment of {len(ids)} tokens ends an episode as {trajectory.ended!r}: "
            "raise episode.budget.response_tokens, or set episode.thinking to false"
        )
    return trajectory


def preference_rows(
    data: PairSet, recipe: Recipe, tokenizer: SafeTokenizer, eos_id: int, context_length: int | None
) -> Iterator[dict[str, Any]]:
    """One row per pair: `prompt_ids`, `chosen_ids` and `rejected_ids`, and `length`, the number of tokens of the prompt
    with the longer answer.

    The answers are right and wrong principles of the flawed reasoning (Table 7), the gold and a wrong judgment, or the
    two reasonings of the pair (`dpo.form`), each with EOS. For `scalar` the ids are those that `scalar@MODEL` reads,
    prompt included and without EOS: all of it is the prompt.

    Raises:
        PromptTooLong: A prompt is over `prompt_tokens`, or a row over `context_length`.
    """
    make_ids = {"judgment": _judgments, "scalar": _scored}.get(recipe.dpo.form, _turns)
    principles = chosen_principles(data.pairs)
    for pair in data.pairs:
        prompt, chosen, rejected = make_ids(pair, data, recipe, tokenizer, eos_id, principles)
        end = [] if recipe.dpo.form == "scalar" else [eos_id]
        length = len(prompt) + max(len(chosen), len(rejected)) + len(end)
        if context_length and length > context_length:
            raise PromptTooLong(
                f"pair {pair.pair_id}: its prompt and answer have {length} tokens, and the model's "
                f"context has {context_length}: "
                "leave the pair out",
                length,
                context_length,
            )
        yield {
            "prompt_ids": prompt, "chosen_ids": [*chosen, *end], "rejected_ids": [*rejected, *end], "length": length,
        }  # fmt: skip


Ids = tuple[Sequence[int], list[int], list[int]]


def _judgments(
    pair: ReasoningPair,
    data: PairSet,
    recipe: Recipe,
    tokenizer: SafeTokenizer,
    eos_id: int,
    principles: Sequence[int],
) -> Ids:
    form = answer_form(recipe.episode)
    gold = gold_answer(pair, data, recipe.episode, tokenizer, eos_id)
    wrong = wrong_judgment(pair, recipe.seed, principles)
    chosen, rejected = (answer(judgment, form, recipe.episode.prompt) for judgment in (pair.gold, wrong))
    return gold.prompt_ids, tokenizer.encode_policy_text(chosen), tokenizer.encode_policy_text(rejected)


def _scored(
    pair: ReasoningPair,
    data: PairSet,
    recipe: Recipe,
    tokenizer: SafeTokenizer,
    eos_id: int,
    principles: Sequence[int],
) -> Ids:
    case = data.case_of(pair)
    asked = [*filter(None, (case.context, case.decision))]
    chosen, rejected = (scalar_ids(tokenizer, [*asked, text]) for text in (pair.reference, pair.flawed))
    _check_length(pair, max(len(chosen), len(rejected)), recipe.episode)
    return [], chosen, rejected


def _turns(
    pair: ReasoningPair,
    data: PairSet,
    recipe: Recipe,
    tokenizer: SafeTokenizer,
    eos_id: int,
    principles: Sequence[int],
) -> Ids:
    config, case, table7 = recipe.episode, data.case_of(pair), recipe.dpo.form == "table7"
    task, chosen, rejected = (
        violations(pair, case, config, recipe.seed, principles) if table7 else reasonings(pair, case, config)
    )
    prompt = tokenizer.prompt_ids(task, thinking=config.thinking)
    _check_length(pair, len(prompt), config)
    encode = tokenizer.encode_policy_text if table7 else tokenizer.encode_untrusted
    return prompt, encode(chosen), encode(rejected)


def _check_length(pair: ReasoningPair, tokens: int, config: EpisodeConfig) -> None:
    if tokens > config.prompt_tokens:
        raise PromptTooLong(
            f"pair {pair.pair_id}: its prompt has {tokens} tokens, over prompt_tokens {config.prompt_tokens}; "
            "raise it or leave the pair out",
            tokens,
            config.prompt_tokens,
        )


Examples = Callable[[], Sequence[Trajectory]]
"""Returns the trajectories that a run trains on. Called in one process only."""
