"""Reads the scores of an Inspect log (.eval), of any task and scorer, through Inspect's own API.

A score counts as Inspect counts it: C and yes are 1, P is 1/2, I, N and no are 0. A score that is a mapping is one
score for each key, named SCORER/KEY. Samples of one cluster are not independent: `cluster_id` in the metadata of a
sample names its cluster, and without it each sample is one. `group` there names its part of the benchmark.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import are, counted
from judge_r1.traces.inspect_log import ENDED

SUFFIX = ".eval"
CLUSTER, GROUP, CONFIDENCE, VALID, FITS = "cluster_id", "group", "confidence", "valid", "fits"
"""Names in the metadata: of a sample the first two, of a score the others."""
_WORDS = {"c": 1.0, "yes": 1.0, "true": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "no": 0.0, "false": 0.0}
_SKIPPED = {"events", "messages", "store", "attachments"}


class BadLog(JudgeError):
    """A log that cannot be read, or a score that has no meaning as a number from 0 to 1."""


@dataclass(frozen=True)
class LoggedScore:
    """The score of one sample in one epoch. `item` is its id with the task, since ids such as 1 recur in other tasks.
    `valid` is False if the score stands for an answer that is no verdict; `tokens` are those that the model wrote."""

    model: str
    scorer: str
    item: str
    cluster: str
    group: str
    value: float
    confidence: float | None
    valid: bool
    tokens: float | None


class Notes(list[str]):
    """What is left out of logs. Each note is printed, and stands in the JSON of the command as `notes`."""

    def add(self, path: Path, text: str) -> None:
        self.append(f"{path}: {text}")
        Console(stderr=True).print(f"note: {self[-1]}", soft_wrap=True, markup=False, highlight=False)

    def missing(self, path: Path, count: int, why: str) -> None:
        if count:
            self.add(path, f"{counted(count, 'score')} {are(count)} missing, because {why}: left out")


def read_scores(path: Path, scorer: str | None = None, notes: Notes | None = None) -> list[LoggedScore]:
    """All scores of a log, or those of one scorer. Invalidated samples and those without a score are left out, which
    notes say, as they do of a run that did not end.

    Raises:
        BadLog: The file is no log, has no score, or has one that is not between 0 and 1.
    """
    notes = Notes() if notes is None else notes
    spec, samples = read_samples(path, notes)
    found, missing = [], 0
    for sample in samples:
        scores = list(_scores(path, spec, sample))
        missing += not scores or len([score for score in scores if score is None])
        found += [score for score in scores if score is not None]
    notes.missing(path, missing, "the sample failed or is unscored")
    names = sorted({score.scorer for score in found})
    if scorer is not None and scorer not in names:
        raise BadLog(f"{path} has no scores of {scorer!r}; available: {', '.join(names) or 'none'}")
    if not found:
        raise BadLog(f"{path} has no scored sample")
    return [score for score in found if scorer in (None, score.scorer)]


def read_samples(path: Path, notes: Notes | None = None) -> tuple[Any, list[Any]]:
    """Inspect's record of the run, and its samples that are not invalidated, without messages and events. Notes say
    what is left out, and that a run did not end.

    Raises:
        BadLog: The file is no log.
    """
    inspect_log = _inspect_log(path)
    notes = Notes() if notes is None else notes
    try:
        # The whole log: Inspect's reader of single samples refuses one that lists no sample ids of its dataset.
        log = inspect_log.read_eval_log(path, exclude_fields=_SKIPPED)
    except JudgeError:
        raise
    except Exception as error:  # damaged files cause errors of many types
        raise BadLog(f"{path} is no log of Inspect that can be read: {type(error).__name__}: {error}") from None
    samples = log.samples or []
    valid = [sample for sample in samples if sample.invalidation is None]
    if log.status != "success":
        notes.add(path, f"the run {ENDED[log.status]}: the log has only the {counted(len(samples), 'sample')} so far")
    if invalid := len(samples) - len(valid):
        notes.add(path, f"{counted(invalid, 'sample')} {are(invalid)} invalidated: left out")
    return log.eval, valid


def one_scorer(path: Path, scorer: str | None, notes: Notes | None = None) -> list[LoggedScore]:
    """The scores of one scorer, which must be named if the log has several. Raises: BadLog."""
    found = read_scores(path, scorer, notes)
    if len(names := sorted({score.scorer for score in found})) > 1:
        raise BadLog(f"{path} holds {len(names)} scorers: choose one with --scorer ({', '.join(names)})")
    return found


def mean_of_epochs(scores: Sequence[LoggedScore]) -> Iterator[LoggedScore]:
    """One score for each item and scorer: the mean over its valid epochs, or an invalid score if there is
    none. Its tokens are the mean over all epochs."""

    def key(score: LoggedScore) -> tuple[str, str]:
        return score.scorer, score.item

    for _, group in groupby(sorted(scores, key=key), key=key):
        own = list(group)
        tokens = [score.tokens for score in own if score.tokens is not None]
        counted = [score for score in own if score.valid] or own
        value = fmean(score.value for score in counted)
        yield replace(counted[0], value=value, tokens=fmean(tokens) if tokens else None)


def _scores(path: Path, spec: Any, sample: Any) -> Iterator[LoggedScore | None]:
    item, about = f"{spec.task}/{sample.id}", sample.metadata or {}
    usage = (sample.model_usage or {}).get(spec.model)
    for name, score, value in values_of(sample):
        where, more = f"{path}, sample {sample.id}, scorer {name}", score.metadata or {}
        number = _number(value, where)
        yield (
            None
            if number is None
            else LoggedScore(
                model=spec.model,
                scorer=name,
                item=item,
                cluster=str(about.get(CLUSTER) or item),
                group=str(about.get(GROUP) or "all"),
                value=number,
                confidence=_bounded(more[CONFIDENCE], f"{where}: confidence")
                if more.get(CONFIDENCE) is not None
                else None,
                valid=more.get(VALID) is not False,
                tokens=float(usage.output_tokens) if usage else None,
            )
        )


def values_of(sample: Any) -> Iterator[tuple[str, Any, Any]]:
    """The scorer, the score and its value of each score of a sample, and of a mapping for each key."""
    for name, score in (sample.scores or {}).items():
        values = score.value if isinstance(score.value, Mapping) else {"": score.value}
        for key, value in values.items():
            yield f"{name}/{key}" if key else name, score, value


def _number(value: Any, where: str) -> float | None:
    """A value as a number; None if it is unscored (NaN)."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str) and (known := _WORDS.get(value.strip().lower())) is not None:
        return known
    return _bounded(value, where)


def _bounded(value: Any, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number <= 1:
        raise BadLog(f"{where}: {str(value)[:40]!r} is no number from 0 to 1, nor one of C, P, I, N, yes and no")
    return number


def _inspect_log(path: Path) -> Any:
    try:
        import inspect_ai.log
    except ModuleNotFoundError:
        raise JudgeError(
            f"{path} is a log of Inspect, whose reader is missing: pip install 'judge-r1[inspect]'"
        ) from None
    return inspect_ai.log
