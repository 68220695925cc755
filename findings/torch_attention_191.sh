#!/usr/bin/env bash
# torch: on a processor, attention over 191 tokens takes longer than over 192, forward and back.
# The kernel works in blocks of 32 queries below 192 tokens and of 64 from there on. One expects that a shorter text is not
# slower. It concerns packed rows and batches whose texts have 150 to 191 tokens, and benchmarks over lengths.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages torch==2.13.0 numpy==2.2.6
seen <<'PY'
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

torch.set_num_threads(1)
torch.manual_seed(0)
BEST: dict[int, float] = {}
TEXTS = {length: torch.randn(3, 1, 4, length, 32, requires_grad=True) for length in (191, 192)}


def step(length: int) -> float:
    started = time.perf_counter()
    scaled_dot_product_attention(*TEXTS[length], is_causal=True).sum().backward()
    return time.perf_counter() - started


for _ in range(300):  # in turn, so that other load meets both
    for length in TEXTS:
        BEST[length] = min(BEST.get(length, 1.0), step(length))
longer = BEST[191] / BEST[192] - 1
print(f"the fastest of 300 runs over 191 tokens takes {longer:.0%} longer than over 192")
raise SystemExit(longer < 0.03)
PY
