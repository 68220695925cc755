"""The order of training examples over a whole run, decided before it starts: a run that is resumed sees the same."""

from collections.abc import Sequence

from judge_r1.core.records import content_hash

_SORTED_BATCHES = 50
"""Batches whose examples are sorted by length together: examples of a batch are then alike in length."""


def shuffled(count: int, wanted: int, seed: int) -> list[int]:
    """`wanted` indices below `count`: whole epochs, each in an order of its own, the last one cut."""
    epochs = range(-(-wanted // max(count, 1)))
    return [i for epoch in epochs for i in sorted(range(count), key=lambda i: content_hash("order", seed, epoch, i))][
        :wanted
    ]


def by_length(lengths: Sequence[int], wanted: int, batch_size: int, seed: int) -> list[int]:
    """As `shuffled`, with examples of like length in a batch, so that little is padded; batches come in no order of
    length."""
    order = shuffled(len(lengths), wanted, seed)
    chunk = _SORTED_BATCHES * batch_size
    sorted_ = [
        i for start in range(0, wanted, chunk) for i in sorted(order[start : start + chunk], key=lambda i: -lengths[i])
    ]
    batches = [sorted_[start : start + batch_size] for start in range(0, wanted, batch_size)]
    rest = [batches.pop()] if wanted % batch_size else []
    batches = [batches[i] for i in shuffled(len(batches), len(batches), seed)]
    return [i for batch in batches + rest for i in batch]
