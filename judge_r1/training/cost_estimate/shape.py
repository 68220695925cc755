"""Reads the shape of a model from its config.json, without loading weights."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from judge_r1.core.errors import JudgeError
from judge_r1.core.strict_json import parse_json
from judge_r1.models.hub import resolve
from judge_r1.models.pretrained import ModelUnavailable

KINDS = ("llama", "mistral", "qwen2", "qwen3")
"""Dense decoders that the formulas below cover. A test compares them with transformers' counts."""
HUB_SECONDS = 10.0


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
    source: str = ""

    @property
    def parameters(self) -> int:
        """Embeddings (twice unless tied) + the layers + the last norm."""
        embeddings = self.vocabulary * self.width * (1 if self.tied else 2)
        return embeddings + self.layers * self.layer_parameters + self.width

    @property
    def layer_parameters(self) -> int:
        """Attention, MLP and norms of a layer. In Qwen2, query, key and value projections have biases; in Qwen3, query
        and key have norms."""
        h, queries, keys = self.width, self.heads * self.head_size, self.kv_heads * self.head_size
        layer = 2 * h * queries + 2 * h * keys + 3 * h * self.mlp + 2 * h
        return layer + (
            queries + 2 * keys if self.kind == "qwen2" else 2 * self.head_size if self.kind == "qwen3" else 0
        )

    def adapters(self, rank: int) -> int:
        """Parameters of LoRA on every linear layer of the blocks: rank x (inputs + outputs) each (Hu et al. 2021)."""
        h, queries, keys = self.width, self.heads * self.head_size, self.kv_heads * self.head_size
        attention = 2 * (h + queries) + 2 * (h + keys)
        return self.layers * rank * (attention + 3 * (h + self.mlp))

    @property
    def cache_bytes(self) -> int:
        """Bytes per token in the bfloat16 key-value cache: 2 x L x k x d x 2."""
        return 4 * self.layers * self.kv_heads * self.head_size


def _qwen3(layers: int, width: int, mlp: int, heads: int, *, tied: bool) -> Shape:
    return Shape(
        kind="qwen3", layers=layers, width=width, mlp=mlp, heads=heads, kv_heads=8, head_size=128, vocabulary=151_936,
        tied=tied, source="the table in judge_r1/training/cost_estimate/shape.py",
    )  # fmt: skip


SHIPPED = {
    "Qwen/Qwen3-0.6B": _qwen3(28, 1024, 3072, 16, tied=True),
    "Qwen/Qwen3-1.7B": _qwen3(28, 2048, 6144, 16, tied=True),
    "Qwen/Qwen3-4B": _qwen3(36, 2560, 9728, 32, tied=True),
    "Qwen/Qwen3-8B": _qwen3(36, 4096, 12288, 32, tied=False),
    "Qwen/Qwen3-14B": _qwen3(40, 5120, 17408, 40, tied=False),
    "Qwen/Qwen3-32B": _qwen3(64, 5120, 25600, 64, tied=False),
    "Qwen/Qwen2.5-7B-Instruct": Shape(
        kind="qwen2", layers=28, width=3584, mlp=18944, heads=28, kv_heads=4, head_size=128, vocabulary=152_064,
        tied=False, source="the table in judge_r1/training/cost_estimate/shape.py",
    ),
}  # fmt: skip
"""Shapes of the recipes' models, from their config.json, so that estimates need no hub access."""


def shape_of(model: str) -> Shape:
    """The shape of a folder, a bundled model or a hub name. `SHIPPED` comes first, then the local cache, then the hub.

    Raises:
        UnknownShape: The config.json is not available, or the formulas do not cover the model.
    """
    if model in SHIPPED and not Path(model).exists():
        return SHIPPED[model]
    file = _config_file(model)
    try:
        config = parse_json(file.read_bytes(), file)
    except (OSError, ValueError) as error:
        raise UnknownShape(f"{file} cannot be read: {error}") from None
    if not isinstance(config, dict):
        raise UnknownShape(f"{file} must hold a JSON object, not {type(config).__name__}")
    return parse(config, str(file))


def parse(config: dict[str, Any], source: str) -> Shape:
    """The shape in a config.json.

    Raises:
        UnknownShape: The model type is not in `KINDS`, or a key is missing.
    """
    config = config.get("text_config", config)
    kind = config.get("model_type", "of unknown model_type")
    if kind not in KINDS:
        raise UnknownShape(f"{source} is {kind}: memory is estimated for {', '.join(KINDS)} only")
    try:
        heads, width = config["num_attention_heads"], config["hidden_size"]
        return Shape(
            kind=kind,
            layers=config["num_hidden_layers"],
            width=width,
            mlp=config["intermediate_size"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head_size=config.get("head_dim") or width // heads,
            vocabulary=config["vocab_size"],
            tied=config.get("tie_word_embeddings", False),
            source=source,
        )
    except KeyError as error:
        raise UnknownShape(f"{source} has no {error.args[0]}") from None


def _config_file(model: str) -> Path:
    try:
        folder = Path(resolve(model))
    except ModelUnavailable as error:
        raise UnknownShape(f"{error}: memory is not estimated") from None
    if folder.exists():
        return folder / "config.json"
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    cached = try_to_load_from_cache(model, "config.json")
    if isinstance(cached, str):
        return Path(cached)
    try:
        return Path(hf_hub_download(model, "config.json", etag_timeout=HUB_SECONDS))
    except Exception as error:  # the hub client raises many types: no network, unknown model, no permission
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnknownShape(
            f"config.json of {model} is neither in the local cache nor on the hub ({why}): "
            "memory is not estimated; download the model, and set its folder as model=DIR"
        ) from None
