"""Reads the weights of checklists: the release's, those of `judge-r1 fit-weights`, or a plain JSON object."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core.errors import read_error
from judge_r1.core.text_check import counted
from judge_r1.files.strict_json import parse_json

AVERAGE = "average"
"""Equal weights: the average checklist (AVG-C)."""
RELEASED = "weighted_scores.txt"
"""The release's file: Python, one assignment of a dict."""


@dataclass(frozen=True)
class Weights:
    """The weights of each category. `name` tells which they are, with the hash of their file, so that results made with
    different weights can be told apart. Without `values`, all questions of a checklist weigh the same."""

    name: str
    values: Mapping[str, tuple[float, ...]] | None = None

    def of(self, category: str, questions: int) -> tuple[float, ...]:
        """The weights of a category. Raises: BadBenchmark if they are missing or of another number."""
        if self.values is None:
            return (1.0,) * questions
        found = self.values.get(category)
        if found is None:
            raise BadBenchmark(f"the weights {self.name} have no category {category!r}: fit it, or use weights=average")
        if len(found) != questions:
            raise BadBenchmark(
                f"the weights {self.name} have {counted(len(found), 'value')} for category {category!r}, whose "
                f"checklist has {counted(questions, 'question')}"
            )
        return found


def read_weights(path: Path) -> Weights:
    """The weights in a file. Raises: BadBenchmark, BadJson."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise read_error(path, error) from None
    value = _python(data, path) if path.suffix == ".txt" else parse_json(data, path)
    if isinstance(value, dict) and isinstance(value.get("categories"), dict):
        value = {name: entry.get("weights") for name, entry in value["categories"].items() if isinstance(entry, dict)}
    if not isinstance(value, dict) or not value:
        raise BadBenchmark(f"{path} must hold an object with a list of weights for each category")
    values = {str(name): _numbers(given, f"{path}, category {name!r}") for name, given in value.items()}
    return Weights(f"{path.name} {sha256(data).hexdigest()[:16]}", values)


def default_weights(root: Path) -> Weights:
    """The release's weights if they are in the checkout, else equal weights."""
    file = root / RELEASED
    return read_weights(file) if file.is_file() else Weights(AVERAGE)


def _python(data: bytes, path: Path) -> Any:
    """The dict that a Python file assigns."""
    try:
        (statement,) = ast.parse(data.decode("utf-8")).body
        return ast.literal_eval(statement.value)  # type: ignore[attr-defined]
    except (ValueError, SyntaxError, AttributeError, RecursionError, MemoryError):
        raise BadBenchmark(f"{path} is not one assignment of a dict of weights") from None


def _numbers(given: Any, where: str) -> tuple[float, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise BadBenchmark(f"{where}: must be a list of weights")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) and value > 0 for value in given):
        raise BadBenchmark(f"{where}: weights are numbers above 0")
    return tuple(map(float, given))
