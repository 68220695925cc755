"""The pairs of a run: whether they fill its steps, and their order, fixed before it starts so that a resumed run sees
the same."""

from collections import Counter
from collections.abc import Sequence

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import are, counted
from judge_r1.episode.rollout import check_prompts
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.hub import context_length
from judge_r1.training.recipe import Recipe

_SORTED_BATCHES = 50
"""Number of batches that are sorted by length together, so that examples of a batch have similar lengths."""


def shuffled(count: int, wanted: int, seed: int) -> list[int]:
    """`wanted` indices below `count`: epochs, each in a different order, the last one truncated."""
    epochs = range(-(-wanted // max(count, 1)))
    return [i for epoch in epochs for i in _epoch(count, epoch, seed)][:wanted]


def _epoch(count: int, epoch: int, seed: int) -> list[int]:
    # By hash: the order is the same in every version of Python and in both engines.
    return sorted(range(count), key=lambda i: content_hash("order", seed, epoch, i))


def pair_order(data: PairSet, wanted: int, seed: int) -> list[int]:
    """The order of GRPO: as `shuffled`, with the pairs in which A is better spread evenly over an epoch, so B's too.

    A judge without evidence guesses. Where more pairs of a step have one better side, guessing that side pays, and a
    judge that always answers so gets no other gradient."""
    sides = [pair.preferred for pair in data.pairs]
    count, total, order = len(sides), Counter(sides), list[int]()
    for epoch in range(-(-wanted // max(count, 1))):
        seen, places = Counter[str](), dict[int, float]()
        for i in _epoch(count, epoch, seed):
            places[i] = (seen[sides[i]] + 0.5) / total[sides[i]]
            seen[sides[i]] += 1
        order += sorted(places, key=places.__getitem__)
    return order[:wanted]


def by_length(lengths: Sequence[int], wanted: int, batch_size: int, seed: int) -> list[int]:
    """As `shuffled`, with examples of similar length in a batch to reduce padding. The order of batches is random."""
    order = shuffled(len(lengths), wanted, seed)
    chunk = _SORTED_BATCHES * batch_size
    sorted_: list[int] = []
    for start in range(0, wanted, chunk):
        sorted_ += sorted(order[start : start + chunk], key=lambda i: -lengths[i])
    batches = [sorted_[start : start + batch_size] for start in range(0, wanted, batch_size)]
    # A partial batch stays last: in the middle it would shift the examples of all later steps.
    rest = [batches.pop()] if wanted % batch_size else []
    batches = [batches[i] for i in shuffled(len(batches), len(batches), seed)]
    return [i for batch in batches + rest for i in batch]


def check_data(recipe: Recipe, data: PairSet, tokenizer: SafeTokenizer, dev: PairSet | None = None) -> None:
    """Check that the pairs fill a step of GRPO and that every prompt fits, also those of the dev pairs.

    Raises:
        JudgeError: There are too few pairs, or a prompt is too long.
    """
    if len(data.pairs) < recipe.grpo.pairs_per_step:
        raise JudgeError(
            f"recipe {recipe.name}: {counted(len(data.pairs), 'pair')} {are(len(data.pairs))} too few for one step of "
            f"grpo.pairs_per_step {recipe.grpo.pairs_per_step}"
        )
    for pairs in (data, dev) if dev is not None else (data,):
        check_prompts(pairs, recipe.episode, tokenizer, context_length(recipe.model))
