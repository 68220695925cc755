"""Masks secrets in events: keys of known services, private keys, tokens, and values that are called a secret."""

import re
from collections.abc import Iterator
from typing import Any

from judge_r1.core.trace import Event

MASK = "[masked]"
_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bsk-[\w-]{16,}|\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-)\w[\w-]{15,}|\bxox[abeoprs]-[\w-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\b[rs]k_(?:live|test)_\w{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
)
_NAMED = re.compile(
    r"(?i)((?:api[_-]?key|secret(?:[_-]?access)?(?:[_-]?key)?|access[_-]?token|auth[_-]?token|token|passw(?:or)?d"
    r"|authorization)[\"']?\s*(?:[:=]|=>)\s*[\"']?(?:bearer\s+|basic\s+)?|\bbearer\s+|://[^\s:/@]+:)"
    r"(?!\[masked\])([^\s\"'@,;&]{8,})"
)


class Masked:
    """Masks texts, and counts the secrets that it found."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, text: str) -> str:
        text, known = _SECRETS.subn(MASK, text)
        text, named = _NAMED.subn(lambda found: found[1] + MASK, text)
        self.count += known + named
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with all its texts masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(name): self.value(own) for name, own in value.items()}
        return [self.value(own) for own in value] if isinstance(value, list | tuple) else value


def masked_events(events: Iterator[Event], masked: Masked) -> Iterator[Event]:
    for event in events:
        yield event.model_copy(update={"text": masked.text(event.text), "meta": masked.value(event.meta)})
