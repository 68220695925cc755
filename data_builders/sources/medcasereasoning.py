"""MedCaseReasoning: case reports with clinicians' diagnostic reasoning (domain `medical`; `zou-lab/MedCaseReasoning`).

The reference is the diagnostic reasoning; the decision is the final diagnosis. The context is the case prompt, followed
by the report if it can be cut before its discussion (see `medrbench`), which would repeat the reasoning; `meta.report`
tells whether it is. `PARTS` are the fields that the authors' repository names (kevinwu23/Stanford-MedCaseReasoning);
`pmcid` and `text` are those that loaders of the data use. The hub's own files were not read.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import CorpusRow, all_present, contains_line, corpus_rows
from data_builders.sources.medrbench import report_before_discussion
from data_builders.sources.text_repair import Changes, changes_as_meta, repaired
from judge_r1.core.records import Case

NAME, HUB_NAME = "medcasereasoning", "zou-lab/MedCaseReasoning"
LICENSE = "CC BY 4.0 (MedCaseReasoning); the case report: terms of its article in PubMed Central"
PARTS = ("case_prompt", "diagnostic_reasoning", "final_diagnosis")


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """At most `limit` cases, by file or split, and row. `seed` has no effect."""
    found = (_case(row, skipped) for row in corpus_rows(path, NAME, HUB_NAME))
    yield from islice((case for case in found if case is not None), limit)


def _case(row: CorpusRow, skipped: Counter[str]) -> Case | None:
    parts = {column: row.text(column) for column in PARTS}
    if not all_present(NAME, parts, skipped):
        return None
    prompt, reference, decision = parts.values()
    report = report_before_discussion(row.text("text")) if "text" in row.values else None
    closed = report is not None and report[1]
    context = f"Case prompt\n{prompt}" + (f"\n\n{report[0]}" if report and closed else "")
    changes = Changes()
    context, reference, decision = (repaired(text, changes) for text in (context, reference, decision))
    article = row.label("pmcid")
    return Case.of(
        domain="medical",
        context=context,
        decision=decision,
        reference=reference,
        source=f"{NAME}/{article}",
        license=LICENSE,
        meta={
            **({"group": article} if article else {}),
            "file": Path(row.file).name,
            "row": row.number,
            "report": closed,
            "decision_in_context": contains_line(context, decision),
            **changes_as_meta(changes),
        },
    )


SOURCES.register(NAME)(Source(read=read, help="MedCaseReasoning case reports, unverified against the hub (medical)"))
