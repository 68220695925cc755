"""Writes a reading sheet: sampled pairs with the changed passage, its surroundings and the evidence, to be filled in.

A sheet is a folder with the sampled cases and pairs, so every command for pairs reads it, and `sheet.jsonl`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from data_builders.audit.reading.sample import Candidate, candidates, draw
from data_builders.perturb.pair_checks import replaced_texts
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import AtomicFiles, dump_json, dump_line
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, open_pairs
from judge_r1.core.principles import NUMBERS, by_number
from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.core.records import Case, ReasoningPair, Span
from retrieval.bm25 import BM25Index
from retrieval.passages import split_passages

SHEET_FILE, SAMPLE_FILE = "sheet.jsonl", "sample.json"
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
    """Draw pairs of the data sets into the folder `out`. Returns the content of sample.json: counts by principle.

    Raises:
        JudgeError: `out` holds pairs already, or the data sets have no pair with a single violated principle.
    """
    return write_drawn(folders, out / SHEET_FILE, draw, sheet_item, NUMBERS, per_principle=per_principle, seed=seed)


def write_drawn(
    folders: Sequence[Path],
    sheet: Path,
    draw: Callable[[Sequence[Candidate], int], Sequence[Candidate]],
    item: Callable[[int, ReasoningPair, Case], Record],
    principles: Sequence[int],
    *,
    per_principle: int,
    seed: int,
) -> dict[str, Any]:
    """Draw pairs of the data sets. Write them and their cases, a line `item(number, pair, case)` of each to `sheet`,
    and sample.json.

    Returns the content of sample.json: the settings, and counts by domain of the `principles` that are drawn.

    Raises:
        JudgeError: the folder of `sheet` holds pairs already, or the data sets have none to draw.
    """
    if sheet.with_name(PAIRS_FILE).exists():
        raise JudgeError(f"{sheet.parent} holds pairs already, maybe a sheet with answers: write to another folder")
    datasets = [open_pairs(folder) for folder in folders]
    drawn = draw(list(candidates(datasets, seed)), per_principle)
    codes = {number: by_number(number).code for number in principles}
    if not drawn:
        raise JudgeError(
            f"{', '.join(map(str, folders))}: no pair violates one of {', '.join(codes.values())} alone, so none can "
            "be read"
        )
    pairs = [datasets[c.dataset].by_id()[c.pair_id] for c in drawn]
    cases = {pair.case_id: datasets[c.dataset].cases[pair.case_id] for c, pair in zip(drawn, pairs, strict=True)}
    counts = {code: Counter(c.domain for c in drawn if c.principle == number) for number, code in codes.items()}
    report = {
        "seed": seed,
        "per_principle": per_principle,
        "pairs": len(pairs),
        "by_principle": {code: dict(sorted(domains.items())) for code, domains in counts.items()},
    }
    items = [item(number, pair, cases[pair.case_id]) for number, pair in enumerate(pairs, 1)]
    files_of = {name: sheet.with_name(name) for name in (CASES_FILE, PAIRS_FILE, SAMPLE_FILE)}
    with AtomicFiles(*files_of.values(), sheet) as files:
        for path, records in ((files_of[CASES_FILE], cases.values()), (files_of[PAIRS_FILE], pairs), (sheet, items)):
            for record in records:
                files.write(path, dump_line(record))
        files.write(files_of[SAMPLE_FILE], dump_json(report))
    return report


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
