"""Prompts and completions of trainers as texts."""

from collections.abc import Sequence
from typing import Any

Content = str | Sequence[dict[str, Any]]
"""A text, or chat messages."""


def text_of(content: Content) -> str:
    """A prompt or completion as one text. Parts of a message that are not text, such as images, are left out."""
    if isinstance(content, str):
        return content
    return "\n".join(_message_text(message.get("content")) for message in content)


def _message_text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
