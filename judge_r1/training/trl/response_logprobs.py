"""Log-probabilities over the labelled positions only, on processors too.

TRL's fused LM head projects only positions with a label where Triton compiles its kernel. Elsewhere it projects every
position, prompt and observations included, although their log-probabilities are then set to 0. On a processor, whose
shapes need no compilation, this costs a large part of a step of a small model.
"""

from typing import Any


def project_labelled_positions_only() -> None:
    """Let TRL's fused LM head skip positions without a label on processors. The values of the others stay equal."""
    from trl.trainer import utils

    compact = utils._use_triton
    if getattr(compact, "_on_processors", False):
        return

    def on_processors_too(device: Any) -> bool:
        return device.type == "cpu" or bool(compact(device))

    vars(on_processors_too)["_on_processors"] = True
    utils._use_triton = on_processors_too
