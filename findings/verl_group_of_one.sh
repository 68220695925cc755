#!/usr/bin/env bash
# verl: the advantage of a group of one is its reward.
# A GRPO advantage is the distance of a reward from the mean of its group. A group that has lost all but one episode has
# nothing to compare with, so one expects 0. verl takes 0 as the mean and 1 as the deviation of such a group: any
# positive reward is then reinforced in full.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages verl==0.9.1 torch==2.13.0
seen <<'PY'
import numpy as np
import torch
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

rewards = torch.zeros(3, 2)
rewards[:, -1] = torch.tensor([0.25, 0.0, 1.0])
groups = np.array(["alone", "pair", "pair"], dtype=object)
found = compute_grpo_outcome_advantage(rewards, torch.ones(3, 2), groups)[0][:, 0].tolist()
print("rewards .25 alone, and 0 and 1 in a group: advantages", " ".join(f"{value:.3f}" for value in found))
raise SystemExit(abs(found[0] - 0.25) > 1e-6)
PY
