"""Imported for its effect by `actor_rollout_ref.model.external_lib`, just before a rank builds its engine.

verl asks torch for the process group "cpu:gloo,<device>:<backend>", which on the processor names one device twice and
is refused. It makes no group where there is one already, so a plain gloo group is made first. Only ranks of a worker
group (WG_BACKEND=ray) have one.
"""

import os

import torch.distributed as dist

if os.environ.get("WG_BACKEND") == "ray" and "RANK" in os.environ and not dist.is_initialized():
    dist.init_process_group("gloo", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
