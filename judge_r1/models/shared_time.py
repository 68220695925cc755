"""Divides the time of a model among the calls that run at once."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from judge_r1.models.base import GenerateRequest, Generation, LanguageModel


class SharedTime:
    """Divides every second evenly among the calls that run in it, so that the seconds of all calls add up to the time
    in which any of them ran."""

    def __init__(self) -> None:
        self._lock, self._since = threading.Lock(), 0.0
        self._running: dict[object, float] = {}

    @contextmanager
    def call(self) -> Iterator[list[float]]:
        """Times a call. At the end of the block, the list holds its seconds."""
        key, spent = object(), list[float]()
        with self._lock:
            self._divide()
            self._running[key] = 0.0
        try:
            yield spent
        finally:
            with self._lock:
                self._divide()
                spent.append(self._running.pop(key))

    def _divide(self) -> None:
        now = time.monotonic()
        for key in self._running:
            self._running[key] += (now - self._since) / len(self._running)
        self._since = now


class TimeSharingModel:
    """A language model whose generations have their part of the `SharedTime` as `usage.seconds`, in place of the time
    from request to answer, which overlaps."""

    def __init__(self, model: LanguageModel, shared: SharedTime) -> None:
        self._model, self._shared = model, shared

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """As the model's."""
        with self._shared.call() as spent:
            generations = await self._model.generate(requests)
        for generation in generations:
            generation.usage.seconds = spent[0] / len(generations)
        return generations
