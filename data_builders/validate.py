"""Validates a data set: every line is a valid record, and the checks of its data set type hold."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from data_builders.generators import dataset_of
from judge_r1.core.errors import JudgeError
from judge_r1.training.recipe import Recipe


@dataclass(frozen=True)
class Report:
    """The result of a validation. `checked` says what was checked of each record. `problems` maps a reason to the
    number of records that have it and the id of one."""

    noun: str
    records: int
    valid: int
    passed: bool
    checked: tuple[str, ...]
    notes: tuple[str, ...]
    problems: dict[str, tuple[int, str]]

    @property
    def good(self) -> bool:
        return self.valid == self.records and self.passed


def validate(folder: Path, recipe: Recipe | None = None) -> Report:
    """Check a folder.

    Raises:
        BadRecord: A line is no record; with file, line and field.
        JudgeError: There are no records, or there is a recipe, and the records are of a type that has no prompts.
    """
    dataset = dataset_of(folder)
    if recipe is not None and not dataset.fits_recipes:
        raise JudgeError(f"--recipe is for pairs of reasonings, and {folder} holds {dataset.main.plural}: leave it out")
    checker = dataset.checker(folder, recipe)
    found: dict[str, list[str]] = defaultdict(list)
    records = 0
    for record in checker.records():
        records += 1
        for reason in checker.problems(record):
            found[reason].append(dataset.main.id_of(record))
    if not records:
        raise JudgeError(f"{folder / dataset.main.file} has no {dataset.main.noun}s")
    return Report(
        noun=dataset.main.noun,
        records=records,
        valid=records - len({record_id for ids in found.values() for record_id in ids}),
        passed=checker.passed(),
        checked=("every line is a record, and no id stands twice", *checker.checked()),
        notes=tuple(checker.notes()),
        problems={reason: (len(ids), ids[0]) for reason, ids in found.items()},
    )
