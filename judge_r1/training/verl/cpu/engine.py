"""verl's FSDP2 engine on the processor."""

from typing import Any

from verl.workers.engine.base import EngineRegistry
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead


@EngineRegistry.register(model_type="language_model", backend=["fsdp2"], device="cpu")
class CpuEngine(FSDPEngineWithLMHead):  # type: ignore[misc]
    """Keeps the weights of a frozen model (the KL reference) in normal memory. verl would offload them to pinned
    memory, which needs an accelerator."""

    def _build_fsdp_module(self, module: Any) -> Any:
        config = self.engine_config
        frozen = config.forward_only
        # The configuration is a frozen dataclass, and verl offloads what is `forward_only`.
        object.__setattr__(config, "forward_only", False)
        try:
            return super()._build_fsdp_module(module)
        finally:
            object.__setattr__(config, "forward_only", frozen)
