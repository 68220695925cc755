"""Estimates what a run costs before it starts: its tokens, the memory of a GPU by part, and the seconds of a step by
stage. docs/experiments/estimates.md compares the estimates with measurements.

Memory assumes the precisions of the engines: weights, gradients and Adam in float32 and computation in bfloat16 (verl's
FSDP2 shards them over all GPUs; TRL's GRPO uses one GPU), or DeepSpeed's mixed precision for SFT and DPO. Parts marked
rough are within a factor of two. A stage takes as long as the slowest of its resources: computation, memory bandwidth,
the network, or PCIe. Not estimated: scheduling gaps, checkpoints, waiting for the longest episode.
"""

from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PAIRS_FILE, PairSet
from judge_r1.core.record_base import content_hash
from judge_r1.core.transcripts import is_conversations
from judge_r1.episode.case_index import searches_vectors
from judge_r1.episode.config import AUTO
from judge_r1.episode.prompts import judge_prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_config, load_tokenizer, resolve
from judge_r1.models.pretrained import ModelUnavailable
from judge_r1.training.data.training_pairs import training_pairs
from judge_r1.training.recipe import Recipe

GIB = 2**30
TYPICAL, FULL = 0.5, 1.0
"""Fractions of the response budget for which seconds are estimated. Half is an assumption."""
SAMPLED, CHARACTERS = 200, 4.0
"""Prompts that are measured; characters per English token, without the model's tokenizer."""
VLLM_ACTIVE, VLLM_ASLEEP, CUDA_CONTEXT, MACHINE_GPUS = 3 * GIB, 2 * GIB, GIB // 2, 8
"""Rough. What vLLM needs besides weights and cache while it samples (activations of 8,192 tokens, CUDA graphs), and
what it keeps while it sleeps (CUDA context, graphs, NCCL's buffers)."""
COMPUTE, BANDWIDTH, NETWORK = 0.4, 0.6, 0.75
"""Fractions of the peak that training and inference of dense models usually reach."""
QUERY_TOKENS, QUERY_SECONDS, LOOKUP_SECONDS = 16, 0.0125, 1e-4
"""Assumed tokens of a query with its prefix; measured upper seconds to embed one alone with `bundled:e5-small` on a
core, and to search its case (docs/experiments/speed.md)."""
SMALL, BASE, LARGE = 33_400_000, 109_500_000, 335_000_000
EMBEDDERS = {f"intfloat/e5-{name}-v2": size for name, size in (("small", SMALL), ("base", BASE), ("large", LARGE))}
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
    gpu.name: gpu
    for gpu in (
        Gpu("A100", 312, 79.2, 2039, 300, 25, 32),
        Gpu("H100", 989, 79.2, 3350, 450, 50, 64),
        Gpu("H200", 989, 140.4, 4800, 450, 50, 64),
        Gpu("B200", 2250, 178.4, 8000, 900, 50, 64),
    )
}
"""NVIDIA's data sheets of the SXM modules with 80, 80, 141 and 180 GB; the memory of the H100 is measured. The network
is our assumption: one card of 200 Gbit/s for each A100, of 400 Gbit/s for the others."""


def detected() -> Gpu | None:
    """The table's GPU that this machine has; None without one."""
    import torch

    name = torch.cuda.get_device_properties(0).name if torch.cuda.is_available() else ""
    return next((gpu for key, gpu in GPUS.items() if key in name), None)


class UnknownShape(JudgeError):
    """The config.json is not available, or the formulas do not cover the model."""


class Shape(BaseModel):
    """A dense decoder: L layers of width h, attention heads, k key-value heads of size d, and an MLP."""

    model_config = ConfigDict(frozen=True)

    kind: str
    layers: int
    width: int
    mlp: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    tied: bool
    source: str = "the table in judge_r1/training/cost_estimate.py"

    @property
    def parameters(self) -> int:
        """Embeddings (twice unless tied) + the layers + the last norm."""
        return self.vocabulary * self.width * (2 - self.tied) + self.layers * self.layer_parameters + self.width

    @property
    def layer_parameters(self) -> int:
        """Attention, MLP and norms of a layer. In Qwen2, query, key and value projections have biases; in Qwen3, query
        and key have norms."""
        h, queries, keys = self.width, self.heads * self.head_size, self.kv_heads * self.head_size
        more = {"qwen2": queries + 2 * keys, "qwen3": 2 * self.head_size}.get(self.kind, 0)
        return 2 * h * queries + 2 * h * keys + 3 * h * self.mlp + 2 * h + more

    def adapters(self, rank: int) -> int:
        """Parameters of LoRA on every linear layer of the blocks: rank x (inputs + outputs) each (Hu et al. 2021)."""
        h, queries, keys = self.width, self.heads * self.head_size, self.kv_heads * self.head_size
        return self.layers * rank * (2 * (h + queries) + 2 * (h + keys) + 3 * (h + self.mlp))

    @property
    def cache_bytes(self) -> int:
        """Bytes per token in the bfloat16 key-value cache: 2 x L x k x d x 2."""
        return 4 * self.layers * self.kv_heads * self.head_size


KINDS = ("llama", "mistral", "qwen2", "qwen3")
"""Dense decoders that the formulas cover. A test compares them with transformers' counts."""
SHIPPED = {
    f"Qwen/{name}": Shape(
        kind=name[:5].lower(), layers=layers, width=width, mlp=mlp, heads=heads, kv_heads=kv_heads, head_size=128,
        vocabulary=vocabulary, tied=tied,
    )
    for name, layers, width, mlp, heads, kv_heads, vocabulary, tied in (
        ("Qwen3-0.6B", 28, 1024, 3072, 16, 8, 151_936, True),
        ("Qwen3-1.7B", 28, 2048, 6144, 16, 8, 151_936, True),
        ("Qwen3-4B", 36, 2560, 9728, 32, 8, 151_936, True),
        ("Qwen3-8B", 36, 4096, 12288, 32, 8, 151_936, False),
        ("Qwen3-14B", 40, 5120, 17408, 40, 8, 151_936, False),
        ("Qwen3-32B", 64, 5120, 25600, 64, 8, 151_936, False),
        ("Qwen2.5-7B-Instruct", 28, 3584, 18944, 28, 4, 152_064, False),
    )
}  # fmt: skip
"""Shapes of the recipes' models, from their config.json, so that estimates need no hub access."""


def shape_of(model: str) -> Shape:
    """The shape of a folder, a bundled model or a hub name. `SHIPPED` comes first, then the local cache, then the hub.

    Raises:
        UnknownShape: The config.json is not available, or the formulas do not cover the model.
    """
    if model in SHIPPED and not Path(model).exists():
        return SHIPPED[model]
    try:
        folder = resolve(model)
    except ModelUnavailable as error:
        raise UnknownShape(f"{error}: memory is not estimated") from None
    try:
        config = load_config(model)
    except ModelUnavailable as error:
        raise UnknownShape(f"{error}: memory is not estimated; download the model, and set model=DIR") from None
    return parse(config, f"{folder}/config.json")


def parse(config: Any, source: str) -> Shape:
    """The shape in a configuration of transformers. Raises UnknownShape if its type is not in `KINDS`."""
    if config.model_type not in KINDS:
        raise UnknownShape(f"{source} is {config.model_type}: memory is estimated for {', '.join(KINDS)} only")
    heads = config.num_attention_heads
    return Shape(
        kind=config.model_type, layers=config.num_hidden_layers, width=config.hidden_size, mlp=config.intermediate_size,
        heads=heads, kv_heads=config.num_key_value_heads or heads, vocabulary=config.vocab_size,
        head_size=getattr(config, "head_dim", None) or config.hidden_size // heads, tied=config.tie_word_embeddings,
        source=source,
    )  # fmt: skip


class Tokens(NamedTuple):
    """`examples`: episodes or training examples per step. `prompt`, `response`: maximum tokens of each. `mean_prompt`:
    mean tokens of sampled prompts; None without data."""

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
    folder = recipe.data.train
    data = training_pairs(folder) if is_conversations(folder) or (folder / PAIRS_FILE).exists() else None
    pairs = len(data.pairs) if data else None
    if recipe.stage == "grpo":
        examples = recipe.grpo.pairs_per_step * recipe.grpo.group_size
        steps: int | None = recipe.grpo.steps
    else:
        part, used = recipe.sft if recipe.stage == "sft" else recipe.dpo, pairs
        if recipe.stage == "sft" and recipe.sft.traces:
            used = min(recipe.sft.traces, pairs or recipe.sft.traces)
        epoch_steps = None if used is None else -(-round(part.epochs * used) // part.batch_size)
        examples, steps = part.batch_size, part.max_steps if part.max_steps > 0 else epoch_steps
    mean, counted_by = _mean_prompt(recipe, data) if data else (None, "")
    response = recipe.episode.effective_budget.episode_tokens
    return Tokens(examples, steps, recipe.episode.prompt_tokens, response, pairs, mean, counted_by)


def _mean_prompt(recipe: Recipe, data: PairSet) -> tuple[float, str]:
    """Mean tokens per prompt over a seeded sample, and how they were counted."""
    chosen = sorted(data.pairs, key=lambda pair: content_hash("plan", recipe.seed, pair.pair_id))[:SAMPLED]
    config, searches = recipe.episode, recipe.episode.effective_budget.max_searches
    prompts = [
        judge_prompt(pair, data.case_of(pair), context=config.context, searches=searches, style=config.prompt)
        for pair in chosen
    ]
    tokenizer, counted_by = _tokenizer(recipe.model), "the model's tokenizer"
    if tokenizer is None:
        sizes = [sum(len(message["content"]) for message in prompt.chat()) / CHARACTERS for prompt in prompts]
        counted_by = f"{CHARACTERS:.0f} characters per token"
    else:
        sizes = [len(tokenizer.prompt_ids(prompt, thinking=config.thinking)) for prompt in prompts]
    return sum(sizes) / len(sizes), counted_by


def _tokenizer(model: str) -> SafeTokenizer | None:
    """The tokenizer of the model if it is on this machine, else None. The hub is not accessed."""
    try:
        return SafeTokenizer(load_tokenizer(model)) if model.startswith("bundled:") or Path(model).exists() else None
    except JudgeError:
        return None


def verl_key(recipe: Recipe, name: str) -> float:
    """A setting of `VERL`. A value of another kind counts as verl's default; `check_keys` refuses it if verl is
    installed."""
    key, default = VERL[name]
    value = recipe.grpo.verl.get(key, default)
    if isinstance(default, bool):
        return bool(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else default


def memory(recipe: Recipe, shape: Shape, gpus: int, tokens: int) -> dict[str, float]:
    """GiB per GPU by part. `tokens` is the length of the longest example or episode with its prompt.

    Gathered are the weights that FSDP2 or ZeRO-3 need to compute, in bfloat16: two layers (one computes, the next is
    fetched), the embedding and the output table; and the gradients of one layer and of the output table, before they
    are reduced. The logits of verl and their gradient, two tensors of 2 bytes over the vocabulary, are rough; TRL's
    fused output layer and verl's fused kernels store none."""
    parts = _state(recipe, shape, gpus) | {"activations": activation_bytes(recipe, shape, tokens), "logits": 0.0}
    if recipe.on_verl and not verl_key(recipe, "fused_kernels"):
        rows = recipe.grpo.micro_batch_size * tokens / verl_key(recipe, "sequence_parallel")
        parts["logits"] = rows * shape.vocabulary * 4
    table, shards = shape.vocabulary * shape.width, gpus > 1 and (recipe.on_verl or recipe.deepspeed == "zero3")
    parts["gathered"] = (6 * shape.layer_parameters + 2 * table * (3 - shape.tied)) if shards else 0.0
    parts |= {"embedders": _embedders(recipe, gpus), "vllm_asleep": VLLM_ASLEEP if recipe.on_verl else 0}
    return {name: size / GIB for name, size in parts.items()}


def cache(recipe: Recipe, shape: Shape, gpus: int, tokens: int) -> dict[str, float]:
    """GiB per GPU while sampling: weights in bfloat16, and the cache if all episodes of the GPU had `tokens` tokens.

    vLLM stays within its share of the GPU; further episodes wait."""
    episodes = recipe.grpo.pairs_per_step * recipe.grpo.group_size / gpus
    if recipe.grpo.engine == "trl":
        episodes = min(episodes, recipe.grpo.rollout_batch_size)
    split = verl_key(recipe, "tensor_parallel") if recipe.on_verl else 1
    return {"weights": 2 * shape.parameters / split / GIB, "kv_cache": episodes * tokens * shape.cache_bytes / GIB}


def sampling(recipe: Recipe, shape: Shape, gpu: Gpu, gpus: int) -> dict[str, float]:
    """GiB of one of `gpus` GPUs while vLLM samples with its share: the trainer's shards stay, gradients are freed."""
    parts = _state(recipe, shape, gpus) | {"embedders": _embedders(recipe, gpus)}
    kept = {name: parts[name] / GIB for name in ("weights", "optimiser", "embedders")}
    return kept | {"vllm": verl_key(recipe, "utilisation") * gpu.memory}


def capacity(recipe: Recipe, shape: Shape, gpu: Gpu, prompt: float, rest: float) -> float:
    """Episodes whose cache fits a replica of vLLM. A group shares the cache of its `prompt` tokens."""
    share = verl_key(recipe, "utilisation") * gpu.memory * GIB - VLLM_ACTIVE
    free = verl_key(recipe, "tensor_parallel") * share - 2 * shape.parameters
    return max(0.0, free) / ((prompt / recipe.grpo.group_size + rest) * shape.cache_bytes)


def checkpoint_bytes(recipe: Recipe, shape: Shape) -> int:
    """Bytes of a run's two checkpoints and its model on disk.

    A full checkpoint holds float32 weights and Adam's two moments, 12 bytes per parameter; with DeepSpeed 2 more for
    bfloat16 weights. With LoRA these are of the adapters, and verl adds the frozen weights. verl's model is merged in
    bfloat16, TRL's is in float32. With dev pairs, the best weights stay in float32 and become a second model."""
    frozen = shape.parameters if recipe.lora is not None and recipe.on_verl else 0
    each = (14 if recipe.deepspeed else 12) * _trained(recipe, shape) + 4 * frozen
    model = (2 if recipe.on_verl else 4) * shape.parameters
    return 2 * each + model + (4 * shape.parameters + model if recipe.data.dev is not None else 0)


def _trained(recipe: Recipe, shape: Shape) -> int:
    return shape.parameters if recipe.lora is None else shape.adapters(recipe.lora.rank)


def _state(recipe: Recipe, shape: Shape, gpus: int) -> dict[str, float]:
    """Weights, gradients, optimiser, reference.

    Adam keeps two moments per parameter: 4 + 4 + 8 bytes in float32. DeepSpeed's mixed precision needs 2 + 2 bytes for
    weights and gradients in bfloat16 and 12 for a float32 copy and the moments (Rajbhandari et al. 2020, ZeRO, section
    3.1). ZeRO-2 shards gradients and optimiser; ZeRO-3 and FSDP also shard the weights. With LoRA, only the adapters
    have gradients and an optimiser, and the reference is the model without them. verl keeps the frozen reference in
    host memory.
    """
    trained, frozen = _trained(recipe, shape), 0 if recipe.lora is None else shape.parameters
    shards: float = 1 if recipe.stage == "grpo" and not recipe.on_verl else gpus
    if recipe.on_verl:
        shards = min(gpus, verl_key(recipe, "shard_size") or gpus)
    weight_shards = shards if recipe.on_verl or recipe.deepspeed == "zero3" else 1
    state_shards = shards if recipe.on_verl or recipe.deepspeed else 1
    weight, gradient, optimiser = (2, 2, 12) if recipe.deepspeed else (4, 4, 8)
    reference = recipe.stage == "dpo" or (recipe.stage == "grpo" and recipe.grpo.kl > 0 and not recipe.on_verl)
    return {
        "weights": weight * (trained + frozen) / weight_shards,
        "gradients": gradient * trained / state_shards,
        "optimiser": optimiser * trained / state_shards,
        "reference": weight * shape.parameters / weight_shards if reference and recipe.lora is None else 0.0,
    }


def _embedders(recipe: Recipe, gpus: int) -> float:
    """Rough. The embedders of searches on GPU 0 of a machine, in float32: one for each process that runs episodes, with
    a CUDA context of its own under verl."""
    if recipe.stage != "grpo" or embeds_on_processor(recipe):
        return 0.0
    size = 4.0 * embedder_parameters(recipe)
    return min(gpus, MACHINE_GPUS) * (size + CUDA_CONTEXT) if recipe.on_verl else size


def embeds_on_processor(recipe: Recipe) -> bool:
    """Whether searches embed queries on the processor, or need no vectors. By default verl does, TRL does not."""
    device = recipe.episode.retriever_device or ("cpu" if recipe.on_verl else AUTO)
    return device in ("cpu", "mps") or not searches_vectors(recipe.episode)


def embedder_parameters(recipe: Recipe) -> int:
    """Parameters of the recipe's embedder; 0 with BM25."""
    return EMBEDDERS.get(recipe.episode.retriever, BASE) if searches_vectors(recipe.episode) else 0


def activation_bytes(recipe: Recipe, shape: Shape, tokens: int) -> float:
    """Bytes of the longest micro-batch, whose rows have `tokens` tokens, with activation checkpointing: each layer
    keeps its input, and one layer at a time keeps what its backward pass needs. Compared with an H100
    (docs/experiments/h100.md).

    TRL without DeepSpeed computes in bfloat16 from float32 weights (autocast): the residual stream is float32, and
    until the forward pass ends the weights that are trained have copies in bfloat16. With Ulysses sequence
    parallelism, several GPUs share the tokens.
    """
    rows = {
        "sft": recipe.sft.micro_batch_size,
        "dpo": 2 * recipe.dpo.micro_batch_size,  # chosen and rejected
        "grpo": recipe.grpo.micro_batch_size,
    }[recipe.stage]
    batch = rows * tokens / (verl_key(recipe, "sequence_parallel") if recipe.on_verl else 1)
    autocast = not (recipe.on_verl or recipe.deepspeed)
    layer = batch * saved_bytes(shape, autocast=autocast, lora=recipe.lora is not None) + batch * 6 * shape.mlp
    copies = 2 * _trained(recipe, shape) if autocast else 0.0
    layer += 2 * shape.layer_parameters if autocast else 0
    return batch * shape.layers * shape.width * (4 if autocast else 2) + max(layer, copies)


def saved_bytes(shape: Shape, *, autocast: bool, lora: bool) -> int:
    """Bytes per token that a layer saves for its backward pass: residuals and norms, attention without its matrix, MLP.
    These are what transformers' Qwen3 saves for autograd (a test counts them). A layer of Qwen2, Llama or Mistral,
    which has no norms of queries and keys, saves less.

    The backward pass of the MLP needs three tensors of its width besides, 6 bytes per unit.
    """
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


def typical_lengths(recipe: Recipe, tokens: Tokens) -> Lengths:
    """The mean prompt of the data (without data: the longest), and half of the response budget."""
    return lengths(recipe, tokens.mean_prompt or tokens.prompt, TYPICAL)


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
    if recipe.stage != "grpo":
        return _supervised(recipe, shape, machine, one)
    grpo, gpu, weights = recipe.grpo, machine.gpu, 2 * shape.parameters
    episodes = grpo.pairs_per_step * grpo.group_size
    prefill = grpo.pairs_per_step * forward_flops(shape, one.prompt)  # a group shares the cache of its prompt
    prefill += episodes * forward_flops(shape, one.observed, one.prompt + one.sampled / 2)
    stages = [Stage("rollout: prefill", prefill / (machine.total * machine.flops), "compute")]

    split = verl_key(recipe, "tensor_parallel")
    here = episodes * split / machine.total  # episodes of one replica
    rest = one.sampled + one.observed
    together = max(1.0, min(here, verl_key(recipe, "max_sequences"), capacity(recipe, shape, gpu, one.prompt, rest)))
    cached = together * (one.prompt + rest / 2) * shape.cache_bytes
    read = (weights + cached) / (split * BANDWIDTH * gpu.bandwidth * 1e9)
    compute = together * 2 * shape.parameters / (split * machine.flops)
    tokens = one.sampled * here / together
    limit = "memory bandwidth" if read > compute else "compute"
    stages.append(Stage("rollout: decode", tokens * max(read, compute), limit))

    if one.observed:
        stages.append(_search(recipe, machine, episodes, one))
    forward = episodes * forward_flops(shape, one.total) / (machine.total * machine.flops)
    ranks = max(1, machine.total // verl_key(recipe, "sequence_parallel"))  # with episodes of their own
    passes = -(-episodes // (ranks * min(grpo.micro_batch_size, max(1, episodes // ranks))))
    shards = machine._replace(nodes=1) if (verl_key(recipe, "shard_size") or machine.total) <= machine.gpus else machine
    gather = passes * shards.collective(weights)
    if not verl_key(recipe, "bypass"):
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
        return QUERY_SECONDS * parameters / SMALL
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
    recipe: Recipe,
    shape: Shape,
    machine: Machine,
    forward: float,
    passes: float,
    *,
    reduced: int,
    gathered: bool = True,
) -> Stage:
    """Forward, recomputation and backward cost four forward passes, three with LoRA, whose frozen weights have no
    gradients. Each pass gathers the weights twice, and reduces gradients of `reduced` bytes per trained parameter."""
    moved = (4 * shape.parameters if gathered else 0) + reduced * _trained(recipe, shape)
    factor = 4 if recipe.lora is None else 3
    return _slowest("update", compute=factor * forward, network=passes * machine.collective(moved))


def _slowest(name: str, **seconds: float) -> Stage:
    """Communication overlaps with computation, so the slowest resource sets the time."""
    limit = max(seconds, key=seconds.__getitem__)
    return Stage(name, seconds[limit], limit)
