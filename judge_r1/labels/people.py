"""Counts people's answers to one question about many texts, and how far people agree.

Three studies of HelloBench have this form: whether a judge's scores are reasonable (Tables 21 and 22), which of two
responses is better (Table 24), and whether an instruction needs more than 1,000 words (Tables 6 and 7).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import check_spelling, short_name
from judge_r1.core.verdicts import BAD, GOOD, SIDES
from judge_r1.evaluation.inspect_logs import SUFFIX, Notes, mean_of_epochs, read_scores
from judge_r1.evaluation.report.tables import Estimate, Grid, share
from judge_r1.labels.kinds import BadLabels, plain
from judge_r1.labels.rows import RowReader, find_columns, read_rows
from judge_r1.statistics.agreement import agreement_of_people
from judge_r1.statistics.intervals import clustered_mean_ci

WORDS = {
    word: value
    for words, value in ((GOOD, 1.0), (BAD, 0.0), (SIDES["A"], 1.0), (SIDES["tie"], 0.5), (SIDES["B"], 0.0))
    for word in words
    if not word.isdecimal()
}
"""A word -> its value. Numbers stand for themselves."""


@dataclass(frozen=True)
class Answer:
    """One person's answer about one text, from 0 to 1. A choice between two texts is 1, 0.5 for a tie, or 0. Texts of
    one `cluster` are not independent."""

    annotator: str
    id: str
    group: str
    value: float
    cluster: str


def read_answers(files: Sequence[Path], notes: Notes | None = None, question: str | None = None) -> list[Answer]:
    """The answers in files of labels (`judge_r1.labels.rows`), whose column may be called `answer`, too. A column
    `group` separates what is counted apart. In a log of Inspect, the annotators are its scorers, and the group is its
    model. Scores that stand for no verdict are left out, which `notes` say.

    Raises:
        BadLog: A log cannot be read.
        BadLabels: A row cannot be used, or a person gives a text of a group two answers.
        JudgeError: There is no answer.
    """
    notes = Notes() if notes is None else notes
    found = [
        one
        for file in files
        for one in (_logged(file, notes) if file.suffix == SUFFIX else _rows(file, question, notes))
    ]
    if not found:
        raise JudgeError(f"{files[0]} holds no answers")
    seen = set[tuple[str, str, str]]()
    for one in found:
        if (key := (one.group, one.id, one.annotator)) in seen:
            raise BadLabels(
                f"two of the files {', '.join(map(str, files))} have an answer of {short_name(one.annotator)!r} about "
                f"{short_name(one.id)!r} in the group {short_name(one.group)!r}: keep one of them"
            )
        seen.add(key)
    for kind, names in zip(("groups", "texts", "annotators"), zip(*seen, strict=True), strict=True):
        check_spelling(sorted(set(names)), kind)
    return found


def _logged(file: Path, notes: Notes) -> Iterator[Answer]:
    scores = list(mean_of_epochs(read_scores(file, notes=notes)))
    notes.missing(file, sum(not score.valid for score in scores), "the verdict is not valid")
    for score in filter(lambda score: score.valid, scores):
        yield Answer(score.scorer, score.item, score.model, score.value, score.cluster)


def _rows(file: Path, question: str | None, notes: Notes) -> Iterator[Answer]:
    rows = list(read_rows(file, question))
    there = {name for _, row in rows for name in row}
    names = find_columns(file, there, {"label": "answer"} if "answer" in there and "label" not in there else {})
    names = {ours: name for ours, name in names.items() if name != "group"}
    readers: dict[str, RowReader] = {}
    for where, row in rows:
        group = str("" if row.get("group") is None else row["group"]).strip() or "all"
        readers.setdefault(group, RowReader(names)).add(where, row)
    for group, reader in readers.items():
        for line in reader.lines:
            notes.add(file, line)
        for text, item in reader.items.items():
            for person, (word, where) in item.words.items():
                yield Answer(person, text, group, _value(word, where), item.cluster or text)


def _value(word: str, where: str) -> float:
    try:
        value = WORDS[known] if (known := plain(word)) in WORDS else float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise BadLabels(
            f"{where}: the answer {word[:40]!r} is no number from 0 to 1, and no word such as pass, no or A"
        )
    return value


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
