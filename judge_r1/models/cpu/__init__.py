"""What makes models faster on processors.

| file | what it is for |
|---|---|
| `training` | parts of a model that trains |
| `half_weights` | the weights of a model that samples |
| `packed_attention` | rows of several texts, in training |
| `branch_attention` | a text and others that begin like it in one row, in reading |
| `step_attention` | one new token per row, in sampling |

`load_model` calls `faster_on_processors`; each attention has a context manager, which its callers enter.
"""

import ctypes
import os
import sys
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's `mallopt`."""
_KEPT_BYTES = 2**30
_VARIABLES = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")


def faster_on_processors(model: Any, *, training: bool, sampling: bool) -> list[str]:
    """Makes a model faster on a processor, with the same outputs up to rounding. Returns what was replaced in it, which
    is nothing in a model that only reads."""
    _keep_freed_memory()
    if sampling:
        from judge_r1.models.cpu.half_weights import halve_weights

        return ["weights in float16"] if halve_weights(model) else []
    if not training:
        return []
    from judge_r1.models.cpu.packed_attention import NAME
    from judge_r1.models.cpu.training import drop_masks_of_right_padding, fuse_norms, skip_unlabelled_tokens

    replaced = {
        "no mask for rows that are padded on the right": drop_masks_of_right_padding(model),
        "RMS norms with a gradient of fewer passes": fuse_norms(model),
        "a last layer that skips tokens without a label": skip_unlabelled_tokens(model),
        "attention of packed rows by example": model.config.get_text_config()._attn_implementation == NAME,
    }
    return [part for part, has_it in replaced.items() if has_it]


def _keep_freed_memory() -> None:
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
