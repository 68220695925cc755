"""Loads models, tokenizers and configurations with transformers, and never runs code of a model folder.

By default, transformers asks on standard input whether to run such code, so a pipe could answer. Only safetensors files
are read, because a pickle can run code. Every module that loads weights calls these functions.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError

_LOCK = threading.RLock()
"""transformers 5 replaces functions of torch while it loads. Two loads at a time leave them replaced: later models then
lack their tied weights."""
OWN_CODE = "its configuration names code of its own, which judge-r1 never runs: use a model that transformers supports"


class ModelUnavailable(JudgeError):
    """Weights are missing, or differ from the expected file."""


def causal_model(source: str | Path, **options: Any) -> Any:
    """The causal language model of a folder or hub name. `options` are those of transformers.

    Raises:
        ModelUnavailable: The model cannot be loaded.
    """
    with loading(f"model {str(source)!r}"):
        from transformers import AutoModelForCausalLM

        return AutoModelForCausalLM.from_pretrained(source, trust_remote_code=False, use_safetensors=True, **options)


def classifier(source: str | Path) -> tuple[Any, int]:
    """A sequence classifier, on the GPU if there is one, and the number of outputs of its head.

    Raises:
        ModelUnavailable: It cannot be loaded, or the weights lack some of it, such as the head.
    """
    import torch
    from transformers import AutoModelForSequenceClassification

    with loading(f"model {str(source)!r}"):
        model, report = AutoModelForSequenceClassification.from_pretrained(
            source, trust_remote_code=False, use_safetensors=True, output_loading_info=True
        )
    if missing := sorted(report["missing_keys"]):
        raise ModelUnavailable(f"model {str(source)!r} lacks {missing[0]}: it is no reward model, or a damaged one")
    return (model.to("cuda") if torch.cuda.is_available() else model).eval(), model.config.num_labels


def new_classifier(source: str | Path) -> Any:
    """A sequence classifier with one output for training: that of a folder or hub name, or the weights of a causal
    language model with a new head. In float32, on the GPU if there is one.

    Raises:
        ModelUnavailable: It cannot be loaded, or its head has another number of outputs.
    """
    import torch
    from transformers import AutoModelForSequenceClassification

    trained = is_classifier(source)
    if trained and (outputs := model_config(source).num_labels) != 1:
        raise ModelUnavailable(
            f"model {str(source)!r} is a classifier with {outputs} outputs, and a score is one number: start "
            "from a causal language model, or from a reward model"
        )
    with loading(f"model {str(source)!r}"):
        model, report = AutoModelForSequenceClassification.from_pretrained(
            source, num_labels=1, dtype=torch.float32, trust_remote_code=False, use_safetensors=True,
            output_loading_info=True,
        )  # fmt: skip
    if missing := sorted(name for name in report["missing_keys"] if trained or not name.startswith(_HEADS)):
        raise ModelUnavailable(f"model {str(source)!r} lacks {missing[0]}")
    return model.to("cuda") if torch.cuda.is_available() else model


_HEADS = ("score.", "classifier.")


def is_classifier(source: str | Path) -> bool:
    """Whether a model is a sequence classifier by its configuration. Raises ModelUnavailable."""
    return any(name.endswith("ForSequenceClassification") for name in model_config(source).architectures or ())


def untrained_model(source: str | Path, dtype: Any) -> Any:
    """A model with the configuration of a folder, a causal language model or a classifier, and random weights. Raises
    ModelUnavailable."""
    with loading(f"model {str(source)!r}"):
        from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

        kind = AutoModelForSequenceClassification if is_classifier(source) else AutoModelForCausalLM
        return kind.from_config(model_config(source), dtype=dtype, trust_remote_code=False)


def model_config(source: str | Path) -> Any:
    """The configuration of a model. Raises ModelUnavailable."""
    with loading(f"model {str(source)!r}"):
        from transformers import AutoConfig

        return AutoConfig.from_pretrained(source, trust_remote_code=False)


def model_tokenizer(source: str | Path) -> Any:
    """The tokenizer of a model. Raises ModelUnavailable."""
    with loading(f"tokenizer of {str(source)!r}"):
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(source, trust_remote_code=False)


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Lets one thread load at a time, and turns every error of transformers into ModelUnavailable: damaged files cause
    exceptions of many types. transformers draws no bars in this process from here on: in a log, each takes a line."""
    try:
        from transformers.utils.logging import disable_progress_bar
    except ImportError as error:
        raise ModelUnavailable(f"{what} cannot be loaded ({error}): pip install 'judge-r1[train]'") from error

    disable_progress_bar()
    try:
        with _LOCK:
            yield
    except JudgeError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        reason = lines[0] if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {lines[0]}"
        if "trust_remote_code" in str(error):
            reason = OWN_CODE
        raise ModelUnavailable(f"{what} cannot be loaded: {reason}") from error
