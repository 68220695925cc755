"""Pins of an evaluation: what its scores depend on besides the items, so that no table mixes scores of two kinds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash

PINNED = "pinned"


class MixedPins(JudgeError):
    """Evaluations whose scores cannot be compared."""


def pinned(pins: Mapping[str, str], judges: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, Any]:
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


def _prompt(settings: Mapping[str, Any], pins: Mapping[str, str]) -> str:
    """The prompt hash of a row, or those of its members; the benchmark's where a judge has no prompt of its own."""
    members = settings.get("members", [settings])
    return "|".join(dict.fromkeys(str(one.get("prompt_hash", pins.get("prompt", ""))) for one in members))


def check_pins(summaries: Sequence[tuple[Path, Mapping[str, Any]]]) -> None:
    """Checks that evaluations of the same benchmark have equal pins and equal judges.

    Raises:
        MixedPins: They differ; the message names the first difference.
    """
    first: dict[str, tuple[Path, dict[str, Any]]] = {}
    for folder, summary in summaries:
        if PINNED not in summary:
            continue
        pins = dict(summary[PINNED])
        pins["judges"] = sorted({_described(row) for row in pins["judges"].values()})
        other, known = first.setdefault(summary["benchmark"], (folder, pins))
        if changed := [name for name in {**known, **pins} if known.get(name) != pins.get(name)]:
            name = changed[0]
            raise MixedPins(
                f"{other} and {folder} have different {name} ({_shown(known.get(name))}; {_shown(pins.get(name))}), so "
                "their scores cannot be compared: judge both with the same judge, settings, prompt and weights, or "
                "report them one by one"
            )


def _described(row: Mapping[str, str]) -> str:
    return ", ".join(value if name == "judge" else f"{name} {value}" for name, value in row.items())


def _shown(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
