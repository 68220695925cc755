"""Reads YAML files as validated models, with inheritance (`extends`) and `a.b=value` overrides."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from judge_r1.core.errors import JudgeError, explain
from judge_r1.core.registry import suggest

S = TypeVar("S", bound="ConfigModel")


class ConfigModel(BaseModel):
    """Base of the sections of a YAML file. Unknown keys and numbers that are not finite are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class ConfigError(JudgeError):
    """A YAML file cannot be read or does not match its schema."""


def load_config(
    model: type[S],
    path: Path,
    overrides: Sequence[str] = (),
    *,
    files: Sequence[str] = (),
    dotted: Sequence[str] = (),
) -> S:
    """Reads a file as `model`.

    A key in `files` may hold the path of another file, relative to this one, in place of a section, or a section that
    extends a file. Keys of the sections in `dotted` may be paths: `a.b: 1` is `a: {b: 1}`.

    Raises:
        ConfigError: A file or an override is not valid. For an unknown key the message names the nearest one.
    """
    return validated(model, read(path, files=files, dotted=dotted), overrides, str(path))


def validated(model: type[S], data: dict[str, Any], overrides: Sequence[str], where: str) -> S:
    """`data` with overrides applied, as `model`. Raises ConfigError, which names `where`."""
    if overrides:
        from judge_r1.files.strict_yaml import BadYaml, parse_yaml  # late: judges of an endpoint need no YAML
    for override in overrides:
        key, equals, value = override.partition("=")
        if not (key and equals):
            raise ConfigError(f"{where}: {override!r} must read {key or 'KEY'}=VALUE")
        if not value.strip():
            raise ConfigError(f"{where}: {override!r} has no value: write {key}=VALUE, or leave it out")
        try:
            _set(data, key.split("."), parse_yaml(value, f"override {override[:80]!r}"))
        except BadYaml as error:
            raise ConfigError(str(error)) from None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_explain(error, model)}") from None


def read_options(model: type[S], options: Sequence[str], where: str) -> S:
    """The `key=value` options of a SPEC as `model`. A value is a text, not YAML: `010` is ten, and a number is neither
    `true` nor `1_0`. Raises: ConfigError, which names `where`."""
    given: dict[str, Any] = {name: value.strip() for name, _, value in (option.partition("=") for option in options)}
    if empty := next((name for name, value in given.items() if not value), None):
        raise ConfigError(f"{where}: the option {empty} has no value: write {empty}=VALUE")
    found = validated(model, dict(given), (), where)
    for name, value in given.items():
        read = getattr(found, name)
        if "_" in value and any(isinstance(one, int | float) for one in (read if isinstance(read, tuple) else (read,))):
            raise ConfigError(f"{where}: field {name}: a number has no _: {value!r}")
    return found


def read(
    path: Path, below: tuple[Path, ...] = (), *, files: Sequence[str] = (), dotted: Sequence[str] = ()
) -> dict[str, Any]:
    """The data of a file, merged over the files that it extends. `below` are the files that extend this one."""
    from judge_r1.files.strict_yaml import read_yaml

    if path.resolve() in below:
        raise ConfigError(f"{path} {'starts from or ' if files else ''}extends itself")
    try:
        data = read_yaml(path)
    except JudgeError as error:
        raise ConfigError(str(error)) from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must contain keys and values")
    return _extended(data, path, (*below, path.resolve()), files, dotted)


def _extended(
    data: dict[str, Any], path: Path, here: tuple[Path, ...], files: Sequence[str], dotted: Sequence[str]
) -> dict[str, Any]:
    """`data` of the file `path`, merged over the file that it extends."""
    for section in dotted:
        _nest(data, section, path)
    for key in files:
        if isinstance(data.get(key), str):
            data[key] = read(path.parent / data[key], here, files=files, dotted=dotted)
        elif isinstance(data.get(key), dict):  # a section, which may extend a file
            data[key] = _extended(data[key], path, here, files, dotted)
    if "extends" not in data:
        return data
    base = data.pop("extends")
    if not isinstance(base, str):
        raise ConfigError(f"{path}: extends must be the path of one recipe file, not {base!r}")
    return _merge(read(path.parent / base, here, files=files, dotted=dotted), data, whole=files)


def _nest(data: dict[str, Any], section: str, path: Path) -> None:
    """Replace keys that are paths in a section of `data` by nested sections, so that files merge key by key."""
    *above, last = section.split(".")
    for name in above:
        data = data.get(name) if isinstance(data.get(name), dict) else {}  # type: ignore[assignment]
    if isinstance(data.get(last), dict):
        try:
            data[last] = _nested(data[last])
        except ConfigError as error:
            raise ConfigError(f"{path}: {section}: {error}") from None


def _nested(keys: dict[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in keys.items():
        _set(nested, [*str(key).split(".")], _nested(value) if isinstance(value, dict) else value, merge=True)
    return nested


def _merge(base: dict[str, Any], over: dict[str, Any], *, whole: Sequence[str] = ()) -> dict[str, Any]:
    """`base` updated with `over`, section by section. The sections in `whole` are replaced completely."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict) and key not in whole
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _set(data: dict[str, Any], keys: Sequence[str], value: Any, *, merge: bool = False) -> None:
    for key in keys[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise ConfigError(f"override {'.'.join(keys)}: {key} is not a section")
    both = merge and isinstance(value, dict) and isinstance(data.get(keys[-1]), dict)
    data[keys[-1]] = _merge(data[keys[-1]], value) if both else value


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Like `core.errors.explain`, with the nearest key for an unknown one."""
    first = next((e for e in error.errors() if e["type"] == "extra_forbidden"), None)
    if first is None:
        missing = [".".join(map(str, one["loc"])) for one in error.errors() if one["type"] == "missing"]
        if len(missing) > 1:
            return f"the fields {', '.join(missing[:-1])} and {missing[-1]} are missing"
        one = error.errors()[0]
        is_word = one["type"] == "string_type" and isinstance(one["input"], bool)
        return explain(error) + ("; put quotes round names such as no, yes and on" if is_word else "")
    *sections, unknown = [str(part) for part in first["loc"]]
    section = model
    for name in sections:
        if name in section.model_fields:  # not a position in a list
            section = _section(section.model_fields[name].annotation)
    path = "".join(f"{name}." for name in sections)
    alike = get_close_matches(unknown, section.model_fields, n=1, cutoff=0.85)  # step, steps
    here = [path + key for key in alike or section.model_fields if alike or unknown in key.split("_")]
    elsewhere = here or sorted(key for key in _keys(model, ()) if key.rpartition(".")[2] == unknown)
    if elsewhere:
        return f"unknown key {path}{unknown}; did you mean {' or '.join(map(repr, elsewhere))}?"
    return f"unknown key {path}{unknown}{suggest(unknown, section.model_fields, path)}"


def _keys(model: type[BaseModel], above: tuple[type[BaseModel], ...]) -> Iterator[str]:
    """The paths of all keys of a model and of its sections. A model inside itself is left out."""
    for name, field in model.model_fields.items():
        yield name
        with suppress(TypeError):  # a plain value
            if (section := _section(field.annotation)) not in (*above, model):
                yield from (f"{name}.{key}" for key in _keys(section, (*above, model)))


def _section(annotation: Any) -> type[BaseModel]:
    """The model of a section, which may be optional, or of the entries of a list."""
    kinds = [annotation]
    for kind in kinds:
        if get_origin(kind) is None and isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
        kinds += get_args(kind)
    raise TypeError(f"{annotation} names no model")
