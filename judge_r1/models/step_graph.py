"""Steps of one token per row with static shapes, so that a GPU can run a step as one recorded CUDA graph.

A small model launches hundreds of short kernels for each token, and launching them takes longer than running them. A
graph launches them at once. It reads and writes fixed memory: all allocated columns of the cache, and tensors with the
ids, positions and mask of a step. The mask hides what is not in use. A new graph is recorded when the cache moves to
other memory, and for each power of two of rows.
"""

import logging
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from judge_r1.models.kv_cache import PreallocatedLayer

Forward = Callable[[], torch.Tensor]
Record = Callable[[Forward], Forward]
"""Makes a function that repeats the work of a forward pass on the same memory."""
AHEAD = 256
"""Columns at most that are reserved for the tokens to come: a graph lasts as long as they do."""
TOLERANCE = 0.05
"""Of the largest logit. A graph whose logits are further from those of its forward pass is not used."""


def cuda_graph(forward: Forward) -> Forward:
    """Records the kernels of `forward`, which has run before."""
    graph = torch.cuda.CUDAGraph()
    # Other threads, such as those that embed queries, may allocate memory meanwhile.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        out = forward()

    def replay() -> torch.Tensor:
        graph.replay()
        return out

    return replay


class StepGraphs:
    """The recorded steps of a batch. `forward` takes ids, mask, positions and cache."""

    def __init__(self, forward: Callable[..., torch.Tensor], record: Record) -> None:
        self._forward, self._record, self.usable = forward, record, True
        self.clear()

    def clear(self) -> None:
        """Drop all graphs and their memory."""
        self._steps: dict[int, _Step] = {}
        self._keys: Callable[[], torch.Tensor | None] = lambda: None

    def logits(
        self, cache: DynamicCache, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, remaining: int
    ) -> torch.Tensor:
        """Reads the last id of each row, as `forward` does with the same arguments, [rows, vocabulary]. `remaining`
        tokens may follow in the longest row. Where recording fails, `usable` turns false: call it no more."""
        layers: Sequence[PreallocatedLayer] = cache.layers
        if self._keys() is not layers[0].allocated_keys or not layers[0].has_room(1):
            self.clear()
            for layer in layers:
                layer.reserve(right=min(max(remaining, 1), AHEAD))
            self._keys = weakref.ref(layers[0].allocated_keys)
        for layer in layers:
            layer.extend(right=1)
        rows, keys = len(ids), layers[0].allocated_keys
        assert keys is not None
        size = min(len(keys), 1 << (rows - 1).bit_length())
        new = size not in self._steps
        if new:
            self._steps[size] = _Step(self._forward, layers, size)
        step = self._steps[size]
        step.fill(ids, mask, positions, layers[0].allocated_columns[0])
        if not new:
            return step.replay()[:rows].clone()
        logits = step.run()
        try:
            step.record(self._record)
            error = float((step.replay() - logits).abs().max() / logits.abs().max())
            self.usable = error <= TOLERANCE
            reason = f"its logits differ by {error:.0%}"
        except RuntimeError as failure:
            self.usable, reason = False, str(failure)
        if not self.usable:
            logging.getLogger(__name__).warning("generates without CUDA graphs, more slowly: %s", reason)
            self.clear()
        return logits[:rows].clone()


class _Step:
    """One step of `size` rows over all allocated columns."""

    def __init__(self, forward: Callable[..., torch.Tensor], layers: Sequence[PreallocatedLayer], size: int) -> None:
        columns, device = layers[0].allocated_columns[1], layers[0].keys.device
        self._ids, self._positions = (torch.zeros(size, 1, dtype=torch.long, device=device) for _ in range(2))
        self._mask = torch.zeros(size, 1, 1, columns, dtype=torch.bool, device=device)
        self._column = torch.zeros(1, dtype=torch.long, device=device)
        cache = DynamicCache()
        cache.layers = [_FixedLayer(*layer.allocated(size), self._column) for layer in layers]
        self.replay: Forward = lambda: forward(self._ids, self._mask, self._positions, cache)

    def fill(self, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, start: int) -> None:
        """Sets the inputs. `mask`, [rows, columns in use and the new one]; the first of them is column `start`."""
        rows, end = len(ids), start + mask.shape[1]
        self._ids[:rows], self._positions[:rows] = ids, positions
        self._mask.zero_()
        self._mask[:rows, 0, 0, start:end] = mask == 1
        self._mask[rows:, 0, 0, end - 1] = True  # attention to nothing would give NaN
        self._column.fill_(end - 1)

    def run(self) -> torch.Tensor:
        """The step before it is recorded. It sets up what a first call does, in a stream of its own."""
        if self._ids.device.type != "cuda":
            return self.replay()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            logits = self.replay()
        torch.cuda.current_stream().wait_stream(stream)
        return logits

    def record(self, record: Record) -> None:
        self.replay = record(self.replay)


class _FixedLayer(DynamicLayer):  # type: ignore[misc]
    """Writes the states of a new token at a column that a tensor holds, and returns all allocated columns."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, column: torch.Tensor) -> None:
        super().__init__()
        self.lazy_initialization(keys, values)
        self.keys, self.values, self._column = keys, values, column

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.keys.index_copy_(2, self._column, key_states)
        self.values.index_copy_(2, self._column, value_states)
        return self.keys, self.values
