"""Who wants to see an episode while it is played says so here, for itself and what it awaits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from judge_r1.episode.machine import Episode

StepCallback = Callable[[Episode], None]
_listener: ContextVar[StepCallback | None] = ContextVar("listener", default=None)


@contextmanager
def step_callback(listener: StepCallback | None) -> Iterator[None]:
    """Within the block, `listener` sees every episode after each of its steps."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def notify_step(episode: Episode) -> None:
    """A step of this episode is done."""
    if (listener := _listener.get()) is not None:
        listener(episode)
