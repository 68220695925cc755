"""judge_r1: train, evaluate and serve agentic judges of long-context reasoning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from judge_r1.core.version import __version__

if TYPE_CHECKING:
    from judge_r1.api import load_judge
    from judge_r1.judges.result import JudgeResult
    from judge_r1.judges.trace_tasks import TraceResult

__all__ = ["JudgeResult", "TraceResult", "__version__", "load_judge"]
_LAZY = {
    "JudgeResult": "judge_r1.judges.result",
    "TraceResult": "judge_r1.judges.trace_tasks",
    "load_judge": "judge_r1.api",
}


def __getattr__(name: str) -> Any:
    """Imports the judges on first use: `import judge_r1` alone stays fast."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
