"""Measures the time of each stage of a step."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class StageTimer:
    """Accumulates exclusive wall time per stage: the time of a nested stage does not count for the outer one."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        self._inside.append(0.0)
        try:
            yield
        finally:
            total = time.perf_counter() - started
            self._seconds[name] += total - self._inside.pop()
            if self._inside:
                self._inside[-1] += total

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name] += seconds

    def pop(self) -> dict[str, float]:
        """The seconds of each stage since the last call."""
        seconds = dict(self._seconds)
        self._seconds.clear()
        return seconds
