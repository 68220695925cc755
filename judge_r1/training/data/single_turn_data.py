"""Pairs as training examples in one turn: gold judgments for SFT, preferences for DPO. Nothing in them is ever cut."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair, Trajectory, content_hash
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import PromptTooLong, new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.training.data.targets import answer, answer_form, reasonings, wrong_judgment
from judge_r1.training.recipe import Recipe


class AnswerDoesNotFit(JudgeError):
    """A gold judgment that the judge itself could not give under the recipe's episode."""


def judgment_traces(data: PairSet, recipe: Recipe, codec: SafeTokenizer, eos_id: int) -> list[Trajectory]:
    """The gold judgments that a recipe trains on (`sft.traces` of them, in an order that the seed decides)."""
    pairs = sorted(data.pairs, key=lambda pair: content_hash("order", pair.pair_id, recipe.seed))
    return [gold_answer(pair, data, recipe.episode, codec, eos_id) for pair in pairs[: recipe.sft.traces]]


def gold_answer(
    pair: ReasoningPair, data: PairSet, config: EpisodeConfig, codec: SafeTokenizer, eos_id: int
) -> Trajectory:
    """The gold judgment of a pair, played through the episode machine, so that it is what the judge could write.

    Errors: PromptTooLong; AnswerDoesNotFit where the episode does not end with it and r = 1.
    """
    episode = new_episode(pair, data, config, codec, (eos_id,))
    ids = codec.encode_policy_text(answer(pair.gold, answer_form(config)))
    used = episode.feed([*ids, eos_id], [0.0] * (len(ids) + 1))
    trajectory = with_reward(episode.trajectory(), pair)
    if used < len(ids) or trajectory.reward is None or trajectory.reward["r"] != 1.0:
        raise AnswerDoesNotFit(
            f"pair {pair.pair_id}: its gold judgment of {len(ids)} tokens ends an episode as {trajectory.ended!r}: "
            "raise episode.budget.response_tokens, or set episode.thinking to false"
        )
    return trajectory


def preference_rows(
    data: PairSet, recipe: Recipe, codec: SafeTokenizer, eos_id: int, context_length: int | None
) -> Iterator[dict[str, Any]]:
    """A row for each pair: `prompt_ids`, `chosen_ids` and `rejected_ids` (both ended by EOS), and `length`, the tokens
    of the prompt with the longer answer.

    The two answers are the gold judgment and a wrong one, or the two reasonings of the pair (`dpo.form`). Errors:
    PromptTooLong for a prompt over `prompt_tokens` or a row over what the model reads.
    """
    ids_of = _judgments if recipe.dpo.form == "judgment" else _reasonings
    for pair in data.pairs:
        prompt, chosen, rejected = ids_of(pair, data, recipe, codec, eos_id)
        length = len(prompt) + max(len(chosen), len(rejected)) + 1
        if context_length and length > context_length:
            raise PromptTooLong(
                f"pair {pair.pair_id}: its prompt and answer have {length} tokens, the model reads {context_length}: "
                "leave the pair out",
                length,
                context_length,
            )
        yield {
            "prompt_ids": prompt,
            "chosen_ids": [*chosen, eos_id],
            "rejected_ids": [*rejected, eos_id],
            "length": length,
        }


Ids = tuple[Sequence[int], list[int], list[int]]


def _judgments(pair: ReasoningPair, data: PairSet, recipe: Recipe, codec: SafeTokenizer, eos_id: int) -> Ids:
    form = answer_form(recipe.episode)
    gold = gold_answer(pair, data, recipe.episode, codec, eos_id)
    chosen, rejected = (answer(judgment, form) for judgment in (pair.gold, wrong_judgment(pair, recipe.seed)))
    return gold.prompt_ids, codec.encode_policy_text(chosen), codec.encode_policy_text(rejected)


def _reasonings(pair: ReasoningPair, data: PairSet, recipe: Recipe, codec: SafeTokenizer, eos_id: int) -> Ids:
    config = recipe.episode
    asked, chosen, rejected = reasonings(pair, data.case_of(pair), config)
    prompt = codec.prompt_ids(asked, thinking=config.thinking)
    if len(prompt) > config.prompt_tokens:
        raise PromptTooLong(
            f"pair {pair.pair_id}: its prompt has {len(prompt)} tokens, over prompt_tokens {config.prompt_tokens}; "
            "raise it or leave the pair out",
            len(prompt),
            config.prompt_tokens,
        )
    return prompt, codec.encode_untrusted(chosen), codec.encode_untrusted(rejected)


Traces = Callable[[], Sequence[Trajectory]]
"""Makes the trajectories that a run is trained on; called in one process only."""
