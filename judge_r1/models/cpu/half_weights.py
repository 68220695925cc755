"""Weights in float16 for a model that samples on a processor.

A step of a few rows waits for the weights to come from memory. FBGEMM, which is part of PyTorch, keeps those of linear
layers in float16 and multiplies and adds in float32. Of weights that were published in bfloat16 only those below 6e-5
change, by at most 3e-8. FBGEMM pads the inputs of a layer to a multiple of 512, so that narrow layers save no memory.
"""

from typing import Any

import torch
from torch import nn

LEAST = 2**25
"""Weights of a model that no processor's caches hold. A smaller one gains nothing and keeps float32."""
_ENGINES = ("x86", "fbgemm")
"""PyTorch's backends for quantized layers that have FBGEMM."""
_LARGEST = torch.finfo(torch.float16).max


class _HalfLinear(nn.Module):
    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self._packed = torch.ops.quantized.linear_prepack_fp16(linear.weight.detach(), linear.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = torch.ops.quantized.linear_dynamic_fp16(x, self._packed)
        return found

    @property
    def weight(self) -> torch.Tensor:
        """A float32 copy, for models that ask for the dtype of a layer."""
        copy: torch.Tensor = torch.ops.quantized.linear_unpack_fp16(self._packed)[0]
        return copy


class _HalfEmbedding(nn.Module):
    weight: torch.Tensor

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self.register_buffer("weight", embedding.weight.detach().half())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return nn.functional.embedding(ids, self.weight).float()


_HALVES: dict[type[Any], Any] = {nn.Linear: _HalfLinear, nn.Embedding: _HalfEmbedding}


@torch.no_grad()
def halve_weights(model: Any) -> bool:
    """Replace the linear layers and embeddings of a float32 model by those with float16 weights, one after the other,
    if the model has `LEAST` weights. A layer with a weight beyond float16 stays. Returns whether the model is changed;
    it cannot be trained or saved then."""
    small = sum(weight.numel() for weight in model.parameters()) < LEAST
    if small or model.device.type != "cpu" or torch.backends.quantized.engine not in _ENGINES:
        return False
    _halve_below(model)
    return True


def _halve_below(parent: Any) -> None:
    for name, layer in parent.named_children():
        half = _HALVES.get(type(layer))
        if half is not None and layer.weight.dtype == torch.float32 and _fits(layer.weight):
            setattr(parent, name, half(layer))
        else:
            _halve_below(layer)
    for rest in (*parent.parameters(recurse=False), *parent.buffers(recurse=False)):
        rest.data = rest.data.clone()  # a view of a file would keep all of it in memory


def _fits(weight: torch.Tensor) -> bool:
    if not weight.numel():
        return False
    least, most = torch.aminmax(weight)
    return bool(max(-least, most) <= _LARGEST)
