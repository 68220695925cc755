"""Estimates the seconds of one step by stage from a GPU's peak speeds (docs/experiments/estimates.md).

A stage takes as long as the slowest of its resources: computation, memory bandwidth, the network between the GPUs, or
PCIe. Not estimated: scheduling gaps, checkpoints, waiting for the longest episode.
"""

from typing import NamedTuple

from judge_r1.training.cost_estimate.gpus import Gpu
from judge_r1.training.cost_estimate.memory import capacity, embedder_parameters, embeds_on_processor, verl_settings
from judge_r1.training.cost_estimate.shape import Shape
from judge_r1.training.recipe import Recipe

COMPUTE, BANDWIDTH, NETWORK = 0.4, 0.6, 0.75
"""Fractions of the peak that training and inference of dense models usually reach."""
QUERY_TOKENS = 16
"""Assumed tokens of a query with its prefix."""
QUERY_SECONDS = 0.0125
"""Measured upper seconds to embed one query alone with `bundled:e5-small` on a core (docs/experiments/speed.md)."""
MEASURED_PARAMETERS = 33_400_000
"""Parameters of the embedder of `QUERY_SECONDS`. The time of another one is scaled by its own."""
LOOKUP_SECONDS = 1e-4
"""Measured upper value for the search of one query in its case (docs/experiments/speed.md)."""


class Stage(NamedTuple):
    """The seconds of one part of a step, and the resource that limits it."""

    name: str
    seconds: float
    limit: str


class Lengths(NamedTuple):
    """Tokens of one episode or example: its prompt, what the model samples, and what searches add."""

    prompt: float
    sampled: float
    observed: float

    @property
    def total(self) -> float:
        return self.prompt + self.sampled + self.observed


class Machine(NamedTuple):
    """`nodes` machines with `gpus` GPUs each."""

    gpu: Gpu
    gpus: int
    nodes: int

    @property
    def total(self) -> int:
        return self.gpus * self.nodes

    @property
    def flops(self) -> float:
        return COMPUTE * self.gpu.tflops * 1e12

    def collective(self, size: float) -> float:
        """Seconds to gather or reduce `size` bytes over all GPUs: (N - 1) / N of them cross the slower of NVLink and,
        between machines, all network cards of a machine together (NCCL uses them in parallel rings)."""
        speed = self.gpu.nvlink if self.nodes == 1 else min(self.gpu.nvlink, self.gpus * self.gpu.network)
        return (self.total - 1) / self.total * size / (NETWORK * speed * 1e9)


def lengths(recipe: Recipe, prompt: float, response_share: float) -> Lengths:
    """The lengths if each response uses `response_share` of its budget."""
    budget = recipe.episode.effective_budget
    observed = budget.max_searches * budget.observation_tokens
    sampled = budget.episode_tokens - observed
    return Lengths(prompt, response_share * sampled, response_share * observed)


def forward_flops(shape: Shape, new: float, context: float = 0.0) -> float:
    """Operations for `new` tokens after `context` tokens: 2 per weight and token, and causal attention with 4 L w per
    pair of tokens, w the width of all heads. Embedding look-ups are free."""
    weights = shape.parameters - (0 if shape.tied else shape.vocabulary * shape.width)
    pairs = new * context + new * new / 2
    return 2 * weights * new + 4 * shape.layers * shape.heads * shape.head_size * pairs


def step_seconds(recipe: Recipe, shape: Shape, machine: Machine, one: Lengths) -> list[Stage]:
    """The stages of one step. `one`: the lengths of an episode (GRPO) or example."""
    return _grpo(recipe, shape, machine, one) if recipe.stage == "grpo" else _supervised(recipe, shape, machine, one)


def _grpo(recipe: Recipe, shape: Shape, machine: Machine, one: Lengths) -> list[Stage]:
    grpo, gpu, weights = recipe.grpo, machine.gpu, 2 * shape.parameters
    settings = verl_settings(recipe)
    episodes = grpo.pairs_per_step * grpo.group_size
    prefill = grpo.pairs_per_step * forward_flops(shape, one.prompt)  # a group shares the cache of its prompt
    prefill += episodes * forward_flops(shape, one.observed, one.prompt + one.sampled / 2)
    stages = [Stage("rollout: prefill", prefill / (machine.total * machine.flops), "compute")]

    split = settings.tensor_parallel
    here = episodes * split / machine.total  # episodes of one replica
    rest = one.sampled + one.observed
    together = max(1.0, min(here, settings.max_sequences, capacity(recipe, shape, gpu, one.prompt, rest)))
    cached = together * (one.prompt + rest / 2) * shape.cache_bytes
    read = (weights + cached) / (split * BANDWIDTH * gpu.bandwidth * 1e9)
    compute = together * 2 * shape.parameters / (split * machine.flops)
    tokens = one.sampled * here / together
    limit = "memory bandwidth" if read > compute else "compute"
    stages.append(Stage("rollout: decode", tokens * max(read, compute), limit))

    if one.observed:
        stages.append(_search(recipe, machine, episodes, one))
    forward = episodes * forward_flops(shape, one.total) / (machine.total * machine.flops)
    ranks = max(1, machine.total // settings.sequence_parallel)  # with episodes of their own
    passes = -(-episodes // (ranks * min(grpo.micro_batch_size, max(1, episodes // ranks))))
    shards = machine._replace(nodes=1) if (settings.shard_size or machine.total) <= machine.gpus else machine
    gather = passes * shards.collective(weights)
    if not settings.bypass_old_logprobs:
        stages.append(_slowest("log-probabilities", compute=forward, network=gather))
    if grpo.kl > 0:
        host = 0.0 if recipe.lora else passes * 4 * shape.parameters / machine.total / (NETWORK * gpu.pcie * 1e9)
        stages.append(_slowest("log-probabilities of the reference", compute=forward, network=gather, PCIe=host))
    stages.append(_update(recipe, shape, shards, forward, passes, reduced=4))
    copied = 2 * weights / (BANDWIDTH * gpu.bandwidth * 1e9)
    stages.append(Stage("weight sync", shards.collective(4 * shape.parameters) + copied, "network"))
    return stages


def query_seconds(recipe: Recipe, machine: Machine) -> float:
    """Seconds to embed one query in a process that runs episodes, with one core or the GPU; 0 with BM25."""
    parameters = embedder_parameters(recipe)
    if embeds_on_processor(recipe):
        return QUERY_SECONDS * parameters / MEASURED_PARAMETERS
    return 2 * parameters * QUERY_TOKENS / machine.flops


def _search(recipe: Recipe, machine: Machine, episodes: int, one: Lengths) -> Stage:
    """Searches of all episodes, divided among the processes that run them. Nothing overlaps: an upper value, as other
    episodes decode while one searches."""
    searches = episodes * one.observed / recipe.episode.effective_budget.observation_tokens
    seconds = searches * (query_seconds(recipe, machine) + LOOKUP_SECONDS) / recipe.grpo.agent_workers(machine.total)
    return Stage("rollout: search", seconds, "processor" if embeds_on_processor(recipe) else "compute")


def _supervised(recipe: Recipe, shape: Shape, machine: Machine, one: Lengths) -> list[Stage]:
    """SFT, or DPO with two sequences per pair and a reference."""
    part = recipe.sft if recipe.stage == "sft" else recipe.dpo
    rows = part.batch_size * (2 if recipe.stage == "dpo" else 1)
    forward = rows * forward_flops(shape, one.total) / (machine.total * machine.flops)
    passes = -(-part.batch_size // (machine.total * part.micro_batch_size))
    stages = []
    sharded = recipe.deepspeed == "zero3"
    if recipe.stage == "dpo":
        gather = passes * machine.collective(2 * shape.parameters) if sharded else 0.0
        stages.append(_slowest("log-probabilities of the reference", compute=forward, network=gather))
    return [*stages, _update(recipe, shape, machine, forward, passes, reduced=2, gathered=sharded)]


def _update(
    recipe: Recipe, shape: Shape, machine: Machine, forward: float, passes: int, *, reduced: int, gathered: bool = True
) -> Stage:
    """Forward, recomputation and backward cost four forward passes, three with LoRA, whose frozen weights have no
    gradients. Each pass gathers the weights twice, and reduces gradients of `reduced` bytes per trained parameter."""
    trained = shape.parameters if recipe.lora is None else shape.adapters(recipe.lora.rank)
    moved = (4 * shape.parameters if gathered else 0) + reduced * trained
    factor = 4 if recipe.lora is None else 3
    return _slowest("update", compute=factor * forward, network=passes * machine.collective(moved))


def _slowest(name: str, **seconds: float) -> Stage:
    """Communication overlaps with computation, so the slowest resource sets the time."""
    limit = max(seconds, key=seconds.__getitem__)
    return Stage(name, seconds[limit], limit)
