"""YAML files as validated sections: a file over the ones it `extends`, then `a.b=value` overrides in order."""

from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import explain
from judge_r1.core.registry import suggest

S = TypeVar("S", bound="ConfigModel")


class ConfigModel(BaseModel):
    """Keys and values of a YAML file; unknown keys fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ConfigError(JudgeError):
    """A recipe that cannot be read or does not fit the schema."""


def load_config(model: type[S], path: Path, overrides: Sequence[str] = (), *, files: Sequence[str] = ()) -> S:
    """The file as `model`; the error for an unknown key names the nearest one. Under a key of `files` a file may name
    another one (paths are relative to it), which is read in its place, or hold keys that extend one."""
    return validated(model, read(path, files=files), overrides, str(path))


def validated(model: type[S], data: dict[str, Any], overrides: Sequence[str], where: str) -> S:
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise ConfigError(f"override {override!r} must read key=value, for example grpo.steps=10")
        try:
            _set(data, key.split("."), yaml.safe_load(value))
        except yaml.YAMLError as error:
            raise ConfigError(f"override {override!r} is not YAML: {' '.join(str(error).split())}") from None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_explain(error, model)}") from None


def read(path: Path, below: tuple[Path, ...] = (), *, files: Sequence[str] = ()) -> dict[str, Any]:
    """The keys and values of a file over those of the files that it extends; `below` are the files that led here."""
    if path.resolve() in below:
        raise ConfigError(f"{path} {'starts from or ' if files else ''}extends itself")
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold keys and values")
    return _extended(data, path, (*below, path.resolve()), files)


def _extended(data: dict[str, Any], path: Path, here: tuple[Path, ...], files: Sequence[str]) -> dict[str, Any]:
    """Keys and values that stand in `path` over those of the file that they extend."""
    for key in files:
        if isinstance(data.get(key), str):
            data[key] = read(path.parent / data[key], here, files=files)
        elif isinstance(data.get(key), dict):  # written out in place, perhaps over a file
            data[key] = _extended(data[key], path, here, files)
    if "extends" not in data:
        return data
    base = data.pop("extends")
    if not isinstance(base, str):
        raise ConfigError(f"{path}: extends must be the path of one recipe file, not {base!r}")
    return _merge(read(path.parent / base, here, files=files), data, whole=files)


def _merge(base: dict[str, Any], over: dict[str, Any], *, whole: Sequence[str] = ()) -> dict[str, Any]:
    """`over` over `base`, section by section; the sections in `whole` are replaced as they are."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict) and key not in whole
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _set(data: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise ConfigError(f"override {'.'.join(keys)}: {key} is not a section")
    data[keys[-1]] = value


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """As `jsonl.explain`, with the nearest known key for an unknown one."""
    first = next((e for e in error.errors() if e["type"] == "extra_forbidden"), None)
    if first is None:
        return explain(error)
    *sections, unknown = [str(part) for part in first["loc"]]
    for name in sections:
        model = _section(model.model_fields[name].annotation)
    return f"unknown key {'.'.join([*sections, unknown])}{suggest(unknown, model.model_fields)}"


def _section(annotation: Any) -> type[BaseModel]:
    """The section of a field, which may be optional."""
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    return next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
