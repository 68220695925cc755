"""Results of a reading: real and natural flaws by principle, agreement of the readers, and the pairs in doubt."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from data_builders.audit.annotation.shares import OVERALL, Share, compare, people, share_of
from data_builders.audit.reading.answers import Reading, Readings
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import by_number
from judge_r1.core.records import ReasoningPair

READING_FILE = "reading.json"
Question = Literal["real", "natural"]
QUESTIONS: tuple[Question, ...] = ("real", "natural")


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
    rows = [
        _row(data, name, code, pairs, who, readings) for name, who in people(readers) for code, pairs in groups.items()
    ]
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
    real, natural = (share_of([getattr(reading, q) for _, reading in found], clusters) for q in QUESTIONS)
    return ReadingRow(name, code, len({pair.pair_id for pair, _ in found}), real, natural)


def _agreement(
    code: str, question: Question, pairs: Iterable[ReasoningPair], readings: Readings
) -> ReaderAgreement | None:
    answers = {
        name: {pair_id: getattr(reading, question) for pair_id, reading in own.items()}
        for name, own in readings.items()
    }
    found = compare(answers, [pair.pair_id for pair in pairs])
    return ReaderAgreement(code, question, **vars(found)) if found else None


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
