"""Reads code blocks from the docs. A block is named by its first line."""

import re
from pathlib import Path


def block(name: str, page: Path) -> str:
    """Returns the block that begins with `# name`."""
    found = re.findall(rf"^```\w+\n(# {re.escape(name)}\n.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{page} must have one block {name}, and has {len(found)}"
    return str(found[0])
