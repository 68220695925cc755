"""Pins of an evaluation: what its scores depend on besides the items, so that no table mixes scores of two kinds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import Pins
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.evaluation.folder import LRBENCH

PINNED = "pinned"


class MixedPins(JudgeError):
    """Evaluations whose scores cannot be compared."""


def pinned(pins: Pins, judges: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a summary: the benchmark's pins, and for each row its judge, its prompt, and a hash of the other
    settings (temperature, samples, attempts, …) without the seed. Empty for a benchmark without pins."""
    if not pins:
        return {}
    rows = {
        row: {
            "judge": judge,
            "prompt": _prompt(settings[row], pins),
            "settings": content_hash(_unseeded(settings[row])),
        }
        for row, judge in judges.items()
    }
    return {PINNED: {**pins, "judges": rows}}


def _unseeded(settings: Any) -> Any:
    """Other seeds give other samples of the same judge."""
    if isinstance(settings, Mapping):
        return {name: _unseeded(value) for name, value in settings.items() if name != "seed"}
    return [_unseeded(value) for value in settings] if isinstance(settings, list | tuple) else settings


def _prompt(settings: Mapping[str, Any], pins: Pins) -> str:
    """The prompt hash of a row, or those of its members; the benchmark's where a judge has no prompt of its own."""
    members = settings.get("members", [settings])
    return "|".join(dict.fromkeys(str(one.get("prompt_hash", pins.get("prompt", ""))) for one in members))


def check_pins(summaries: Sequence[tuple[Path, Mapping[str, Any]]]) -> None:
    """Checks that evaluations of the same benchmark have equal pins and equal judges. Of a pin with several parts, such
    as the hashes of the responses by system and group, the parts that two evaluations share must be equal.

    Raises:
        MixedPins: They differ; the message names the first difference.
    """
    first: dict[str, tuple[Path, dict[str, Any]]] = {}
    parts: dict[tuple[str, str, str], tuple[Path, str]] = {}
    for folder, summary in summaries:
        if PINNED not in summary:
            continue
        benchmark = str(summary.get("benchmark", LRBENCH))
        pins = dict(summary[PINNED])
        pins["judges"] = sorted({_described(pin) for pin in pins["judges"].values()})
        whole = {name: pin for name, pin in pins.items() if not isinstance(pin, Mapping)}
        other, known = first.setdefault(benchmark, (folder, whole))
        for name in {**known, **whole}:
            _check(name, (other, known.get(name)), (folder, whole.get(name)))
        for name, pin in pins.items():
            for part, value in pin.items() if isinstance(pin, Mapping) else ():
                before = parts.setdefault((benchmark, name, part), (folder, value))
                _check(f"{name} of {part}", before, (folder, value))


def _check(name: str, one: tuple[Path, Any], other: tuple[Path, Any]) -> None:
    if one[1] != other[1]:
        raise MixedPins(
            f"{one[0]} and {other[0]} have different {name} ({_shown(one[1])}; {_shown(other[1])}), so their scores "
            "cannot be compared: judge the same responses with the same judge, settings, prompt and weights, give "
            "other judges other names, or leave one of the two out"
        )


def _described(row: Mapping[str, str]) -> str:
    return ", ".join(value if name == "judge" else f"{name} {value}" for name, value in row.items())


def _shown(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
