"""Old spellings of options. They keep working and are not shown in `--help`."""

from typing import Any


def old_flags(**renamed: str) -> dict[str, Any]:
    """Click context settings that accept old option names: `old_flags(running="max-concurrency")`."""
    return {"token_normalize_func": lambda token: renamed.get(token, token)}
