"""Keeps the memory of freed tensors in the process, where a model runs on a processor."""

import ctypes
import os
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's `mallopt`."""
_KEPT_BYTES = 2**30


def keep_freed_memory() -> None:
    """Let glibc use freed memory, up to 1 GiB, for the next tensors.

    By default it gives large blocks back at once. The system then clears and maps every page of the next tensor, which
    takes up to a tenth of a training step of a small model. Without glibc nothing happens, nor where the environment
    has settings of malloc.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None and not {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"} & os.environ.keys():
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
