#!/usr/bin/env bash
# verl: an episode without a token in the loss counts in one form of the mean, and not in the other.
# `seq-mean-token-mean` and its siblings leave fully masked sequences out. That holds if the batch is averaged by itself.
# The trainer passes the size of the global batch, and then the masked ones stay in the divisor: four episodes of loss 1,
# one of them masked, have the mean 1 in the first case and .75 in the second.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages verl==0.9.1 torch==2.13.0
seen <<'PY'
import torch
from verl.trainer.ppo.core_algos import agg_loss

losses, mask = torch.ones(4, 3), torch.ones(4, 3)
mask[3] = 0
alone = float(agg_loss(losses, mask, "seq-mean-token-mean"))
worker = float(agg_loss(losses, mask, "seq-mean-token-mean", global_batch_size=4))
print(f"seq-mean-token-mean of three ones and a masked episode: {alone:g} by itself, {worker:g} with global_batch_size=4")
raise SystemExit((alone, worker) != (1.0, 0.75))
PY
