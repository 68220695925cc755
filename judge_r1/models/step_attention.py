"""Attention of one new token per row on a processor, where it takes most of the time of a small model.

That time goes into reading keys and values from memory. Here a text that several rows begin with is read once for all
of them, and the rest in one pass over a contiguous tensor: spare columns are cheaper to read than to leave out.
"""

from collections.abc import Sequence

import torch

from judge_r1.models.kv_cache import PreallocatedLayer, States


class SharedTexts:
    """The states of texts that rows begin with, by layer `[texts, heads, longest, size]`, padded on the left.

    `mask`, [texts, longest], is 1 on the states.
    """

    def __init__(self, texts: Sequence[tuple[int, ...]], states: States, mask: torch.Tensor) -> None:
        self.texts, self.mask = list(texts), mask
        self.layers = [(keys.contiguous(), values.contiguous()) for keys, values in states]
        self._places: _Places | None = None

    def places(self, text_of: Sequence[int | None]) -> "_Places":
        """Where the rows of each text stand. Most steps have the rows of the one before."""
        if self._places is None or self._places.text_of != text_of:
            self._places = _Places(self, list(text_of))
        return self._places

    def text_of(self, prompt: Sequence[int], known: int) -> int | None:
        """The text that the prompt begins with, if it is among the `known` first ids."""
        for number, text in enumerate(self.texts):
            if len(text) <= known and tuple(prompt[: len(text)]) == text:
                return number
        return None

    def states(self, text: int) -> States:
        """Views of the states of one text."""
        length = len(self.texts[text])
        return [(keys[text, :, -length:], values[text, :, -length:]) for keys, values in self.layers]


class _Places:
    """Maps between rows and the rows of each text."""

    def __init__(self, shared: SharedTexts, text_of: list[int | None]) -> None:
        self.text_of = text_of
        rows_of: list[list[int]] = [[] for _ in shared.texts]
        slot = [0] * len(text_of)
        for row, text in enumerate(text_of):
            if text is not None:
                slot[row] = len(rows_of[text])
                rows_of[text].append(row)
        self._slots, device = max(map(len, rows_of)), shared.mask.device
        # Filled up with row 0, whose results nobody reads.
        self._row_at = torch.tensor([rows + [0] * (self._slots - len(rows)) for rows in rows_of], device=device)
        self._text, self._slot_of = torch.tensor(
            [[text or 0, at] for text, at in zip(text_of, slot, strict=True)], device=device
        ).T
        none = torch.tensor([[text is None] for text in text_of], device=device)
        self._without_text = none[:, :, None, None] if None in text_of else None
        self.bias = torch.zeros(len(text_of), shared.mask.shape[1], device=device).masked_fill_(
            none | (shared.mask == 0)[self._text], -torch.inf
        )

    def by_text(self, x: torch.Tensor) -> torch.Tensor:
        """`[rows, groups, shared, n]` to `[texts, groups, slots * shared, n]`."""
        return x[self._row_at].transpose(1, 2).flatten(2, 3)

    def by_row(self, x: torch.Tensor, shared: int) -> torch.Tensor:
        """The inverse, with the numbers of some text for a row without one."""
        return x.view(*x.shape[:2], self._slots, shared, x.shape[3])[self._text, :, self._slot_of]

    def zeroed(self, x: torch.Tensor) -> torch.Tensor:
        """`x` by row, 0 for rows without a text."""
        return x if self._without_text is None else x.masked_fill(self._without_text, 0.0)


class StepAttention:
    """The attention of one step, in which each row adds a state to its layers.

    `mask`, [rows, columns and the new one], is 1 on the row's states in the layers. `text_of` are the shared texts that
    the rows begin with.
    """

    def __init__(
        self,
        layers: Sequence[PreallocatedLayer],
        mask: torch.Tensor,
        shared: SharedTexts | None,
        text_of: Sequence[int | None],
    ) -> None:
        self.layers, self._shared = layers, shared
        for layer in layers:
            layer.reserve(right=1)
        rows, (start, columns) = len(mask), layers[0].allocated_columns
        bias = torch.full((rows, columns), -torch.inf, device=mask.device)
        bias[:, start : start + mask.shape[1]].masked_fill_(mask == 1, 0.0)
        if shared is not None:
            self._places = shared.places(text_of)
            bias = torch.cat([self._places.bias, bias], dim=1)
        self._bias = bias[:, None, None]

    def attend(self, layer: int, query: torch.Tensor, scaling: float) -> torch.Tensor:
        """`query`, [rows, heads, 1, size], to [rows, 1, heads, size]. The layer holds the states of the new tokens."""
        rows, heads, _, size = query.shape
        keys, values = self.layers[layer].allocated(rows)
        groups = keys.shape[1]
        grouped = query.reshape(rows, groups, heads // groups, size)
        scores = _product(grouped, keys.transpose(2, 3))
        if self._shared is not None:
            shared_keys, shared_values = self._shared.layers[layer]
            over_texts = _product(self._places.by_text(grouped), shared_keys.transpose(2, 3))
            scores = torch.cat([self._places.by_row(over_texts, heads // groups), scores], dim=3)
        weights = torch.softmax(torch.add(self._bias, scores, alpha=scaling), dim=3)
        own = _product(weights[..., weights.shape[3] - keys.shape[2] :], values)
        if self._shared is not None:
            over_texts = _product(self._places.by_text(weights[..., : shared_values.shape[2]]), shared_values)
            own += self._places.zeroed(self._places.by_row(over_texts, heads // groups))
        return own.reshape(rows, 1, heads, size)


def _product(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`one @ other`, which would copy tensors whose rows are not adjacent."""
    return torch.bmm(one.flatten(0, 1), other.flatten(0, 1)).view(*one.shape[:3], other.shape[3])
