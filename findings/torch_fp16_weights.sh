#!/usr/bin/env bash
# torch: weights that FBGEMM packs in float16 take as much memory as float32 where a layer has few inputs.
# `linear_prepack_fp16` keeps weights in half the bytes and multiplies them in float32. It pads the inputs to a multiple
# of 512, so that a layer of 576 inputs takes 1.78 times its 2 bytes a weight, and one of 520 twice: the size of float32.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages torch==2.13.0 numpy==2.2.6
seen <<'PY'
import gc
from pathlib import Path

import torch


def bytes_a_weight(inputs: int) -> float:
    weight = torch.randn(50_000, inputs)
    packed = torch.ops.quantized.linear_prepack_fp16(weight[:64], None)  # what packing allocates once
    gc.collect()
    before = resident()
    packed = torch.ops.quantized.linear_prepack_fp16(weight, None)
    gc.collect()
    return round((resident() - before) / weight.numel(), 1)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


torch.backends.quantized.engine = "fbgemm"
found = {inputs: bytes_a_weight(inputs) for inputs in (512, 520, 576, 1024)}
assert found == {512: 2.0, 520: 3.9, 576: 3.6, 1024: 2.0}, found
print(f"inputs: bytes a weight of linear_prepack_fp16: {found}")
PY
