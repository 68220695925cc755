"""The shape of a model from its config.json: its parameters and the bytes of its cache."""

from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.core.errors import JudgeError
from judge_r1.models.hub import load_config, resolve
from judge_r1.models.pretrained import ModelUnavailable


class UnknownShape(JudgeError):
    """The config.json is not available, or the formulas do not cover the model."""


class Shape(NamedTuple):
    """A dense decoder: layers, their width, attention heads and key-value heads, and an MLP."""

    kind: str
    layers: int
    width: int
    mlp: int
    heads: int
    kv_heads: int
    vocabulary: int
    tied: bool
    head_size: int = 128
    source: str = "the table in judge_r1/models/shape.py"

    @property
    def linears(self) -> list[tuple[int, int]]:
        """Inputs and outputs of the linear layers of a block: query, key, value, output, and three of the MLP."""
        h, queries, keys = self.width, self.heads * self.head_size, self.kv_heads * self.head_size
        return [(h, queries), (h, keys), (h, keys), (queries, h), (h, self.mlp), (h, self.mlp), (self.mlp, h)]

    @property
    def layer_parameters(self) -> int:
        """Linear layers and norms; Qwen2 has biases of query, key and value, Qwen3 norms of query and key."""
        biases = sum(outputs for _, outputs in self.linears[:3])
        more = {"qwen2": biases, "qwen3": 2 * self.head_size}.get(self.kind, 0)
        return sum(inputs * outputs for inputs, outputs in self.linears) + 2 * self.width + more

    @property
    def parameters(self) -> int:
        """Embeddings (twice unless tied) + the layers + the last norm."""
        return self.vocabulary * self.width * (2 - self.tied) + self.layers * self.layer_parameters + self.width

    def trained(self, rank: int | None = None) -> int:
        """All parameters, or those of LoRA on every linear layer: rank x (inputs + outputs) each (Hu et al. 2021)."""
        adapters = self.layers * (rank or 0) * sum(inputs + outputs for inputs, outputs in self.linears)
        return adapters if rank else self.parameters

    @property
    def cache_bytes(self) -> int:
        """Bytes per token in the bfloat16 key-value cache."""
        return 2 * 2 * self.layers * self.kv_heads * self.head_size


KINDS = ("llama", "mistral", "qwen2", "qwen3")
"""Dense decoders that the formulas cover. A test compares them with transformers' counts."""
SHIPPED = {
    "Qwen/Qwen3-0.6B": Shape("qwen3", 28, 1024, 3072, 16, 8, 151_936, True),
    "Qwen/Qwen3-1.7B": Shape("qwen3", 28, 2048, 6144, 16, 8, 151_936, True),
    "Qwen/Qwen3-4B": Shape("qwen3", 36, 2560, 9728, 32, 8, 151_936, True),
    "Qwen/Qwen3-8B": Shape("qwen3", 36, 4096, 12288, 32, 8, 151_936, False),
    "Qwen/Qwen3-14B": Shape("qwen3", 40, 5120, 17408, 40, 8, 151_936, False),
    "Qwen/Qwen3-32B": Shape("qwen3", 64, 5120, 25600, 64, 8, 151_936, False),
    "Qwen/Qwen2.5-7B-Instruct": Shape("qwen2", 28, 3584, 18944, 28, 4, 152_064, False),
}
"""Shapes of the recipes' models, from their config.json, so that estimates need no hub access."""


def shape_of(model: str) -> Shape:
    """The shape of a folder, a bundled model or a hub name. `SHIPPED` comes first, then the local cache, then the hub.

    Raises:
        UnknownShape: The config.json is not available, or the formulas do not cover the model.
    """
    if model in SHIPPED and not Path(model).exists():
        return SHIPPED[model]
    advice = ""
    try:
        folder, advice = resolve(model), "; download the model, and set model=DIR"
        return parse(load_config(model), f"{folder}/config.json")
    except ModelUnavailable as error:
        raise UnknownShape(f"{error}: memory is not estimated{advice}") from None


def parse(config: Any, source: str) -> Shape:
    """The shape in a configuration of transformers. Raises UnknownShape if its type is not in `KINDS`."""
    if config.model_type not in KINDS:
        raise UnknownShape(f"{source} is {config.model_type}: memory is estimated for {', '.join(KINDS)} only")
    heads = config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    keys = config.num_key_value_heads or heads
    layers, width, mlp = config.num_hidden_layers, config.hidden_size, config.intermediate_size
    tied = config.tie_word_embeddings
    return Shape(config.model_type, layers, width, mlp, heads, keys, config.vocab_size, tied, size, source)
