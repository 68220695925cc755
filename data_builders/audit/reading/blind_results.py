"""Results of a blind reading: how often readers without the case find the worse reasoning, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from data_builders.audit.annotation.record_log import Answers
from data_builders.audit.annotation.shares import OVERALL, Share, people, share_of
from data_builders.audit.reading.answers import BlindChoice
from data_builders.audit.reading.results import code_of
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair
from judge_r1.evaluation.report.tables import few_clusters_note

BLIND_RESULTS_FILE = "blind_results.json"


@dataclass(frozen=True)
class BlindRow:
    """How often a reader, or `EVERYONE`, is right about the pairs of a group: a principle, an operator or `OVERALL`.

    `reasoned` counts only answers with a reason and `guessed` only those without; None if there are none.
    """

    reader: str
    group: str
    pairs: int
    right: Share
    reasoned: Share | None
    guessed: Share | None


def blind_rows(data: PairSet, choices: Answers[BlindChoice]) -> Iterator[BlindRow]:
    """Yield a row of each reader and group, and of all readers together if there are several."""
    for name, who in people(sorted(choices)):
        for group, pairs in _groups(data).items():
            found = [(pair, choices[r][pair.pair_id]) for pair in pairs for r in who if pair.pair_id in choices[r]]
            if right := _right(data, found):
                reasoned = _right(data, [(pair, choice) for pair, choice in found if not choice.is_guess])
                guessed = _right(data, [(pair, choice) for pair, choice in found if choice.is_guess])
                yield BlindRow(name, group, len({pair.pair_id for pair, _ in found}), right, reasoned, guessed)


def _groups(data: PairSet) -> Mapping[str, Sequence[ReasoningPair]]:
    """The pairs of each principle, of each of its operators if there are several, and all."""
    groups = dict[str, list[ReasoningPair]]()
    for code in sorted(set(map(code_of, data.pairs))):
        groups[code] = [pair for pair in data.pairs if code_of(pair) == code]
        operators = sorted({pair.origin.flaws[0].operator for pair in groups[code]})
        for name in operators if len(operators) > 1 else ():
            groups[f"{code} {name}"] = [pair for pair in groups[code] if pair.origin.flaws[0].operator == name]
    return {**groups, OVERALL: data.pairs}


def _right(data: PairSet, found: Sequence[tuple[ReasoningPair, BlindChoice]]) -> Share | None:
    if not found:
        return None
    clusters = [data.case_of(pair).group for pair, _ in found]
    return share_of([choice.worse != pair.preferred for pair, choice in found], clusters)


def blind_json(data: PairSet, choices: Answers[BlindChoice], rows: Sequence[BlindRow]) -> dict[str, Any]:
    """The content of blind_results.json: the rows, and every answer with its label."""
    answers = [
        {
            "reader": reader,
            "pair_id": pair.pair_id,
            "principle": code_of(pair),
            "operator": pair.origin.flaws[0].operator,
            "worse": choice.worse,
            "right": choice.worse != pair.preferred,
            "reason": choice.reason or "",
        }
        for reader in sorted(choices)
        for pair in data.pairs
        if (choice := choices[reader].get(pair.pair_id))
    ]
    return {"schema": 1, "pairs": len(data.pairs), "rows": [asdict(row) for row in rows], "answers": answers}


def print_blind(data: PairSet, rows: Sequence[BlindRow], console: Console) -> None:
    """Print a table by reader and group."""
    sizes = {group: len(pairs) for group, pairs in _groups(data).items()}
    table = Table("reader", "flaw", "read", "right [95 %]", "with a reason", "guesses")
    last = ""
    for row in rows:
        if last and row.reader != last:
            table.add_section()
        last = row.reader
        parts = [_count(share) if share else "" for share in (row.reasoned, row.guessed)]
        read = f"{row.pairs} of {sizes[row.group]}"
        table.add_row(Text(row.reader), Text(row.group), read, str(row.right), *parts)
    console.print(table)
    if note := few_clusters_note({"cases": row.right.cases} for row in rows if " " not in row.group):
        console.print(f"95 % intervals over cases.{note}", markup=False, highlight=False)


def _count(share: Share) -> str:
    return f"{round(share.share * share.n)} of {share.n}"
