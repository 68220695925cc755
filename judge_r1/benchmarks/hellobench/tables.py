"""The tables of HelloBench: systems by tasks (Tables 2 to 4, with the measures of appendices J and K), and the
correlation of metrics with human scores (Table 5)."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import fmean

from judge_r1.benchmarks.base import Tables
from judge_r1.benchmarks.checklist.agreement import human_correlation, item_scores, valid_results
from judge_r1.benchmarks.hellobench.files import CONSTRAINED, STEMS, TASKS
from judge_r1.benchmarks.hellobench.text_measures import (
    distinct_4,
    is_refusal,
    is_repetitive,
    length_error,
    repetition_4,
    words,
)
from judge_r1.core.items import ItemResult

ACCEPTABLE = 75.0
"""The overall score, of 100, that counts as acceptable: S is 0 there."""


def rescaled(score: float) -> float:
    """S = (score - 75)·4 in [-300, 100], for a score of 0 to 100 (section 3.3; the paper prints 0.75)."""
    return (score - ACCEPTABLE) * 4


def task_score(scores: Sequence[float]) -> float | None:
    """S of the mean of scores in [0, 1]; None without scores. Tables round it to 2 decimals."""
    return rescaled(100 * fmean(scores)) if scores else None


def average(cells: Mapping[str, float | None], tasks: Sequence[str]) -> float | None:
    """The unweighted mean over all `tasks`; None if one is missing, since a mean over fewer tasks is another number."""
    values = [cells.get(task) for task in tasks]
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(tasks) else None


SYSTEMS, SHARED = "Systems", "Systems on the instructions that all answered"
AVG_C = "AVG-C"
Metric = Callable[[str], float | None]


class TextTables:
    """Makes the tables of results. `texts` and `systems` are by item id; `metrics` are further measures, such as BLEU,
    which are called with the item id and give None for a text that has no such value; a metric that cannot be computed
    here is None. Win rates are against the system `against`. With `human`, people scored some of the texts."""

    def __init__(
        self,
        texts: Mapping[str, str],
        systems: Mapping[str, str],
        refusals: Sequence[str] = (),
        metrics: Mapping[str, Metric | None] | None = None,
        against: str | None = None,
        *,
        human: bool = False,
    ) -> None:
        self._texts, self._systems, self._refusals = texts, systems, refusals
        self._metrics, self._against, self._human = metrics or {}, against, human
        self._words = cache(lambda item_id: words(self._texts[item_id]))

    def __call__(self, results: Sequence[ItemResult]) -> Tables:
        by_system: dict[str, list[ItemResult]] = {}
        for result in results:
            by_system.setdefault(self._systems[result.item_id], []).append(result)
        valid = {name: {(r.group, r.cluster_id): r for r in valid_results(own)} for name, own in by_system.items()}
        rows = {name: self._row(own) for name, own in by_system.items()}
        if self._against in valid:
            for name, own in valid.items():
                rows[name]["win rate"] = win_rate(own, valid[self._against]) if name != self._against else None
        found: Tables = {SYSTEMS: rows}
        shared = set.intersection(*(set(own) for own in valid.values())) if valid else set()
        if shared and any(set(own) != shared for own in valid.values()):
            found[SHARED] = {name: self._row([own[key] for key in sorted(shared)]) for name, own in valid.items()}
        return found | self.table_5({"judge": results})

    def table_5(self, judges: Mapping[str, Sequence[ItemResult]]) -> Tables:
        """The correlation of all judges and metrics with people's scores, on the same texts; empty without `human`."""
        return human_correlation(judges, self._metrics_of) if self._human else {}

    def _row(self, results: Sequence[ItemResult]) -> dict[str, float | None]:
        """S and WC of each task over its valid results, their averages, and the measures of the texts."""
        from judge_r1.statistics.correlation import spearman

        valid = valid_results(results)
        stems = [stem for stem in STEMS if any(result.group == stem for result in results)]
        own = {stem: [result for result in valid if result.group == stem] for stem in stems}
        s = {stem: task_score([result.score for result in own[stem]]) for stem in stems}
        plain = {stem: task_score(_plain_scores(own[stem])) for stem in stems}
        wc: dict[str, float | None] = {
            stem: round(fmean(len(self._words(r.item_id)) for r in own[stem])) if own[stem] else None for stem in stems
        }
        row: dict[str, float | None] = {f"S {STEMS[stem]}": s[stem] for stem in stems}
        row |= {"S AVG": average(s, list(TASKS)), f"{AVG_C} AVG": average(plain, list(TASKS))}
        row |= {f"WC {STEMS[stem]}": wc[stem] for stem in stems}
        mean_words = average(wc, list(TASKS))
        row |= {"WC AVG": None if mean_words is None else round(mean_words)}
        row |= {"n": len(valid), "invalid": len(results) - len(valid)}
        row["ρ words"] = spearman([r.score for r in valid], [float(len(self._words(r.item_id))) for r in valid])
        return row | self._texts_row([result.item_id for result in results]) | self._length_errors(results)

    def _texts_row(self, ids: Sequence[str]) -> dict[str, float | None]:
        tokens = [self._words(item_id) for item_id in ids]
        row: dict[str, float | None] = {
            "Rep-4": fmean(map(repetition_4, tokens)),
            "Dist-4": fmean(map(distinct_4, tokens)),
            "repetitive": fmean(is_repetitive(self._texts[item_id]) for item_id in ids),
        }
        if self._refusals:
            row["refusals"] = fmean(is_refusal(self._texts[item_id], self._refusals) for item_id in ids)
        return row | {name: fmean(values) if (values := self._values(name, ids)) else None for name in self._metrics}

    def _values(self, name: str, ids: Sequence[str]) -> list[float]:
        """A metric of the texts that have a value."""
        metric = self._metrics[name]
        return [value for item_id in ids if (value := metric(item_id)) is not None] if metric else []

    def _length_errors(self, results: Sequence[ItemResult]) -> dict[str, float | None]:
        """The mean absolute error of the length, for tasks with a required length."""
        errors: dict[str, list[int]] = {}
        for result in results:
            if result.group in CONSTRAINED:
                name, required = CONSTRAINED[result.group]
                errors.setdefault(name, []).append(length_error(len(self._words(result.item_id)), required))
        return {f"length MAE {name}": round(fmean(values), 1) for name, values in errors.items()}

    def _metrics_of(self, judges: Mapping[str, Sequence[ItemResult]]) -> dict[str, list[float]]:
        """AVG-C of each judge that answers checklists, and the measures of the texts, which all judges share."""
        ids = [result.item_id for result in next(iter(judges.values()), ())]
        plain = {name: scores for name, own in judges.items() if (scores := _plain_scores(own))}
        tokens = [self._words(item_id) for item_id in ids]
        return {
            **{AVG_C if len(plain) == 1 else f"{AVG_C} ({name})": scores for name, scores in plain.items()},
            "words": [float(len(own)) for own in tokens],
            "Rep-4": [repetition_4(own) for own in tokens],
            "Dist-4": [distinct_4(own) for own in tokens],
            **{name: self._values(name, ids) for name in self._metrics},
        }


def win_rate(own: Mapping[tuple[str, str], ItemResult], other: Mapping[tuple[str, str], ItemResult]) -> float | None:
    """The share of shared instructions on which `own` has the higher score than `other`, in percent; a tie counts half.
    None without a shared instruction. (Table 24 has people's choices.)"""
    gaps = [own[key].score - other[key].score for key in own.keys() & other.keys()]
    return 100 * fmean((gap > 0) + (gap == 0) / 2 for gap in gaps) if gaps else None


def _plain_scores(results: Sequence[ItemResult]) -> list[float]:
    """The unweighted mean of the item scores of each result that has them."""
    return [fmean(scores) for result in results if (scores := item_scores(result))]
