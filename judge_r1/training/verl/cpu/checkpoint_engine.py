"""A checkpoint engine without accelerators: the trainer's first rank broadcasts weights to the rollout workers over
gloo. verl's own engines need CUDA or NPU libraries, except "naive", which cannot leave the trainer's process."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import ray
import torch
import torch.distributed as dist
from verl.checkpoint_engine.base import CheckpointEngine, CheckpointEngineRegistry
from verl.utils.net_utils import get_free_port
from verl.workers.rollout.utils import ensure_async_iterator

from judge_r1.training.verl.config import CPU_TRANSFER

SECONDS = 600


@CheckpointEngineRegistry.register(CPU_TRANSFER)
class GlooCheckpointEngine(CheckpointEngine):  # type: ignore[misc]
    """A process group of the trainer's rank 0 and all rollout workers, created for each transfer."""

    def __init__(self, bucket_size: int = 0, is_master: bool = False) -> None:
        self.is_master = is_master
        self._group: Any = None

    def prepare(self) -> dict[str, Any] | None:
        """The address of the group's store, from the trainer's rank 0."""
        if not self.is_master:
            return None
        host = ray.util.get_node_ip_address().strip("[]")
        return {"host": host, "port": get_free_port(host)[0]}

    @classmethod
    def build_topology(
        cls, actor_wg_world_size: int, rollout_world_size: int, metadata: list[Any]
    ) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """Rank 0 is the trainer's first rank, -1 its other ranks, which only take part in gathering the weights."""
        size = rollout_world_size + 1

        def arguments(ranks: list[int]) -> dict[str, list[Any]]:
            return {"rank": ranks, "size": [size] * len(ranks), "store": [metadata[0]] * len(ranks)}

        return arguments([0] + [-1] * (actor_wg_world_size - 1)), arguments(list(range(1, size)))

    def init_process_group(self, rank: int, size: int, store: dict[str, Any]) -> None:
        if rank < 0:
            return
        timeout = timedelta(seconds=SECONDS)
        tcp_store = dist.TCPStore(  # type: ignore[attr-defined]
            store["host"], store["port"], size, is_master=rank == 0, timeout=timeout
        )
        self._group = dist.ProcessGroupGloo(tcp_store, rank, size, timeout)

    def finalize(self) -> None:
        self._group = None

    async def send_weights(self, weights: Any, global_steps: int | None = None) -> None:
        """Every rank reads all weights, because reading gathers the shards."""
        async for name, tensor in ensure_async_iterator(weights):
            if self._group is not None:
                value = tensor.detach().to("cpu").contiguous()
                self._send_header({"name": name, "shape": list(value.shape), "dtype": str(value.dtype).split(".")[1]})
                self._broadcast(value)
        if self._group is not None:
            self._send_header(None)

    async def receive_weights(self, global_steps: int | None = None) -> AsyncIterator[tuple[str, torch.Tensor]]:
        while (header := self._receive_header()) is not None:
            value = torch.empty(header["shape"], dtype=getattr(torch, header["dtype"]))
            self._broadcast(value)
            yield header["name"], value

    def _send_header(self, header: dict[str, Any] | None) -> None:
        data = torch.frombuffer(bytearray(json.dumps(header).encode()), dtype=torch.uint8)
        self._broadcast(torch.tensor([len(data)]))
        self._broadcast(data)

    def _receive_header(self) -> Any:
        length = torch.zeros(1, dtype=torch.int64)
        self._broadcast(length)
        data = torch.empty(int(length), dtype=torch.uint8)
        self._broadcast(data)
        return json.loads(bytes(data.tolist()))

    def _broadcast(self, tensor: torch.Tensor) -> None:
        self._group.broadcast(tensor, 0).wait()
