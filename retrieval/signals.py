"""Handles signals of a process within a block."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def signal_handlers(handler: Callable[[int, FrameType | None], None], *signums: signal.Signals) -> Iterator[None]:
    """Handles these signals within the block. Does nothing outside the main thread, which alone may set handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {signum: signal.signal(signum, handler) for signum in signums}
    try:
        yield
    finally:
        for signum, earlier in before.items():
            signal.signal(signum, earlier or signal.SIG_DFL)
