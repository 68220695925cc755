"""Where the seconds of a step go: a stop-watch with one hand for each stage."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class StageTimer:
    """Adds up seconds by stage; a stage inside another one counts for itself alone, so that stages sum to the whole."""

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
            whole = time.perf_counter() - started
            self._seconds[name] += whole - self._inside.pop()
            if self._inside:
                self._inside[-1] += whole

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name] += seconds

    def pop(self) -> dict[str, float]:
        """The seconds of each stage since the last call."""
        taken = dict(self._seconds)
        self._seconds.clear()
        return taken
