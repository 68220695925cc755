"""Writes a reading sheet: sampled pairs with the changed passage, its surroundings and the evidence, to be filled in.

Equally many pairs of each principle are drawn, balanced over domains, data sets and cases.

A sheet is a folder with the sampled cases and pairs, so every command for pairs reads it, and `sheet.jsonl`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from data_builders.dataset_type import write_files
from data_builders.perturb.pair_checks import replaced_texts
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import NUMBERS, PRINCIPLES, by_number
from judge_r1.core.record_base import NonEmpty, Record, content_hash
from judge_r1.core.records import Case, ReasoningPair, Span
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet, open_pairs
from judge_r1.labels.audit_answers import SHEET_FILE
from retrieval.bm25 import BM25Index
from retrieval.passages import split_passages

SAMPLE_FILE = "sample.json"
SURROUNDINGS = 400
"""Characters shown before and after a changed passage, and before and after a span of evidence."""
QUERY_SURROUNDINGS = 100
"""Characters around a changed passage that the search for related passages also uses."""
RELATED = 3
READ_WITH_CASE = (2, 4)
"""Principles whose flaws can be found only by consulting the case."""
OPENING, CLOSING = "⟦", "⟧"


class SheetItem(Record):
    """One pair of a sheet. `real`, `natural` and `note` are for the reader; the rest is the question.

    `reference` and `flawed` are the passages that differ, with the difference between ⟦ and ⟧. `evidence` has the
    passages of the case that the flaw contradicts according to its record. `related` has the passages of the case that
    share most words with the flawed passage (P2 and P4).
    """

    schema_: Literal[1] = Field(1, alias="schema")
    number: int
    pair_id: NonEmpty
    case_id: NonEmpty
    domain: NonEmpty
    principle: NonEmpty
    definition: NonEmpty
    decision: NonEmpty
    reference: str
    flawed: str
    evidence: tuple[str, ...]
    related: tuple[str, ...]
    real: bool | None = None
    natural: bool | None = None
    note: str = ""


def write_sheet(folders: Sequence[Path], out: Path, *, per_principle: int, seed: int) -> dict[str, Any]:
    """Draw pairs of the data sets into the folder `out`. Returns the content of sample.json: the settings, and counts
    by principle and domain.

    Raises:
        JudgeError: `out` holds pairs already, or the data sets have no pair with a single violated principle.
    """
    if (out / PAIRS_FILE).exists():
        raise JudgeError(f"{out} holds pairs already, maybe a sheet with answers: write to another folder")
    datasets = [open_pairs(folder) for folder in folders]
    drawn = draw(datasets, per_principle, seed)
    if not drawn:
        codes = ", ".join(principle.code for principle in PRINCIPLES)
        raise JudgeError(f"{', '.join(map(str, folders))}: no pair violates one of {codes} alone, so none can be read")
    pairs = [datasets[c.dataset].by_id()[c.pair_id] for c in drawn]
    cases = {pair.case_id: datasets[c.dataset].cases[pair.case_id] for c, pair in zip(drawn, pairs, strict=True)}
    domains = {p.code: Counter(c.domain for c in drawn if c.principle == p.number) for p in PRINCIPLES}
    report = {
        "seed": seed,
        "per_principle": per_principle,
        "pairs": len(pairs),
        "by_principle": {code: dict(sorted(counts.items())) for code, counts in domains.items()},
    }
    records: dict[str, Iterable[Record]] = {
        CASES_FILE: cases.values(),
        PAIRS_FILE: pairs,
        SHEET_FILE: (sheet_item(number, pair, cases[pair.case_id]) for number, pair in enumerate(pairs, 1)),
    }
    write_files(out, records, {SAMPLE_FILE: report})
    return report


class Candidate(NamedTuple):
    """A pair with one flaw. `dataset` is the index of its data set; `order` is its random rank."""

    order: str
    dataset: int
    pair_id: str
    case_id: str
    domain: str
    principle: int


def draw(datasets: Sequence[PairSet], per_principle: int, seed: int) -> list[Candidate]:
    """Up to `per_principle` pairs of each principle, in random order. A pair of two data sets counts once.

    Each pair is taken from the domain with the fewest pairs so far, there from the data set with the fewest, and there
    from the case with the fewest pairs of any principle.
    """
    found: dict[str, Candidate] = {}
    for dataset, data in enumerate(datasets):
        for pair in data.pairs:
            if len(pair.origin.flaws) == 1 and pair.pair_id not in found:
                order = content_hash("sheet", pair.pair_id, seed)
                found[pair.pair_id] = Candidate(
                    order, dataset, pair.pair_id, pair.case_id, pair.domain, pair.violated[0]
                )
    drawn: list[Candidate] = []
    of_case = Counter[str]()
    for principle in NUMBERS:
        rest = {c for c in found.values() if c.principle == principle}
        of_domain, of_dataset = Counter[str](), Counter[tuple[str, int]]()
        for _ in range(min(per_principle, len(rest))):
            best = min(
                rest, key=lambda c: (of_domain[c.domain], of_dataset[c.domain, c.dataset], of_case[c.case_id], c.order)
            )
            rest.remove(best)
            drawn.append(best)
            of_domain[best.domain] += 1
            of_dataset[best.domain, best.dataset] += 1
            of_case[best.case_id] += 1
    return sorted(drawn)


def sheet_item(number: int, pair: ReasoningPair, case: Case) -> SheetItem:
    """The sheet's line of a pair. `number` counts from 1."""
    principle, flaw, replaced = by_number(pair.violated[0]), pair.origin.flaws[0], replaced_span(pair)
    return SheetItem(
        schema=1,
        number=number,
        pair_id=pair.pair_id,
        case_id=case.case_id,
        domain=case.domain,
        principle=principle.code,
        definition=f"{principle.name}: {principle.definition}",
        decision=case.decision,
        reference=marked_passage(pair.reference, *replaced),
        flawed=marked_passage(pair.flawed, flaw.span.start, flaw.span.end),
        evidence=tuple(marked_passage(case.context, span.start, span.end) for span in flaw.context_spans),
        related=related_passages(case, pair.flawed, flaw.span) if principle.number in READ_WITH_CASE else (),
    )


def replaced_span(pair: ReasoningPair) -> tuple[int, int]:
    """The characters of the reference that the single flaw of a pair replaces.

    Raises:
        JudgeError: the reasonings also differ outside the flaw.
    """
    olds = replaced_texts(pair)
    if olds is None:
        raise JudgeError(
            f"pair {pair.pair_id}: the reasonings differ outside the span of the flaw: run judge-r1 validate on its "
            "folder"
        )
    start = pair.origin.flaws[0].span.start
    return start, start + len(olds[0])


def marked_passage(text: str, start: int, end: int, around: int = SURROUNDINGS) -> str:
    """`text[start:end]` between ⟦ and ⟧ with about `around` characters on both sides, cut at blanks."""
    first, last = max(0, start - around), min(len(text), end + around)
    while 0 < first < start and not text[first - 1].isspace():
        first += 1
    while end < last < len(text) and not text[last].isspace():
        last -= 1
    before, after = text[first:start], text[end:last]
    return (
        f"{'… ' if first else ''}{before}{OPENING}{text[start:end]}{CLOSING}{after}{' …' if last < len(text) else ''}"
    )


def related_passages(case: Case, flawed: str, span: Span) -> tuple[str, ...]:
    """The passages of the case that share most words with a flawed passage (BM25), best first."""
    query = flawed[max(0, span.start - QUERY_SURROUNDINGS) : span.end + QUERY_SURROUNDINGS]
    (hits,) = BM25Index(split_passages(case.context)).search([query], RELATED)
    return tuple(hit.passage.text for hit in hits if hit.score > 0)
