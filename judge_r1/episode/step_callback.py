"""Observes episodes while they run: the server streams their steps."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from judge_r1.episode.machine import Episode

StepCallback = Callable[[Episode], None]
_callback: ContextVar[StepCallback | None] = ContextVar("step_callback", default=None)


@contextmanager
def step_callback(callback: StepCallback | None) -> Iterator[None]:
    """Within the block, and in tasks started in it, `callback` receives every episode after each of its steps."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def notify_step(episode: Episode) -> None:
    """Call the callback of the current context, if there is one."""
    if (callback := _callback.get()) is not None:
        callback(episode)
