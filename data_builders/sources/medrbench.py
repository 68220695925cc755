"""MedRBench: case reports with the diagnostic or therapeutic reasoning behind their outcome (domain `medical`).

A record is a report with one task: the reference is the corpus's reasoning, the decision its result. The abstract,
discussion and conclusion repeat that reasoning, so the context is the case summary and the report cut at headings: from
the last introduction before the last case heading to the first closing heading. `uncut` marks a report without a
closing heading, `decision_in_context` a context that has the decision word for word.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import all_present, clean, contains_line, corpus_folder, read_json, take, words
from data_builders.sources.text_repair import Changes, changes_as_meta, repaired
from judge_r1.core.records import Case

FOLDER, DATA = "medical_medrbench", "data/MedRBench"
LICENSE = "CC BY-SA (MedRBench); the case report: terms of its article in PubMed Central"
TASKS = {  # task: (file, field of the reference, field of the decision)
    "diagnosis": ("demo_diagnosis_100.json", "differential_diagnosis", "diagnosis_results"),
    "treatment": ("demo_treatment_100.json", "treatment_planning_analysis", "treatment_plan_results"),
}
HEADING_WORDS = 9  # a longer line is never a heading
_NUMBER = re.compile(r"^\d+(?:\.\d+)*\.?\s+")
_INTRODUCTION = re.compile(r"(?:introduction|background)(?: and importance)?")
_CASE = re.compile(
    r"(?:detailed |clinical )?cases?(?:/case series)?"
    r"(?: (?:presentations?|reports?|descriptions?|demonstration|summary|history))?|presentation of cases?"
)
_CLOSING = re.compile(
    r"(?:clinical )?(?:discussions?|dissection|significance|message)\b.*|conclusions?\b.*|(?:review of )?(?:the )?"
    r"literature(?: review)?\b.*|materials? and methods|methods|results|(?:strengths and )?limitations|"
    r"learning points?\b.*|highlights|abbreviations?|patients?['’]?s? pers?pective|(?:informed |patient )?consent\b.*|"
    r"ethic.*|funding.*|authors?['’]? contributions?|declaration.*|conflicts? of interest.*|references"
)


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """At most `limit` cases, by article and task. `seed` has no effect."""
    folder = corpus_folder(path, "medrbench", FOLDER, DATA) / DATA
    records = []
    for task, (name, _, _) in TASKS.items():
        for article, record in read_json(folder / name).items():
            records.append((article, task, record))
    records.sort(key=lambda entry: entry[:2])
    cases = (_case(article, task, record, folder, skipped) for article, task, record in records)
    yield from islice((case for case in cases if case is not None), limit)


def _case(article: str, task: str, record: Any, folder: Path, skipped: Counter[str]) -> Case | None:
    name, reference_field, decision_field = TASKS[task]
    where = f"{folder / name}, record {article}"
    raw = clean(take(record, "raw_case", str, where))
    fields = {
        field: _without_rule(clean(take(record, f"generate_case.{field}", str, where)))
        for field in ("case_summary", reference_field, decision_field)
    }
    summary, reference, decision = fields.values()
    if not all_present("medrbench", fields, skipped):
        return None
    report = report_before_discussion(raw)
    if report is None:
        skipped["medrbench: no case-presentation heading, so the report cannot be cut"] += 1
        return None
    body, closed = report
    changes = Changes()
    context = repaired(f"Case summary\n{summary}\n\n{body}", changes)
    decision, reference = repaired(decision, changes), repaired(reference, changes)
    return Case.of(
        domain="medical",
        context=context,
        decision=decision,
        reference=reference,
        source=f"medrbench/{task}/{article}",
        license=LICENSE,
        meta={
            "group": article,
            "task": task,
            "file": name,
            "cut_words": words(raw) - words(body),
            "uncut": not closed,
            "decision_in_context": contains_line(context, decision),
            **changes_as_meta(changes),
        },
    )


def report_before_discussion(raw: str) -> tuple[str, bool] | None:
    """Introduction and case presentation, and whether a closing heading follows; None without a case heading."""
    lines = [line.strip() for line in raw.split("\n")]
    headings = [_heading(line) for line in lines]
    cases = [n for n, heading in enumerate(headings) if _CASE.fullmatch(heading)]
    if not cases:
        return None
    introductions = [n for n in range(cases[-1]) if _INTRODUCTION.fullmatch(headings[n])]
    start = introductions[-1] if introductions else cases[-1]
    closing = [n for n in range(cases[-1] + 1, len(lines)) if _CLOSING.fullmatch(headings[n])]
    end = closing[0] if closing else len(lines)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines[start:end])).strip(), bool(closing)


def _heading(line: str) -> str:
    """The line in lower case without number and colon; empty if it is too long for a heading."""
    return _NUMBER.sub("", line).rstrip(":").strip().lower() if len(line.split()) <= HEADING_WORDS else ""


def _without_rule(text: str) -> str:
    """The text without the Markdown rule that ends some fields."""
    head, _, last = text.rstrip().rpartition("\n")
    return head.rstrip() if re.fullmatch(r"\s*-{3,}", last) else text.rstrip()


SOURCES.register("medrbench")(
    Source(read=read, help="MedRBench case reports: diagnosis and treatment reasoning (medical)")
)
