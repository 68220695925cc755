"""Results of a reading: real and natural flaws by principle, agreement of the readers, and the pairs in doubt."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

from data_builders.audit.reading.answers import Reading, Readings
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import by_number
from judge_r1.core.records import ReasoningPair
from judge_r1.statistics.agreement import cohens_kappa
from judge_r1.statistics.intervals import clustered_mean_ci

READING_FILE = "reading.json"
EVERYONE, OVERALL = "everyone", "overall"
Question = Literal["real", "natural"]
QUESTIONS: tuple[Question, ...] = ("real", "natural")


@dataclass(frozen=True)
class Share:
    """The share of `n` answers about pairs of `cases` cases that are yes, with its 95 % interval over cases."""

    n: int
    cases: int
    share: float
    ci95: tuple[float, float]


@dataclass(frozen=True)
class ReadingRow:
    """The answers of one reader, or of `EVERYONE`, about one principle. `pairs` counts pairs with an answer."""

    reader: str
    principle: str
    pairs: int
    real: Share
    natural: Share


@dataclass(frozen=True)
class ReaderAgreement:
    """Agreement about one question over all pairs of readers: `n` compared answers, the equal share, Cohen's kappa.

    `kappa` is None if all answers are the same.
    """

    principle: str
    question: Question
    n: int
    share: float
    kappa: float | None


@dataclass(frozen=True)
class DoubtedPair:
    """A pair of which a reader says no to a question. `agreed` is true if all readers answered both questions alike."""

    pair_id: str
    principle: str
    domain: str
    operator: str
    agreed: bool
    answers: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class ReadingResults:
    """What the readers of a sheet of `pairs` pairs answered."""

    readers: tuple[str, ...]
    pairs: int
    rows: tuple[ReadingRow, ...]
    agreement: tuple[ReaderAgreement, ...]
    doubted: tuple[DoubtedPair, ...]

    def as_json(self) -> dict[str, Any]:
        return {"schema": 1, **asdict(self)}


def reading_results(data: PairSet, readings: Readings) -> ReadingResults:
    """Summarise the answers to a sheet, by reader and principle."""
    readers = tuple(sorted(readings))
    codes = sorted({code_of(pair) for pair in data.pairs})
    groups = {code: [pair for pair in data.pairs if code_of(pair) == code] for code in codes} | {OVERALL: data.pairs}
    names = [(name, (name,)) for name in readers] + ([(EVERYONE, readers)] if len(readers) > 1 else [])
    rows = [_row(data, name, code, pairs, who, readings) for name, who in names for code, pairs in groups.items()]
    agreement = [
        _agreement(code, question, pairs, readings) for code, pairs in groups.items() for question in QUESTIONS
    ]
    return ReadingResults(
        readers=readers,
        pairs=len(data.pairs),
        rows=tuple(row for row in rows if row),
        agreement=tuple(row for row in agreement if row),
        doubted=tuple(pair for pair in (_doubted(pair, readings) for pair in data.pairs) if pair),
    )


def code_of(pair: ReasoningPair) -> str:
    """The code of the single principle that a pair violates, such as P2."""
    return by_number(pair.violated[0]).code


def _row(
    data: PairSet, name: str, code: str, pairs: Iterable[ReasoningPair], readers: Sequence[str], readings: Readings
) -> ReadingRow | None:
    found = [(pair, readings[r][pair.pair_id]) for pair in pairs for r in readers if pair.pair_id in readings[r]]
    if not found:
        return None
    clusters = [data.case_of(pair).group for pair, _ in found]
    real, natural = (answer_share([getattr(reading, q) for _, reading in found], clusters) for q in QUESTIONS)
    return ReadingRow(name, code, len({pair.pair_id for pair, _ in found}), real, natural)


def answer_share(answers: Sequence[bool], clusters: Sequence[str]) -> Share:
    """The share of true answers; `clusters` names the case of each."""
    values = [float(answer) for answer in answers]
    return Share(len(values), len(set(clusters)), sum(values) / len(values), clustered_mean_ci(values, clusters))


def _agreement(
    code: str, question: Question, pairs: Iterable[ReasoningPair], readings: Readings
) -> ReaderAgreement | None:
    compared = [
        (getattr(one[pair.pair_id], question), getattr(other[pair.pair_id], question))
        for pair in pairs
        for one, other in combinations((readings[name] for name in sorted(readings)), 2)
        if pair.pair_id in one and pair.pair_id in other
    ]
    if not compared:
        return None
    kappa = cohens_kappa([a for a, _ in compared], [b for _, b in compared])
    return ReaderAgreement(code, question, len(compared), sum(a == b for a, b in compared) / len(compared), kappa)


def _doubted(pair: ReasoningPair, readings: Readings) -> DoubtedPair | None:
    found: dict[str, Reading] = {
        name: answers[pair.pair_id] for name, answers in sorted(readings.items()) if pair.pair_id in answers
    }
    if all(reading.real and reading.natural for reading in found.values()):
        return None
    return DoubtedPair(
        pair_id=pair.pair_id,
        principle=code_of(pair),
        domain=pair.domain,
        operator=pair.origin.flaws[0].operator,
        agreed=len({(reading.real, reading.natural) for reading in found.values()}) == 1,
        answers={name: reading.model_dump(include={"real", "natural", "note"}) for name, reading in found.items()},
    )
