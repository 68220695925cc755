"""Reads the criteria files of rubrics: JSON, YAML or TOML, in the layouts that public rubric judges use.

A file holds a list of criteria, or an object with the list under `criteria` or `rubrics`, or an object that maps the
name of a category to its list (HelloBench's checklists). A criterion is a text, or an object with

* the question: `question`, `text` (verifiers), `criterion` (HealthBench) or `description` (rubrics as rewards);
* the weight, optional: `weight` or `points`; a negative one is for a fault;
* the answers from worst to best, optional: `choices` (verifiers, whose default is no, yes).

Other keys (`name`, `title`, `tags`, …) do not change a score and are ignored, unless they look like a typing error.
"""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.core.checklist import Checklist, Criterion
from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.files.strict_json import read_json
from judge_r1.files.strict_yaml import read_yaml
from judge_r1.files.text_file import read_bytes

QUESTION_KEYS = ("question", "text", "criterion", "description")
WEIGHT_KEYS = ("weight", "points")
LIST_KEYS = ("criteria", "rubrics")
_KEYS = {*QUESTION_KEYS, *WEIGHT_KEYS, "choices"}
EVERY = ""
"""The category of a rubric that holds for every text."""


class BadRubric(JudgeError):
    """A rubric file that cannot be read. The message names the file and the criterion."""


def read_rubric(path: Path) -> dict[str, Checklist]:
    """The checklist of each category; a rubric without categories has the only key `EVERY`. Raises: BadRubric, and
    JudgeError for a file that is no JSON, YAML or TOML."""
    data = _value(path)
    if isinstance(data, dict):
        named = _one(data, LIST_KEYS, str(path))
        if named is None and data and all(isinstance(value, list) for value in data.values()):
            return {str(name): _checklist(value, f"{path}, category {name!r}") for name, value in data.items()}
        data = named
    if not isinstance(data, list):
        raise BadRubric(
            f"{path} holds no list of criteria: write a list, an object with the list as `criteria`, or an object with "
            "one list for each category"
        )
    return {EVERY: _checklist(data, str(path))}


def checklist_for(rubric: Mapping[str, Checklist], category: str, where: str) -> Checklist:
    """The checklist of a category, or the one for every text. Raises: BadRubric."""
    found = rubric.get(category, rubric.get(EVERY))
    if found is None:
        raise BadRubric(f"{where}: the rubric has no category {category!r}; it has {', '.join(sorted(rubric))}")
    return found


def _value(path: Path) -> Any:
    if path.suffix == ".toml":
        try:
            import tomllib
        except ImportError:
            raise BadRubric(f"{path}: reading TOML needs Python 3.11; write the criteria as JSON or YAML") from None
        try:
            return tomllib.loads(read_bytes(path).decode())
        except ValueError as error:
            raise BadRubric(f"{path} is not valid TOML: {error}") from None
    if path.suffix in (".yaml", ".yml"):
        return read_yaml(path)
    return read_json(path)


def _checklist(entries: Sequence[Any], where: str) -> Checklist:
    if not entries:
        raise BadRubric(f"{where} lists no criterion")
    verifiers = all(isinstance(entry, dict) and {"name", "text"} <= entry.keys() for entry in entries)
    criteria = tuple(_criterion(entry, f"{where}, criterion {n}", verifiers) for n, entry in enumerate(entries, 1))
    with invalid_as(BadRubric, where):
        return Checklist(criteria=criteria)


def _criterion(entry: Any, where: str, verifiers: bool) -> Criterion:
    if isinstance(entry, str):
        entry = {"question": entry}
    if not isinstance(entry, dict):
        raise BadRubric(f"{where} must be a text or an object, not {type(entry).__name__}")
    for key in entry.keys() - _KEYS:
        if near := difflib.get_close_matches(str(key), _KEYS, n=1, cutoff=0.75):
            raise BadRubric(f"{where} has {key!r}; did you mean {near[0]!r}?")
    question = _one(entry, QUESTION_KEYS, where)
    if question is None:
        raise BadRubric(f"{where} has no question: give one of {', '.join(QUESTION_KEYS)}")
    weight = _one(entry, WEIGHT_KEYS, where)
    choices = entry.get("choices", ["no", "yes"] if verifiers else [])
    if isinstance(weight, bool) or not isinstance(choices, list):
        raise BadRubric(f"{where}: the weight is a number, and choices are a list")
    if any(isinstance(choice, bool) for choice in choices):
        raise BadRubric(f'{where}: a choice is true or false, as YAML reads yes and no: write "yes" and "no" in quotes')
    with invalid_as(BadRubric, where):
        return Criterion(question=question, weight=1.0 if weight is None else weight, choices=tuple(choices))


def _one(entry: Mapping[str, Any], keys: Sequence[str], where: str) -> Any:
    given = [key for key in keys if key in entry]
    if len(given) > 1 and given != ["text", "description"] and given != ["question", "description"]:
        raise BadRubric(f"{where} has {' and '.join(given)}: keep one of them")
    return entry[given[0]] if given else None
