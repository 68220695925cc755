"""judge_r1: train, test and run agentic judges of long-context reasoning."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge_r1.api import JudgeResult as JudgeResult
    from judge_r1.api import load_judge as load_judge

__version__ = "0.1.0"
__all__ = ["JudgeResult", "__version__", "load_judge"]


def __getattr__(name: str) -> Any:
    """What a judge needs is imported when one is asked for."""
    if name in ("Judged", "load_judge"):
        from judge_r1 import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
