"""Hides TRL (see `judge_r1.training.verl.hide_trl`) and creates the process group of CPU ranks.

verl requests the backend "cpu:gloo,<device>:<backend>", which torch rejects on the CPU because it names one device
twice. verl creates no group if one exists, so this module creates a gloo group first.
"""

import os

import torch.distributed as dist

from judge_r1.training.verl.hide_trl import IS_RANK

if IS_RANK and not dist.is_initialized():
    dist.init_process_group("gloo", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
