"""Reads YAML strictly, and writes YAML that every reader understands alike.

A file that is read has no repeated keys, a bounded depth, bounded aliases and finite numbers, integers in decimal
digits. In writing, every text is quoted, except for words that are text in all readers: YAML 1.1 has `no`, `on` and
`12:30`, the parser of Kubernetes also `y` and `1e3`, YAML 1.2 `0o7`.
"""

import math
import re
from pathlib import Path
from typing import Any

import yaml

from judge_r1.core.errors import JudgeError, read_error
from judge_r1.core.folders import NAMED
from judge_r1.core.registry import nearest

MAX_BYTES = 2**20
MAX_DEPTH = 50
MAX_NODES = 100_000
"""Values of a file, where an alias counts as often as the values that it repeats."""
MAX_INTEGER = 2**63
"""Libraries that take a 64-bit integer fail beyond it."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_OTHER_TYPES = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks of YAML 1.1 that are none in YAML 1.2."""


class _Loader(yaml.SafeLoader):
    """Reads 018 as the number 18, as 016 is 16; PyYAML takes it as a text."""


_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("[-+]?0[0-9]+$"), list("-+0"))


class BadYaml(JudgeError, ValueError):
    """A text is not valid YAML. The message says where, and why."""


def parse_yaml(text: str, where: object) -> Any:
    """The value of a YAML text. `where` names the text in messages.

    Raises:
        BadYaml: The text is not valid, repeats a key, has too many levels or aliases, or holds a number that is
            infinite, NaN or beyond 64 bits.
    """
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        # Before construction, which drops repeated keys and expands aliases.
        _check(node, 1, {})
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
    except RecursionError:
        reason = _TOO_DEEP
    except ValueError as error:  # a number or date that Python cannot represent
        reason = str(error)
    finally:
        if loader is not None:
            loader.dispose()
    raise BadYaml(f"{where} is not YAML: {reason}")


def read_yaml(path: Path) -> Any:
    """The value of a YAML file in UTF-8. Raises JudgeError if it cannot be read, and BadYaml."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        names = {other.stem: other for other in path.parent.glob("*.y*ml")}  # equal suffixes make no name near
        hint = f"; did you mean {names[near]}?" if (near := nearest(path.stem, names)) else ""
        raise JudgeError(f"{read_error(path, error)}{hint}") from None
    except IsADirectoryError:
        inside = ", ".join(sorted(other.name for other in path.glob("*.y*ml"))[:NAMED])
        hint = f" in it, such as {inside}" if inside else ""
        raise JudgeError(f"{path} is a folder: name a YAML file{hint}") from None
    except OSError as error:
        raise read_error(path, error) from None
    if len(data) > MAX_BYTES:
        raise BadYaml(f"{path} is not YAML: it has more than {MAX_BYTES // 2**20} MiB; is it the right file?")
    try:
        return parse_yaml(data.decode("utf-8-sig"), path)
    except UnicodeDecodeError:
        raise BadYaml(f"{path} is not YAML: it is not UTF-8; save it as UTF-8") from None


_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"


def _check(node: yaml.Node, depth: int, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """The number of values in a node and its levels, with aliases expanded. `known` holds those of finished nodes."""
    if id(node) in known:
        size, levels = known[id(node)]
    elif depth > MAX_DEPTH:  # or an alias to a node that contains it
        raise ValueError(_TOO_DEEP + _at(node))
    else:
        children = [_check(child, depth + 1, known) for child in _children(node)]
        size = 1 + sum(child for child, _ in children)
        levels = 1 + max((child for _, child in children), default=0)
        known[id(node)] = size, levels
    if depth + levels - 1 > MAX_DEPTH:
        raise ValueError(_TOO_DEEP + _at(node))
    if size > MAX_NODES:
        raise ValueError(f"it has more than {MAX_NODES:,} values, aliases expanded{_at(node)}")
    return size, levels


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        _check_keys(node)
        return [child for pair in node.value for child in pair]
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if isinstance(node, yaml.ScalarNode):
        _check_number(node)
    return []


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[Any] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise ValueError(f"a key must be a text or a number{_at(key)}")
        _check_number(key)
        kind = key.tag.removeprefix("tag:yaml.org,2002:")
        value = yaml.SafeLoader("").construct_object(key) if kind in ("int", "float", "bool", "null") else key.value
        if (same := (isinstance(value, str) and kind, value)) in seen:
            raise ValueError(f"it repeats the key {key.value[:80]!r}{_at(key)}; remove one of them")
        seen.add(same)


def _check_number(node: yaml.ScalarNode) -> None:
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind == "float" and not math.isfinite(yaml.SafeLoader("").construct_yaml_float(node)):
        raise ValueError(f"{node.value[:20]} is not a finite number{_at(node)}")
    if kind == "int":
        node.value = re.sub(r"^([-+]?)0+(?=_*\d)", r"\1", node.value)  # as YAML 1.2; YAML 1.1 reads 016 as 14
        if not re.fullmatch(r"[-+]?[\d_]+", node.value):
            raise ValueError(f"{node.value[:20]} is no decimal number{_at(node)}")
    # The length comes first: converting thousands of digits takes quadratic time, and Python refuses it.
    if kind == "int" and (len(node.value) > 100 or abs(yaml.SafeLoader("").construct_yaml_int(node)) >= MAX_INTEGER):
        raise ValueError(f"{node.value[:20]} does not fit into 64 bits{_at(node)}")


def _at(node: yaml.Node) -> str:
    return f" (line {node.start_mark.line + 1}, column {node.start_mark.column + 1})"


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
