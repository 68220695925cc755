"""What `judge_r1.training.verl.hide_trl` does, and for ranks on the processor: a process group.

verl asks torch for the group "cpu:gloo,<device>:<backend>", which on the processor names one device twice and is
refused. It makes no group where there is one already, so a plain gloo group is made first.
"""

import os

import torch.distributed as dist

from judge_r1.training.verl.hide_trl import IS_RANK

if IS_RANK and not dist.is_initialized():
    dist.init_process_group("gloo", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
