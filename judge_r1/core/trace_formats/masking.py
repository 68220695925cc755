"""Masks secrets in events: keys of known services, private keys, tokens, and values that are called a secret."""

import re
from collections.abc import Iterator
from typing import Any

from judge_r1.core.trace import Event
from judge_r1.core.trace_formats.secret_rules import AFTER, KNOWN, PASSWORD_FIELD, package_rules

MASK = "[masked]"


class Masked:
    """Masks texts, and counts the secrets that it found. Raises: JudgeError if detect-secrets is not installed."""

    def __init__(self) -> None:
        self.count = 0
        self._package = package_rules()

    def text(self, text: str) -> str:
        for rule in AFTER[:2]:  # a password may look like a key: it is masked to its end
            text = self._after(rule, text)
        text, known = KNOWN.subn(MASK, text)
        self.count += known
        for rule in AFTER[2:]:
            text = self._after(rule, text)
        return "\n".join(self._line(line) for line in text.split("\n"))

    def _after(self, rule: re.Pattern[str], text: str) -> str:
        def masked(found: re.Match[str]) -> str:
            return found[1] + (found.groupdict().get("quote") or "") + MASK

        text, count = rule.subn(masked, text)
        self.count += count
        return text

    def _line(self, line: str) -> str:
        """A line without the secrets that detect-secrets finds in it. Parts of longer words are none."""
        secrets = {secret for find in self._package for secret in find(line) if secret and MASK not in secret}
        for secret in sorted(secrets, key=len, reverse=True):
            line, count = re.subn(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, line)
            self.count += count
        return line

    def value(self, value: Any) -> Any:
        """A JSON value with all its texts masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self._field(name, own) for name, own in value.items()}
        return [self.value(own) for own in value] if isinstance(value, list | tuple) else value

    def _field(self, name: str, value: Any) -> Any:
        """The value of a field, whose name may say that it is a secret."""
        if PASSWORD_FIELD.search(name) and type(value) in (str, int) and value not in ("", MASK):
            self.count += 1
            return MASK
        if not isinstance(value, str):
            return self.value(value)
        mark = "" if re.search(r"[\s\"'\\]", value) else '"'
        return self.text(f"{name}={mark}{value}{mark}").removeprefix(f"{name}={mark}").removesuffix(mark)


def masked_events(events: Iterator[Event], masked: Masked) -> Iterator[Event]:
    for event in events:
        yield event.model_copy(update={"text": masked.text(event.text), "meta": masked.value(event.meta)})
