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
    r"(?i)((?:api[_-]?key|secret(?:[_-]?access)?(?:[_-]?key)?|access[_-]?token"
    r"|auth[_-]?token|(?<!max)(?<!max[_-])token|authorization)[\"']?\s*(?:[:=]|=>)\s*[\"']?(?:bearer\s+|basic\s+)?|\bbearer\s+)"
    r"(?!\[masked\])([^\s\"'@,;&]{8,})"
)
_PASSWORD = r"pass(?:word|wd|phrase)"
_LINE = re.compile(rf"(?im)^([ \t]*[\w.-]*{_PASSWORD}(?::[ \t]+|[ \t]+=[ \t]+))(?!\[masked\]|\\?[\"'])\S[^\n]*")
"""A line that holds a password and nothing else: it may have spaces."""
_INSIDE = re.compile(
    rf"(?i)({_PASSWORD}(?:\\?[\"'])?[ \t]*(?:=>|[:=]=?)[ \t]*|(?<=--){_PASSWORD}[ \t]+)"
    r"(?:(\\?[\"'])(?!\[masked\])(?:(?!\2)(?:\\.|[^\n]))+|(?!\[masked\]|\\?[\"'])[^\s\"'&]+)"
)
"""A password inside a line: to its closing quote, or else to a space."""
_IN_URL = re.compile(r"(://[^\s:/@]+:)(?!\[masked\])[^\s@/]{4,}(?=@)")


class Masked:
    """Masks texts, and counts the secrets that it found."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, text: str) -> str:
        text, lines = _LINE.subn(lambda found: found[1] + MASK, text)
        text, inside = _INSIDE.subn(lambda found: found[1] + (found[2] or "") + MASK, text)
        text, known = _SECRETS.subn(MASK, text)
        text, named = _NAMED.subn(lambda found: found[1] + MASK, text)
        text, in_url = _IN_URL.subn(lambda found: found[1] + MASK, text)
        self.count += lines + inside + known + named + in_url
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with all its texts masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self._field(name, own) for name, own in value.items()}
        return [self.value(own) for own in value] if isinstance(value, list | tuple) else value

    def _field(self, name: str, value: Any) -> Any:
        """The value of a field, whose name may say that it is a secret."""
        if re.search(rf"(?i){_PASSWORD}$", name) and type(value) in (str, int) and value not in ("", MASK):
            self.count += 1
            return MASK
        if not isinstance(value, str):
            return self.value(value)
        return self.text(f"{name}={value}").removeprefix(f"{name}=")


def masked_events(events: Iterator[Event], masked: Masked) -> Iterator[Event]:
    for event in events:
        yield event.model_copy(update={"text": masked.text(event.text), "meta": masked.value(event.meta)})
