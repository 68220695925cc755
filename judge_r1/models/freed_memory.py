"""Keeps the memory of freed tensors in the process, where a model runs on a processor."""

import ctypes
import os
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's `mallopt`."""
_KEPT_BYTES = 2**30
_VARIABLES = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")


def keep_freed_memory() -> None:
    """Let glibc use freed memory, up to 1 GiB, for the next tensors.

    By default it gives large blocks back at once. The system then clears and maps every page of the next tensor, which
    takes up to a tenth of a training step of a small model. Without glibc nothing happens, nor where the environment
    has settings of malloc.
    """
    own = "glibc.malloc." in os.environ.get("GLIBC_TUNABLES", "") or any(name in os.environ for name in _VARIABLES)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" and not own else None
    # Some versions refuse a threshold above 32 MiB. The other parameter alone would freeze this one at 128 KiB.
    if mallopt is not None and any(mallopt(_MMAP_THRESHOLD, size) for size in (_KEPT_BYTES, 2**25)):
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
