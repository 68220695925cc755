"""Estimates what a run costs before it starts: its tokens, the memory of a GPU by part, and the seconds of a step.

docs/experiments/estimates.csv has the formulas, and h100_size.csv measurements. Parts marked rough are within a
factor of two.
"""

from pathlib import Path
from typing import NamedTuple

from judge_r1.core.record_base import content_hash
from judge_r1.episode.case_retriever import searches_vectors
from judge_r1.episode.config import AUTO
from judge_r1.episode.rollout import task_prompt
from judge_r1.episode.task import pairwise_task
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PAIRS_FILE, PairSet
from judge_r1.files.transcripts import is_conversations
from judge_r1.models.hub import text_tokenizer
from judge_r1.models.shape import Shape, UnknownShape, shape_of
from judge_r1.training.data.training_pairs import training_pairs
from judge_r1.training.recipe import Recipe

GIB = 2**30
TYPICAL, FULL = 0.5, 1.0
"""Fractions of the response budget for which seconds are estimated. Half is an assumption."""
SAMPLED, CHARACTERS = 200, 4.0
"""Prompts that are measured; characters per English token, without the model's tokenizer."""
VLLM_ACTIVE, VLLM_ASLEEP, CUDA_CONTEXT = 3 * GIB, 2 * GIB, GIB // 2
"""Rough. What vLLM needs besides weights and cache while it samples, and what it keeps while it sleeps."""
QUERY_TOKENS, QUERY_SECONDS, LOOKUP_SECONDS = 16, 0.0125, 1e-4
"""Assumed tokens of a query with its prefix; measured upper seconds to embed one alone with `bundled:e5-small` on a
core, and to search its case (docs/experiments/speed.csv)."""
SMALL, BASE, LARGE = 33_400_000, 109_500_000, 335_000_000
EMBEDDERS = {f"intfloat/e5-{name}-v2": size for name, size in (("small", SMALL), ("large", LARGE))}
EMBEDDERS |= {"bundled:e5-small": SMALL}
"""Parameters of embedders; another one counts as the base model."""
VERL: dict[str, tuple[str, float]] = {
    "utilisation": ("actor_rollout_ref.rollout.gpu_memory_utilization", 0.5),
    "tensor_parallel": ("actor_rollout_ref.rollout.tensor_model_parallel_size", 1),
    "max_sequences": ("actor_rollout_ref.rollout.max_num_seqs", 256),
    "shard_size": ("actor_rollout_ref.actor.fsdp_config.fsdp_size", 0),
    "sequence_parallel": ("actor_rollout_ref.actor.ulysses_sequence_parallel_size", 1),
    "bypass": ("algorithm.rollout_correction.bypass_mode", False),
    "fused_kernels": ("actor_rollout_ref.model.use_fused_kernels", False),
}
"""The keys of verl that the estimates need, with verl's defaults (a shard size of 0: all GPUs)."""


COMPUTE, BANDWIDTH, NETWORK = 0.4, 0.6, 0.75
"""Fractions of the peak that training and inference of dense models usually reach."""
MACHINE_GPUS = 8
"""GPUs per machine in the paper (appendix B)."""


class Gpu(NamedTuple):
    """One GPU of a machine with eight. Speeds are peaks: dense bfloat16 TFLOPS, and GB/s of its memory, of NVLink and
    its network card in one direction, and of PCIe from host memory. Memory: GiB that a process can use."""

    name: str
    tflops: float
    memory: float
    bandwidth: float
    nvlink: float
    network: float
    pcie: float


GPUS = {
    "A100": Gpu("A100", 312, 79.2, 2039, 300, 25, 32),
    "H100": Gpu("H100", 989, 79.2, 3350, 450, 50, 64),
    "H200": Gpu("H200", 989, 140.4, 4800, 450, 50, 64),
    "B200": Gpu("B200", 2250, 178.4, 8000, 900, 50, 64),
}
"""NVIDIA's data sheets of the SXM modules with 80, 80, 141 and 180 GB; the memory of the H100 is measured. The network
is our assumption: one card of 200 Gbit/s for each A100, of 400 Gbit/s for the others."""


def detected() -> Gpu | None:
    """The table's GPU that this machine has; None without one."""
    import torch

    name = torch.cuda.get_device_properties(0).name if torch.cuda.is_available() else ""
    return next((gpu for key, gpu in GPUS.items() if key in name), None)


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


class Tokens(NamedTuple):
    """Of a step: episodes or examples, and the maximum tokens of each. `mean_prompt`: of sampled prompts; None without
    data."""

    examples: int
    steps: int | None
    prompt: int
    response: int
    pairs: int | None
    mean_prompt: float | None
    counted_by: str

    @property
    def longest(self) -> int:
        return self.prompt + self.response


def tokens_of(recipe: Recipe) -> Tokens:
    """The tokens of a recipe's run. GRPO samples pairs_per_step x group_size episodes per step. SFT and DPO have
    `max_steps` steps, or one per batch of `epochs` passes over the data, unknown without data."""
    folder, grpo, part = recipe.data.train, recipe.grpo, recipe.sft if recipe.stage == "sft" else recipe.dpo
    data = training_pairs(folder) if is_conversations(folder) or (folder / PAIRS_FILE).exists() else None
    pairs, steps = len(data.pairs) if data else None, part.max_steps if part.max_steps > 0 else None
    used = min(filter(None, (pairs, recipe.sft.examples if recipe.stage == "sft" else None)), default=None)
    if steps is None and used is not None:
        steps = -(-round(part.epochs * used) // part.batch_size)
    examples = part.batch_size
    if recipe.stage == "grpo":
        examples, steps = grpo.prompts_per_step * grpo.group_size, grpo.steps
    prompt, response = recipe.episode.prompt_tokens, recipe.episode.effective_budget.episode_tokens
    return Tokens(examples, steps, prompt, response, pairs, *(_mean_prompt(recipe, data) if data else (None, "")))


def _mean_prompt(recipe: Recipe, data: PairSet) -> tuple[float, str]:
    """Mean tokens per prompt over a seeded sample, and how they were counted. The hub is not accessed."""
    chosen = sorted(data.pairs, key=lambda pair: content_hash("plan", recipe.seed, pair.pair_id))[:SAMPLED]
    config = recipe.episode
    prompts = [task_prompt(pairwise_task(pair, data.case_of(pair)), config) for pair in chosen]
    if recipe.model.startswith("bundled:") or Path(recipe.model).exists():
        tokenizer = SafeTokenizer(text_tokenizer(recipe.model))
        counts = [len(tokenizer.prompt_ids(prompt, thinking=config.thinking)) for prompt in prompts]
        return sum(counts) / len(counts), "the model's tokenizer"
    characters = sum(len(message["content"]) for prompt in prompts for message in prompt.chat())
    return characters / CHARACTERS / len(prompts), f"{CHARACTERS:.0f} characters per token"


def verl_key(recipe: Recipe, name: str) -> float:
    """A setting of `VERL`. A value of another kind counts as verl's default; `check_keys` refuses it if verl is
    installed. TRL has none of them."""
    key, default = VERL[name]
    value = recipe.grpo.verl.get(key, default) if recipe.on_verl else default
    if isinstance(default, bool):
        return bool(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else default


def memory(recipe: Recipe, shape: Shape, gpus: int, tokens: int) -> dict[str, float]:
    """GiB per GPU by part. `tokens` is the length of the longest example or episode with its prompt.

    Weights, gradients and Adam's two moments take 4 + 4 + 8 bytes in float32, or with DeepSpeed's mixed precision
    2 + 2 + 12 (Rajbhandari et al. 2020, ZeRO, section 3.1). verl keeps the frozen reference in host memory. Gathered
    are two layers, the embedding and the output table in bfloat16, and the gradients of one layer and of the output
    table. Logits (verl's and their gradient) and embedders of searches on GPU 0 of a machine are rough."""
    trained, verl, table = (
        shape.trained(recipe.lora_rank),
        recipe.on_verl,
        shape.vocabulary * shape.width,
    )
    split, shards = verl or recipe.deepspeed == "zero3", min(gpus, verl_key(recipe, "shard_size") or gpus)
    byte, gradient, optimiser = (2, 2, 12) if recipe.deepspeed else (4, 4, 8)
    weight = byte / (shards if split else 1)
    state = trained / (shards if verl or recipe.deepspeed else 1)
    reference = recipe.prefers or (recipe.stage == "grpo" and recipe.grpo.kl > 0 and not verl)
    embedders = 4.0 * embedder_parameters(recipe)
    if recipe.stage != "grpo" or embeds_on_processor(recipe):
        embedders = 0.0
    elif verl:  # one for each process that runs episodes
        embedders = min(gpus, MACHINE_GPUS) * (embedders + CUDA_CONTEXT)
    stored = verl and not verl_key(recipe, "fused_kernels")
    parts = {
        "weights": weight * (trained + (shape.parameters if recipe.lora else 0)),
        "gradients": gradient * state,
        "optimiser": optimiser * state,
        "reference": weight * shape.parameters if reference and recipe.lora is None else 0.0,
        "activations": activation_bytes(recipe, shape, tokens),
        "logits": _micro_batch(recipe) * tokens * shape.vocabulary * 4 if stored else 0.0,
        "gathered": 6 * shape.layer_parameters + 2 * table * (3 - shape.tied) if gpus > 1 and split else 0.0,
        "embedders": embedders,
        "vllm_asleep": VLLM_ASLEEP if verl else 0,
    }
    return {name: size / GIB for name, size in parts.items()}


def sampling(recipe: Recipe, shape: Shape, gpu: Gpu, gpus: int) -> dict[str, float]:
    """GiB of one of `gpus` GPUs while vLLM samples with its share: the trainer's shards stay, gradients are freed."""
    parts = memory(recipe, shape, gpus, 0) | {"vllm": verl_key(recipe, "utilisation") * gpu.memory}
    return {name: parts[name] for name in ("weights", "optimiser", "embedders", "vllm")}


def capacity(recipe: Recipe, shape: Shape, gpu: Gpu, prompt: float, rest: float) -> float:
    """Episodes whose cache fits a replica of vLLM. A group shares the cache of its `prompt` tokens."""
    share = verl_key(recipe, "utilisation") * gpu.memory * GIB - VLLM_ACTIVE
    free = verl_key(recipe, "tensor_parallel") * share - 2 * shape.parameters
    return max(0.0, free) / ((prompt / recipe.grpo.group_size + rest) * shape.cache_bytes)


def checkpoint_bytes(recipe: Recipe, shape: Shape) -> int:
    """Bytes of a run's two checkpoints and its model on disk.

    A full checkpoint holds float32 weights and Adam's two moments; with DeepSpeed bfloat16 weights, too. With LoRA
    these are of the adapters, and verl adds the frozen weights. verl's model is merged in bfloat16, TRL's is in
    float32. With dev pairs, the best weights stay in float32 and become a second model."""
    frozen = shape.parameters if recipe.lora is not None and recipe.on_verl else 0
    each = (14 if recipe.deepspeed else 12) * shape.trained(recipe.lora_rank) + 4 * frozen
    model = (2 if recipe.on_verl else 4) * shape.parameters
    return 2 * each + model + (4 * shape.parameters + model if recipe.data.dev is not None else 0)


def embeds_on_processor(recipe: Recipe) -> bool:
    """Whether searches embed queries on the processor, or need no vectors. By default verl does, TRL does not."""
    device = recipe.episode.retriever_device or ("cpu" if recipe.on_verl else AUTO)
    return device in ("cpu", "mps") or not searches_vectors(recipe.episode)


def embedder_parameters(recipe: Recipe) -> int:
    """Parameters of the recipe's embedder; 0 with BM25."""
    return EMBEDDERS.get(recipe.episode.retriever, BASE) if searches_vectors(recipe.episode) else 0


def _micro_batch(recipe: Recipe) -> float:
    """Rows of a micro-batch on a GPU: DPO has a chosen and a rejected one."""
    rows = {"sft": recipe.sft.micro_batch_size, "dpo": 2 * recipe.dpo.micro_batch_size}
    return rows.get(recipe.stage, recipe.grpo.micro_batch_size) / verl_key(recipe, "sequence_parallel")


def activation_bytes(recipe: Recipe, shape: Shape, tokens: int) -> float:
    """Bytes of the longest micro-batch, whose rows have `tokens` tokens, with activation checkpointing: each layer
    keeps its input, and one layer at a time keeps what its backward pass needs.

    TRL without DeepSpeed computes in bfloat16 from float32 weights (autocast): the residual stream is float32, and
    until the forward pass ends the weights that are trained have copies in bfloat16."""
    batch, autocast = _micro_batch(recipe) * tokens, not (recipe.on_verl or recipe.deepspeed)
    layer = batch * (saved_bytes(shape, autocast=autocast, lora=recipe.lora is not None) + 6 * shape.mlp)
    if autocast:
        layer = max(layer + 2 * shape.layer_parameters, 2 * shape.trained(recipe.lora_rank))
    return batch * shape.layers * shape.width * (4 if autocast else 2) + layer


def saved_bytes(shape: Shape, *, autocast: bool, lora: bool) -> int:
    """Bytes per token that a layer saves for its backward pass: residuals and norms, attention without its matrix, MLP.
    These are what transformers' Qwen3 saves for autograd (a test counts them). A layer of Qwen2, Llama or Mistral,
    which has no norms of queries and keys, saves less. The MLP's backward pass needs 6 bytes per unit besides."""
    h, queries, keys, mlp = shape.width, shape.heads * shape.head_size, shape.kv_heads * shape.head_size, shape.mlp
    if autocast and lora:  # frozen norms save only their input; each adapter saves its input in bfloat16
        return 18 * h + 10 * queries + 8 * keys + 8 * mlp
    return (26 if autocast else 16) * h + 10 * (queries + keys) + 8 * mlp


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


def lengths(recipe: Recipe, prompt: float, response_share: float) -> Lengths:
    """The lengths if each response uses `response_share` of its budget."""
    budget = recipe.episode.effective_budget
    observed = budget.max_searches * budget.observation_tokens
    observed += sum(tool.max_calls * tool.output_tokens for tool in budget.tool_budgets.values())
    return Lengths(prompt, response_share * (budget.episode_tokens - observed), response_share * observed)


def forward_flops(shape: Shape, new: float, context: float = 0.0) -> float:
    """Operations for `new` tokens after `context` tokens: 2 per weight and token, and causal attention with 4 L w per
    pair of tokens, w the width of all heads. Embedding look-ups are free."""
    weights = shape.parameters - (0 if shape.tied else shape.vocabulary * shape.width)
    attention = 4 * shape.layers * shape.heads * shape.head_size * (new * context + new * new / 2)
    return 2 * weights * new + attention


def step_seconds(recipe: Recipe, shape: Shape, machine: Machine, one: Lengths) -> list[Stage]:
    """The stages of one step of SFT, DPO (two sequences per pair and a reference) or GRPO on verl.

    The update costs four forward passes, three with LoRA, whose frozen weights have no gradients. Each pass gathers
    sharded weights twice, and reduces the gradients, in float32 on verl."""
    verl, part = recipe.on_verl, recipe.sft if recipe.stage == "sft" else recipe.dpo
    batch, micro_batch = part.batch_size, part.micro_batch_size
    if verl:
        batch, micro_batch = recipe.grpo.prompts_per_step * recipe.grpo.group_size, recipe.grpo.micro_batch_size
    ranks = max(1, machine.total // verl_key(recipe, "sequence_parallel"))  # with rows of their own
    passes = -(-batch // (ranks * min(micro_batch, max(1, batch // ranks))))
    inside = verl and (verl_key(recipe, "shard_size") or machine.total) <= machine.gpus
    shards, split = machine._replace(nodes=1) if inside else machine, verl or recipe.deepspeed == "zero3"
    forward = batch * (2 if recipe.stage == "dpo" else 1) * forward_flops(shape, sum(one))
    forward /= machine.total * machine.flops
    gather = passes * shards.collective(2 * shape.parameters) if split else 0.0
    reduced = (4 if verl else 2) * shape.trained(recipe.lora_rank)
    reduced += 4 * shape.parameters if split else 0

    stages = _rollout(recipe, shape, machine, one) if verl else []
    if verl and not verl_key(recipe, "bypass"):
        stages.append(_slowest("log-probabilities", compute=forward, network=gather))
    if recipe.prefers or (verl and recipe.grpo.kl > 0):
        host = passes * 4 * shape.parameters / machine.total / (NETWORK * machine.gpu.pcie * 1e9)
        pcie = host if verl and recipe.lora is None else 0.0
        stages.append(_slowest("log-probabilities of the reference", compute=forward, network=gather, PCIe=pcie))
    work = (4 if recipe.lora is None else 3) * forward
    stages.append(_slowest("update", compute=work, network=passes * shards.collective(reduced)))
    if verl:
        copied = 4 * shape.parameters / (BANDWIDTH * machine.gpu.bandwidth * 1e9)
        stages.append(Stage("weight sync", shards.collective(4 * shape.parameters) + copied, "network"))
    return stages


def update_flops(recipe: Recipe, shape: Shape, one: Lengths, together: int) -> float:
    """Operations of the update of a step of GRPO, if episodes of a group compute its prompt once for `together`."""
    passes = (4 if recipe.lora is None else 3) * recipe.grpo.prompts_per_step * recipe.grpo.group_size
    rest = forward_flops(shape, one.sampled + one.observed, one.prompt)
    return passes * (forward_flops(shape, one.prompt) / together + rest)


def _rollout(recipe: Recipe, shape: Shape, machine: Machine, one: Lengths) -> list[Stage]:
    """Prefill, in which a group shares the cache of its prompt, decode and search. Searches are divided among the
    processes that run episodes: an upper value, as other episodes decode while one searches."""
    grpo, gpus, rest = recipe.grpo, verl_key(recipe, "tensor_parallel"), one.sampled + one.observed
    episodes = grpo.prompts_per_step * grpo.group_size
    prefill = grpo.prompts_per_step * grpo.orders * forward_flops(shape, one.prompt)
    prefill += episodes * forward_flops(shape, one.observed, one.prompt + one.sampled / 2)
    here, fit = episodes * gpus / machine.total, capacity(recipe, shape, machine.gpu, one.prompt, rest)
    together = max(1.0, min(here, verl_key(recipe, "max_sequences"), fit))
    cached = together * (one.prompt + rest / 2) * shape.cache_bytes
    read = (2 * shape.parameters + cached) / (gpus * BANDWIDTH * machine.gpu.bandwidth * 1e9)
    work = together * 2 * shape.parameters / (gpus * machine.flops)
    token = _slowest("rollout: decode", **{"compute": work, "memory bandwidth": read})
    stages = [
        Stage("rollout: prefill", prefill / (machine.total * machine.flops), "compute"),
        token._replace(seconds=one.sampled * here / together * token.seconds),
    ]
    if one.observed:
        budget = recipe.episode.effective_budget
        searches = episodes * one.observed / budget.observation_tokens if budget.max_searches else 0.0
        here, parameters = embeds_on_processor(recipe), embedder_parameters(recipe)
        query = QUERY_SECONDS * parameters / SMALL if here else 2 * parameters * QUERY_TOKENS / machine.flops
        spent = searches * (query + LOOKUP_SECONDS) / grpo.agent_workers(machine.total)
        stages.append(Stage("rollout: search", spent, "processor" if here else "compute"))
    return stages


def _slowest(name: str, **seconds: float) -> Stage:
    """Communication overlaps with computation, so the slowest resource sets the time."""
    limit = max(seconds, key=seconds.__getitem__)
    return Stage(name, seconds[limit], limit)


def costs(recipe: Recipe, model: str, gpus: int, nodes: int = 1, gpu: Gpu | None = None) -> list[str]:
    """Lines with the cost of a recipe that trains the model `model` on `nodes` machines with `gpus` GPUs each. With
    `gpu`, memory is compared with that GPU's, and seconds are estimated."""
    tokens = tokens_of(recipe.model_copy(update={"model": model}))
    lines = _tokens(recipe, tokens)
    try:
        shape = shape_of(model)
    except UnknownShape as error:
        return [*lines, f"memory: {error}"]
    seconds = _operations(recipe, shape, tokens) + _seconds(recipe, shape, tokens, gpu, gpus, nodes)
    return lines + _memory(recipe, shape, tokens, gpu) + seconds


def _tokens(recipe: Recipe, tokens: Tokens) -> list[str]:
    data = f"{tokens.pairs:,} pairs" if tokens.pairs is not None else f"{recipe.data.train} does not exist yet"
    steps = f"{tokens.steps:,}" if tokens.steps is not None else "one per batch of the data"
    lines = [f"data: {data}"]
    if recipe.data.dev:
        missing = "" if Path(recipe.data.dev).exists() else ", which does not exist yet"
        lines.append(f"evaluation: every {recipe.eval_every or recipe.save_every} steps on {recipe.data.dev}{missing}")
    lines.append(f"steps: {steps}, of {tokens.examples:,} {'episodes' if recipe.stage == 'grpo' else 'examples'}")
    lines.append(f"tokens each: prompt up to {tokens.prompt:,}, response up to {tokens.response:,}")
    for name, count in (("step", tokens.examples), ("run", tokens.examples * (tokens.steps or 0))):
        text = f"{_short(tokens.prompt * count)} prompt and {_short(tokens.response * count)} response at most"
        if tokens.mean_prompt is not None:
            text += f"; {_short(tokens.mean_prompt * count)} prompt in the data ({tokens.counted_by})"
        lines += [f"tokens per {name}: {text}"] if count else []
    return lines


def _memory(recipe: Recipe, shape: Shape, tokens: Tokens, gpu: Gpu | None) -> list[str]:
    def row(gpus: int, parts: dict[str, float]) -> str:
        total, fits = sum(parts.values()), ""
        if gpu is not None:
            fits = f"; {'fits' if total <= gpu.memory else 'too much for'} {gpu.name} ({gpu.memory:.0f})"
        return f"  {gpus:2} GPU: {total:.1f} = {' + '.join(f'{k} {v:.1f}' for k, v in parts.items() if v)}{fits}"

    counts = (1,) if recipe.stage == "grpo" and not recipe.on_verl else (1, MACHINE_GPUS, 2 * MACHINE_GPUS)
    disk = checkpoint_bytes(recipe, shape) / 1e9
    lines = [
        f"model: {_short(shape.parameters)} parameters ({shape.source})",
        "GiB per GPU, at full length:",
        *(row(gpus, memory(recipe, shape, gpus, tokens.longest)) for gpus in counts),
        f"disk: {disk:.{0 if disk >= 1 else 3}f} GB for checkpoints and model",
    ]
    if recipe.stage == "grpo":
        weights = 2 * shape.parameters / verl_key(recipe, "tensor_parallel") / GIB
        lines.append("while sampling:")
        at_once = tokens.examples if recipe.on_verl else min(tokens.examples, recipe.grpo.rollout_batch_size)
        full = at_once * tokens.longest * shape.cache_bytes / GIB
        lines += [f"  {gpus:2} GPU: weights {weights:.1f} + cache {full / gpus:.1f} when full" for gpus in counts]
    if recipe.on_verl:
        share = verl_key(recipe, "utilisation")
        lines.append(f"  vLLM uses {share:.0%} of a GPU for both; episodes that do not fit wait")
    if recipe.on_verl and gpu:
        fit = capacity(recipe, shape, gpu, tokens.prompt, tokens.response)
        lines += [row(gpus, sampling(recipe, shape, gpu, gpus)) for gpus in counts]
        lines.append(f"  a replica on {gpu.name} holds {fit:.0f} episodes of full length at once")
    return lines


def _operations(recipe: Recipe, shape: Shape, tokens: Tokens) -> list[str]:
    """Of the update of GRPO at a typical length, with the prompt of a group computed once and for each episode."""
    if recipe.stage != "grpo":
        return []
    one, alike = lengths(recipe, tokens.mean_prompt or tokens.prompt, TYPICAL), recipe.grpo.group_size
    alike //= recipe.grpo.orders
    together = alike if recipe.on_verl else min(alike, recipe.grpo.micro_batch_size)
    once, each = (update_flops(recipe, shape, one, episodes) for episodes in (together, 1))
    where = "if verl did" if recipe.on_verl else "as here"
    return [
        f"update: {each:.3g} floating-point operations a step with a prompt for each episode, {once:.3g} "
        f"({each / once:.1f} x fewer) with one for {together} of a group, {where}"
    ]


def _seconds(recipe: Recipe, shape: Shape, tokens: Tokens, gpu: Gpu | None, gpus: int, nodes: int) -> list[str]:
    """Seconds per step by stage, at a typical length, with the mean prompt of the data, and at the full one."""
    if recipe.stage == "grpo" and not recipe.on_verl:
        return ["seconds per step: estimated for SFT, DPO and GRPO on verl only"]
    if gpu is None and recipe.stage != "grpo":
        return ["seconds per step: add --gpu H100 (or A100, H200, B200) to estimate them"]
    machine = Machine(gpu, gpus, nodes) if gpu else Machine(GPUS["H100"], MACHINE_GPUS, 2)
    prompt = tokens.mean_prompt or tokens.prompt
    typical = step_seconds(recipe, shape, machine, lengths(recipe, prompt, TYPICAL))
    full = step_seconds(recipe, shape, machine, lengths(recipe, tokens.prompt, FULL))
    totals = [sum(stage.seconds for stage in stages) for stages in (typical, full)]
    worst = max(typical, key=lambda stage: stage.seconds)
    table = [*zip(typical, full, strict=True), (Stage("together", totals[0], ""), Stage("together", totals[1], ""))]
    where = f"{machine.nodes} x {machine.gpus} {machine.gpu.name}"
    lines = [
        f"seconds per step on {where} (ESTIMATED from peak speeds; typical, and at most):",
        *(f"  {one.name:35} {one.seconds:7.1f} {other.seconds:8.1f}  {one.limit}".rstrip() for one, other in table),
        f"bottleneck: {worst.name}, {worst.seconds / totals[0]:.0%} of a step, limited by {worst.limit}",
        f"assumed: prompts of {prompt:,.0f} tokens, {TYPICAL:.0%} of the response budget and of the searches, and what "
        "docs/experiments/estimates.csv says",
    ]
    if gpu is None:
        lines.append("machine: this one has no GPU of the table; change it with --gpu, --gpus-per-node and --nodes")
    if tokens.steps is not None:
        hours = [f"{tokens.steps * total / 3600:.1f}" for total in totals]
        lines.append(f"hours for {tokens.steps:,} steps (ESTIMATED): {hours[0]} typical, {hours[1]} at full length")
    return lines


def _short(count: float) -> str:
    """12.3k, 4.56M, 7.89B."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count:.0f}"
