"""A rollout server for verl on the CPU: one Ray actor per replica, and the trainer's side of the weight sync."""

import asyncio
import os
from collections.abc import AsyncIterable, Iterable
from typing import Any

import ray
import torch
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from verl.workers.rollout.base import BaseRollout
from verl.workers.rollout.replica import RolloutReplica, TokenOutput
from verl.workers.rollout.utils import ensure_async_iterator

from judge_r1.models.batch import ContinuousBatch
from judge_r1.models.engine import BackgroundModel
from judge_r1.models.open_model import open_model
from judge_r1.training.verl.sampling_params import generate_request

CALL_SECONDS = 600.0
"""Deadline of one call to another process, such as starting a server or sending weights."""


class CpuServer:
    """The actor: a `BackgroundModel` behind verl's interface. Like verl's servers, it samples up to `response_tokens`
    if a request names no limit."""

    def __init__(self, name: str, model: str, max_rows: int, seed: int, response_tokens: int) -> None:
        from judge_r1.models.pretrained import causal_model

        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        self.model = causal_model(model, dtype=torch.float32).eval()
        torch.manual_seed(seed)  # for requests without a seed of their own
        self.engine: BackgroundModel = open_model(model, concurrency=max_rows, weights=self.model).model
        self.name, self.response_tokens = name, response_tokens
        self.version: int | None = None
        self.answered = 0
        self._admits, self._running = asyncio.Event(), 0
        self._admits.set()

    async def start(self) -> None:
        """Returns once the model is loaded."""

    async def generate(
        self,
        request_id: str,
        prompt_ids: list[int],
        sampling_params: dict[str, Any],
        image_data: Any = None,
        video_data: Any = None,
    ) -> TokenOutput:
        """Continue `prompt_ids`. Returns ids, their log-probabilities and the version of the weights."""
        if image_data or video_data:
            raise ValueError("the CPU rollout server reads text only")
        await self._admits.wait()
        self._running += 1
        try:
            params = {"max_tokens": self.response_tokens, **sampling_params}
            [generation] = await self.engine.generate([generate_request(prompt_ids, params)])
        finally:
            self._running -= 1
        self.answered += 1
        return TokenOutput(
            token_ids=list(generation.token_ids),
            log_probs=list(generation.logprobs),
            stop_reason="completed",
            extra_fields={"global_steps": self.version},
        )

    async def load_weights(self, weights: dict[str, torch.Tensor], version: int | None) -> None:
        """Replace the weights while no request runs.

        Raises:
            RuntimeError: A name is missing or unknown.
        """

        def load(batch: ContinuousBatch) -> None:
            # Not strict: tied weights are not sent, and are tied again below.
            missing, unknown = self.model.load_state_dict(weights, strict=False)
            tied = set(self.model._tied_weights_keys or ()) if self.model.config.tie_word_embeddings else set()
            if unknown or set(missing) - tied:
                raise RuntimeError(f"weights do not fit the model: missing {missing}, unknown {unknown}")
            self.model.tie_weights()
            # The cached states belong to the old weights.
            batch.forget()
            print(f"{self.name}: {self.answered} answers from the weights of step {self.version}", flush=True)
            self.answered = 0
            self.version = self.version if version is None else version

        await asyncio.to_thread(self.engine.update, load)

    async def abort_all_requests(self, reject_request: bool = False) -> None:
        """Hold new requests back until `resume_generation`, and let the running ones finish. vLLM aborts them, and
        verl's client continues them with the new weights."""
        self._admits.clear()
        while self._running:
            await asyncio.sleep(0.02)

    async def resume_generation(self) -> None:
        self._admits.set()

    # verl calls these around weight syncs, when no request is running. There is no device memory to release, so they do
    # nothing.

    async def wake_up(self, tags: list[str] | None = None) -> None: ...

    async def sleep(self) -> None: ...

    async def clear_kv_cache(self) -> None: ...

    async def release_kv_cache(self) -> None: ...

    async def resume_kv_cache(self) -> None: ...


class CpuReplica(RolloutReplica):  # type: ignore[misc]
    """Starts a server on the node of its trainer rank."""

    async def launch_servers(self) -> None:
        where = self.workers[0].__ray_call__.remote(lambda _: ray.get_runtime_context().get_node_id())
        node = await asyncio.wait_for(where, CALL_SECONDS)
        name = _server_name(self.replica_rank)
        server = (
            ray.remote(CpuServer)
            .options(
                name=name,
                num_cpus=1,
                max_concurrency=self.max_concurrency,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node, soft=False),
            )
            .remote(
                name,
                self.model_config.path,
                self.config.max_num_seqs,
                self.config.seed + self.replica_rank,
                self.config.response_length,
            )
        )
        await asyncio.wait_for(server.start.remote(), CALL_SECONDS)
        self.servers, self._server_handle = [server], server
        self._server_address = name


class WeightSync(BaseRollout):  # type: ignore[misc]
    """The trainer rank's side: sends weights to the server of its replica."""

    def __init__(self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1) -> None:
        super().__init__(config, model_config, device_mesh)
        rank = int(os.environ["RANK"]) if replica_rank < 0 else replica_rank
        self.server_name = _server_name(rank)

    async def resume(self, tags: list[str]) -> None: ...

    async def release(self) -> None: ...

    async def update_weights(
        self,
        weights: Iterable[tuple[str, torch.Tensor]] | AsyncIterable[tuple[str, torch.Tensor]],
        wire_format: str = "named_tensors",
        global_steps: int | None = None,
        **_: Any,
    ) -> None:
        """Send the weights. Every rank must iterate over all of them, because reading gathers the shards."""
        stream = ensure_async_iterator(weights)
        state = {name: tensor.detach().to("cpu", torch.float32).clone() async for name, tensor in stream}
        sent = ray.get_actor(self.server_name).load_weights.remote(state, global_steps)
        await asyncio.wait_for(sent, CALL_SECONDS)


def _server_name(rank: int) -> str:
    return f"judge_r1_cpu_{rank}"
