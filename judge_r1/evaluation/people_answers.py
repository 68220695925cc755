"""Counts people's answers to one question about many texts, and how far people agree.

Three studies of HelloBench have this form: whether a judge's scores are reasonable (Tables 21 and 22), which of two
responses is better (Table 24), and whether an instruction needs more than 1,000 words (Tables 6 and 7).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import check_spelling
from judge_r1.core.verdicts import BAD, GOOD, SIDES
from judge_r1.evaluation.inspect_logs import SUFFIX, Notes, mean_of_epochs, read_scores
from judge_r1.evaluation.report.tables import Estimate, Grid, share
from judge_r1.files.tabular import BadTable, Row, file_rows
from judge_r1.statistics.agreement import cohens_kappa
from judge_r1.statistics.correlation import pearson
from judge_r1.statistics.intervals import clustered_mean_ci

SHARED = 3
"""Texts that two people must share for a correlation."""
WORDS = {
    word: value
    for words, value in ((GOOD, 1.0), (BAD, 0.0), (SIDES["A"], 1.0), (SIDES["tie"], 0.5), (SIDES["B"], 0.0))
    for word in words
    if not word.isdecimal()
}
"""A word -> its value. Numbers stand for themselves."""
Scores = Mapping[str, Mapping[Any, float]]
"""Person -> what was scored -> score."""


@dataclass(frozen=True)
class Answer:
    """One person's answer about one text, from 0 to 1. A choice between two texts is 1, 0.5 for a tie, or 0. Texts of
    one `cluster` are not independent."""

    annotator: str
    id: str
    group: str
    value: float
    cluster: str


def read_answers(files: Sequence[Path], notes: Notes | None = None) -> list[Answer]:
    """The answers in JSON Lines, JSON or CSV files: `annotator`, `id`, `answer` or `label`, and optionally `group`. In
    a log of Inspect, the annotators are its scorers, and the group is its model. Scores that stand for no verdict are
    left out, which `notes` say.

    Raises:
        BadLog: A log cannot be read.
        BadTable: A row is incomplete, or a person answers about a text of a group a second time.
        JudgeError: There is no answer.
    """
    found: dict[tuple[str, str, str], Answer] = {}
    for where, one in (answer for file in files for answer in _answers(file, notes)):
        if (key := (one.group, one.id, one.annotator)) in found:
            raise BadTable(f"{where} repeats {one.id!r} of annotator {one.annotator!r}: keep one answer")
        found[key] = one
    if not found:
        raise JudgeError(f"{files[0]} holds no answers")
    for at, kind in enumerate(("groups", "ids", "annotators")):
        check_spelling((key[at] for key in found), kind)
    return list(found.values())


def _answers(file: Path, notes: Notes | None) -> Iterator[tuple[str, Answer]]:
    """The answers of a file, each with its place for messages."""
    if file.suffix == SUFFIX:
        notes = Notes() if notes is None else notes
        scores = list(mean_of_epochs(read_scores(file, notes=notes)))
        notes.missing(file, sum(not score.valid for score in scores), "the verdict is not valid")
        for score in filter(lambda score: score.valid, scores):
            yield f"{file}:", Answer(score.scorer, score.item, score.model, score.value, score.cluster)
        return
    for row in file_rows(file):
        group = row.name("group") if row.values.get("group") not in (None, "") else "all"
        text = row.name("id")
        yield f"{row.where}: column 'id'", Answer(row.name("annotator"), text, group, _value(row), text)


def _value(row: Row) -> float:
    column = "label" if "answer" not in row.values and "label" in row.values else "answer"
    given = row.value(column)
    word = str(given).strip().lower()
    return WORDS[word] if word in WORDS else row.bounded(column, given, 1)


def count_answers(answers: Sequence[Answer]) -> dict[str, Any]:
    """For each group the mean answer with its interval over texts, that of each person, and the agreement of each two
    people. Where all people answer about all texts, it is the mean over people, as in the paper."""
    groups: dict[str, list[Answer]] = {}
    for one in answers:
        groups.setdefault(one.group, []).append(one)
    return {group: _counted(own) for group, own in sorted(groups.items())}


def _counted(answers: Sequence[Answer]) -> dict[str, Any]:
    people: dict[str, dict[Any, float]] = {}
    for one in answers:
        people.setdefault(one.annotator, {})[one.id] = one.value
    means = {name: fmean(own.values()) for name, own in sorted(people.items())}
    return {
        "texts": len({one.id for one in answers}),
        "answers": len(answers),
        "mean": fmean(one.value for one in answers),
        "ci95": list(clustered_mean_ci([one.value for one in answers], [one.cluster for one in answers])),
        "people": means,
        "pairs": agreement_of_people(people),
    }


def agreement_of_people(scores: Scores) -> dict[str, dict[str, float | int | None]]:
    """Of each two people with at least three shared texts: Pearson's r, the share of equal scores, Cohen's kappa."""
    found: dict[str, dict[str, float | int | None]] = {}
    for first, second in combinations(sorted(scores), 2):
        shared = sorted(scores[first].keys() & scores[second].keys())
        if len(shared) >= SHARED:
            one, other = ([scores[name][key] for key in shared] for name in (first, second))
            equal = fmean(a == b for a, b in zip(one, other, strict=True))
            found[f"{first} - {second}"] = {
                "pearson": pearson(one, other), "equal": equal, "kappa": cohens_kappa(one, other), "n": len(shared)
            }  # fmt: skip
    return found


def answer_grids(counted: Mapping[str, Any]) -> list[Grid]:
    """A table of the groups, and one of the pairs of people if there are any."""
    groups = tuple(
        (
            group,
            str(own["texts"]),
            Estimate(own["mean"], *own["ci95"]),
            ", ".join(f"{name} {mean:.2f}" for name, mean in own["people"].items()),
        )
        for group, own in counted.items()
    )
    note = "Mean of the answers, 0 to 1 [95 % interval over texts], and of those of each person."
    grids = [Grid("Answers", note, ("group", "texts", "mean", "each person"), groups)]
    pairs = tuple(
        (group, people, str(found["n"]), *(share(found[name]) for name in ("equal", "pearson", "kappa")))
        for group, own in counted.items()
        for people, found in own["pairs"].items()
    )
    if pairs:
        grids.append(
            Grid("Agreement", "On the texts that both answered.",
                 ("group", "people", "texts", "equal", "Pearson", "kappa"), pairs)
        )  # fmt: skip
    return grids
