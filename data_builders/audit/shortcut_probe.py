"""What a reader can tell without the case: probes that see the two reasonings of a pair and nothing else.

Each reader (`audit/readers.py`) is a logistic regression on the difference of what A and B show, x(A) - x(B), that says
which of the two is the better one.

Folds are by case, and intervals treat a case, not a pair, as the unit: pairs of one case share their reference. A set
whose P2 and P4 flaws a reader finds is one where no search is needed. Flaws of the other principles show in the text by
their nature; there `held_out` asks whether what gives away some operators gives away another one, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from data_builders.audit.features import FOLDS, Reader, Texts, Weights
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import ReasoningPair
from judge_r1.statistics.intervals import clustered_mean_ci

if TYPE_CHECKING:
    from rich.console import Console

LEAST_CASES = 2 * FOLDS
"""A group of fewer cases is not probed."""


class ProbeError(JudgeError):
    """Too few cases to probe."""


@dataclass(frozen=True)
class Row:
    """One group of pairs before one reader: accuracy of the held-out predictions, its 95 % interval over resampled
    cases, and the features whose weight is largest (`+` marks what the better reasoning has more of, `-` the flawed
    one). A pair in which the reader sees no difference that it knows counts one half."""

    name: str
    reader: Reader
    pairs: int
    cases: int
    accuracy: float
    ci95: tuple[float, float]
    telling: tuple[str, ...]


@dataclass(frozen=True)
class HeldOut:
    """One group before one reader that never met the operator it is tested on: over all operators, and by operator.
    `too_few` names operators with fewer than `LEAST_CASES` cases, which are trained on and not tested."""

    overall: Row
    by_operator: Mapping[str, Row]
    too_few: tuple[str, ...]


def groups_of(pairs: Sequence[ReasoningPair]) -> dict[str, list[ReasoningPair]]:
    """The single pairs of each principle, all single pairs, all multi pairs; some may be empty."""
    groups = {p.code: [x for x in pairs if x.kind == "single" and x.violated == (p.number,)] for p in PRINCIPLES}
    groups["single"] = [x for x in pairs if x.kind == "single"]
    groups["multi"] = [x for x in pairs if x.kind == "multi"]
    return groups


def cases_of(pairs: Sequence[ReasoningPair]) -> int:
    return len({pair.case_id for pair in pairs})


def probe(pairs: Sequence[ReasoningPair], *, seed: int = 0) -> list[Row]:
    """A row of the `words` reader for each group of at least `LEAST_CASES` cases; ProbeError where there is none."""
    rows = [
        cross_validated(name, group, "words", seed=seed)
        for name, group in groups_of(pairs).items()
        if cases_of(group) >= LEAST_CASES
    ]
    if not rows:
        found = cases_of(pairs)
        raise ProbeError(f"the probe needs pairs of at least {LEAST_CASES} cases, here are {found}: build more")
    return rows


def cross_validated(name: str, pairs: Sequence[ReasoningPair], reader: Reader, *, seed: int = 0) -> Row:
    """Each pair is judged by readers that were trained on the cases of the other folds."""
    texts = Texts(pairs, reader)
    marks, weights = _Marks(texts), Weights()
    for train, test in texts.folds(seed):
        marks.add(test, texts.judge(train, test, weights))
    return marks.row(name, reader, range(len(pairs)), seed, weights.telling())


def held_out(name: str, pairs: Sequence[ReasoningPair], reader: Reader, *, seed: int = 0) -> HeldOut | None:
    """Each pair is judged by readers that were trained on the other folds' pairs of all other operators.

    None where fewer than two operators have `LEAST_CASES` cases. A pair counts under the operator of its first flaw.
    """
    texts = Texts(pairs, reader)
    operators = [pair.origin.flaws[0].operator for pair in pairs]
    places = {one: [i for i, other in enumerate(operators) if other == one] for one in sorted(set(operators))}
    enough = [o for o, at in places.items() if cases_of([pairs[i] for i in at]) >= LEAST_CASES]
    if len(enough) < 2:
        return None
    marks, weights = _Marks(texts), {operator: Weights() for operator in enough}
    for train, test in texts.folds(seed):
        for operator in enough:
            known = [i for i in train if operators[i] != operator]
            unknown = [i for i in test if operators[i] == operator]
            marks.add(unknown, texts.judge(known, unknown, weights[operator]))
    tested = sorted(i for operator in enough for i in places[operator])
    return HeldOut(
        overall=marks.row(name, reader, tested, seed, ()),
        by_operator={o: marks.row(o, reader, places[o], seed, weights[o].telling()) for o in enough},
        too_few=tuple(sorted(places.keys() - set(enough))),
    )


class _Marks:
    """How each pair was told, over the repeats."""

    def __init__(self, texts: Texts) -> None:
        self._cases = texts.cases
        self._marks: dict[int, list[float]] = {}

    def add(self, places: Sequence[int], marks: Sequence[float]) -> None:
        for place, mark in zip(places, marks, strict=True):
            self._marks.setdefault(int(place), []).append(mark)

    def row(self, name: str, reader: Reader, places: Sequence[int], seed: int, telling: tuple[str, ...]) -> Row:
        values, cases = [_mean(self._marks[i]) for i in places], [self._cases[i] for i in places]
        interval = clustered_mean_ci(values, cases, seed)
        return Row(name, reader, len(values), len(set(cases)), _mean(values), interval, telling)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def print_probe(rows: Sequence[Row], console: "Console") -> None:
    """The rows as a table."""
    from rich.table import Table

    table = Table("", "pairs", "cases", "accuracy", "95 % interval", "most telling words", title="Without the case")
    for row in rows:
        low, high = row.ci95
        numbers = (str(row.pairs), str(row.cases), f"{row.accuracy:.3f}", f"{low:.3f} – {high:.3f}")
        table.add_row(row.name, *numbers, "  ".join(row.telling))
    console.print(table)
