"""Writes YAML that every reader understands alike.

Readers differ in the words that are no text: YAML 1.1 has `no`, `on` and `12:30`, the parser of Kubernetes also `y` and
`1e3`, YAML 1.2 `0o7`. So every text is quoted, except for words that are text in all of them.
"""

import re
from typing import Any

import yaml

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_OTHER_TYPES = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks of YAML 1.1 that are none in YAML 1.2."""


class Block(str):
    """A text of several lines, such as a script, which is written as a block (`|`) where YAML allows it."""


def dump_yaml(data: Any) -> str:
    """The YAML text of lists, dictionaries, texts, numbers, booleans and None."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if isinstance(text, Block) and not _BREAKS.search(text):
        style: str | None = "|"
    else:
        style = None if _PLAIN.fullmatch(text) and text.lower() not in _OTHER_TYPES else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Block, _text)
