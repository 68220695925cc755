"""The tool `python`: runs a script in an interpreter without files, network or processes (pydantic-monty).

The interpreter runs in worker processes, so a script that breaks one ends its worker alone. Each call has a fresh
session with a fixed clock and a fixed seed, and limits of time and memory. A result is cached by its input and limits,
so that all episodes of a process read the same.
"""

import os
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from judge_r1.core.errors import JudgeError
from judge_r1.episode.tools.base import TOOLS, CaseScope, ToolBudget, ToolFailed, ToolResult, last_line

if TYPE_CHECKING:
    from pydantic_monty import Monty

LONGEST = 20_000
"""Characters of a script."""
OUTPUT_BYTES = 65_536
WORKERS, WAIT_S, GRACE_S = 4, 120.0, 1.0
"""Interpreters of a process, how long a call waits for one, and what a call gets beyond its limit before its worker is
ended."""
_TODAY = datetime(2024, 7, 26)
_LIMITS = {"TimeoutError": "time", "MemoryError": "memory", "RecursionError": "depth"}
_UNWRITTEN = "(the last value is not written alike in each run: print what matters)\n"
_pools: "dict[int, Monty]" = {}
_lock = Lock()


class Python:
    help = "runs a Python script without files and network; prints and the value of the last line come back"
    max_calls = 3

    def check(self, text: str) -> str | None:
        if not text.strip():
            return "empty script"
        return f"the script has more than {LONGEST} characters" if len(text) > LONGEST else None

    def require(self) -> None:
        try:
            import pydantic_monty  # noqa: F401
        except ImportError as error:
            raise JudgeError(f"the tool python needs pydantic-monty ({error}): pip install 'judge-r1[tools]'") from None

    def run(self, text: str, scope: CaseScope, budget: ToolBudget) -> ToolResult:
        return run_script(text, budget.seconds, budget.memory_mb)


@lru_cache(maxsize=1024)
def run_script(script: str, seconds: float, memory_mb: int) -> ToolResult:
    """What a script prints, and the value of its last line. Raises: ToolFailed without an interpreter."""
    import pydantic_monty as monty

    printed, value = monty.CollectString(max_bytes=OUTPUT_BYTES), None
    try:
        session = _pool().checkout(
            limits={"max_feed_duration_secs": seconds, "max_memory": memory_mb * 2**20},
            os_policy={"datetime": _TODAY, "sleep": "zero", "random_start": {"seed": 0}},
        )
        with session:
            try:
                value = session.feed_run(script, print_callback=printed)
            except monty.MontyCrashedError:  # a script that no limit inside the worker stops
                return _stopped("time or memory")
            except (monty.MontyRuntimeError, monty.MontySyntaxError, monty.MontyConversionError) as error:
                kind = type(error.exception()).__name__
                if kind == "MemoryError" and len(printed.output.encode()) >= OUTPUT_BYTES:
                    return _stopped("output")
                if kind in _LIMITS:
                    return _stopped(_LIMITS[kind])
                return ToolResult(f"{kind}: {last_line(str(error)).removeprefix(f'{kind}: ')}", "error")
    except TimeoutError as error:
        raise ToolFailed(
            f"none of {WORKERS} interpreters was free within {WAIT_S:g} s: lower tools.python.seconds, which is "
            f"{seconds:g}, or run fewer episodes at a time"
        ) from error
    except (monty.MontyError, OSError, RuntimeError) as error:
        raise ToolFailed(f"the interpreter does not answer: {error}") from error
    try:
        shown = "" if value is None else f"{value!r}\n" if _plain(value) else _UNWRITTEN
        if len(printed.output) + len(shown) > OUTPUT_BYTES:
            return _stopped("output")
    except (ValueError, RecursionError):  # an integer that Python does not write out, or a list that is nested too deep
        return _stopped("output")
    return ToolResult(f"{printed.output}{shown}".rstrip("\n") or "(no output)")


def _stopped(limit: str) -> ToolResult:
    # Without numbers, which differ from run to run.
    return ToolResult(f"the script was stopped at its limit of {limit}", "limit")


def _plain(value: Any) -> bool:
    """Whether a value is written alike in every process: sets are not, and objects have addresses."""
    if isinstance(value, dict):
        return all(_plain(part) for item in value.items() for part in item)
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _pool() -> "Monty":
    """The interpreters of this process. A fork starts its own."""
    import pydantic_monty as monty

    with _lock:
        if (pool := _pools.get(os.getpid())) is None:
            pool = monty.Monty(
                min_processes=1, max_processes=WORKERS, checkout_timeout=WAIT_S, feed_duration_limit_grace=GRACE_S
            )
            pool.__enter__()
            _pools[os.getpid()] = pool
        return pool


TOOLS.register("python")(Python())
