"""DeepReview-13K (Research-14K): papers with DeepReviewer's "best mode" reviews (domain `academic`).

Rows have the layout of the authors' evaluation files (`pred_best_mode`) or of the hub (`mode, inputs, outputs`), as
public loaders of the data read it; the hub's own files were not read. Research-14K, which the LRBench paper names, has
papers without a review (`sections, references, messages`) and is refused. The reference is the review as numbered
steps. A paper is too long for a context, so a teacher condenses it (LRBench, appendix B); `check` says what is
accepted. The decision is the venue's; reviews that reach another decision are skipped.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.prompts import completion_prompt
from data_builders.sources import SOURCES, Draft, taught
from data_builders.sources.corpus_io import CorpusRow, SourceError, clean, corpus_rows, numbered, one_line, words
from data_builders.sources.review_steps import review_steps
from data_builders.sources.teacher_completion import Problem, complete
from data_builders.sources.text_grounding import missing_numbers, runs
from data_builders.sources.text_repair import Changes, changes_as_meta, repaired
from data_builders.teachers import Attempts, Teacher, TeacherRequest
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case
from judge_r1.files.strict_json import parse_json

NAME, HUB_NAME = "deepreview", "WestlakeNLP/DeepReview-13K"
LICENSE = "DeepReviewer License (WestlakeNLP/DeepReview-13K); not for formal peer review"
CONDENSED, ASKED = (500, 2500), (800, 1800)  # words: accepted, requested
LONGEST_PAPER = 40_000
REPEATED = 8  # words in a row that count as a repetition
ARGUED = ("summary", "strengths", "weaknesses", "suggestions", "questions")
_BOX = "\\boxed_review{"
_SECTION = re.compile(r"^#{1,4}[ \t]*([A-Za-z]+)[ \t]*:?[ \t]*$", re.M)


@dataclass(frozen=True)
class Reviewed:
    """A paper with its review and the decision of the venue. `changes` counts the repairs of the paper."""

    row: CorpusRow
    paper: str
    steps: tuple[str, ...]
    decision: str
    changes: Changes

    @property
    def review(self) -> str:
        return numbered(self.steps)


def drafts(path: Path | None, skipped: Counter[str]) -> Iterator[Draft]:
    """A draft for each paper with a best-mode review that agrees with the venue."""
    for row in corpus_rows(path, NAME, HUB_NAME):
        found = reviewed(row)
        if isinstance(found, str):
            skipped[f"{NAME}: {found}"] += 1
        else:
            yield _draft(found)


def reviewed(row: CorpusRow) -> Reviewed | str:
    """The row's paper and review, or the reason why it is skipped."""
    if "pred_best_mode" in row.values:
        paper, output = row.text("paper_context"), _output(row, "pred_best_mode")
    elif "outputs" in row.values:
        if not _is_best(row):
            return "a review of another mode"
        paper, output = (_last_message(row, column) for column in ("inputs", "outputs"))
    elif {"sections", "messages"} <= set(row.values):
        raise row.error(
            "outputs", f"is missing: these are rows of Research-14K, papers without a review; give {HUB_NAME}"
        )
    else:
        raise row.missing("pred_best_mode")
    sections, changes = review_sections(output), Changes()
    paper = repaired(paper, changes)
    decision, steps = one_line(row.text("decision")), review_of(sections, changes)
    if not paper or not steps:
        return "no paper" if not paper else "no review in \\boxed_review{}"
    if not CONDENSED[1] < words(paper) <= LONGEST_PAPER:
        return f"a paper of less than {CONDENSED[1]} or more than {LONGEST_PAPER} words"
    if verdict(decision) is None:
        return "neither accepted nor rejected"
    if verdict(sections.get("decision", "")) != verdict(decision):
        return "a review that decides otherwise than the venue"
    return Reviewed(row, paper, tuple(steps), decision, changes)


def _draft(found: Reviewed) -> Draft:
    async def draft(teacher: Teacher, skipped: Counter[str], tried: Attempts) -> Case | None:
        request = condensation_request(found)
        copied = runs(found.review, REPEATED) - runs(found.paper, REPEATED)
        context = await complete(NAME, teacher, request, lambda text: check(text, found.paper, copied), skipped, tried)
        if context is None:
            return None
        paper_id = found.row.label("id")
        title = found.row.text("title") if "title" in found.row.values else ""
        return Case.of(
            domain="academic",
            context=f"{title}\n\n{context}".strip(),
            decision=found.decision,
            reference=found.review,
            source=f"{NAME}/{paper_id}",
            license=LICENSE,
            meta={
                "group": paper_id,
                "file": Path(found.row.file).name,
                "paper_words": words(found.paper),
                "teacher": teacher.name,
                "written": "context",
                "prompt_hash": content_hash(request.system, request.user),
                **changes_as_meta(found.changes),
            },
        )

    return draft


def condensation_request(found: Reviewed) -> TeacherRequest:
    system, user = completion_prompt(
        "condense",
        "academic",
        {"paper": found.paper, "review": found.review},
        {"least_words": ASKED[0], "most_words": ASKED[1]},
    )
    return TeacherRequest(system=system, user=user, max_tokens=8000, temperature=0.3)


def check(text: str, paper: str, copied: set[str]) -> Problem | None:
    """The problem of a condensation, or None. `copied` holds the runs of words that only the review has."""
    if not CONDENSED[0] <= words(text) <= CONDENSED[1]:
        return Problem("has the wrong length", f"It has {words(text)} words, not {ASKED[0]} to {ASKED[1]}.")
    if missing := missing_numbers(text, paper):
        some = ", ".join(missing[:8])
        return Problem("has numbers of its own", f"The paper does not have these numbers: {some}.")
    if leaked := sorted(runs(text, REPEATED) & copied):
        return Problem("repeats the review", f'It repeats the review: "{leaked[0]}".')
    return None


def _is_best(row: CorpusRow) -> bool:
    mode = row.text("mode").lower().replace("_", " ").removesuffix(" mode")
    if mode not in ("fast", "standard", "best"):
        raise SourceError(f"{row.where}: column 'mode' must be Fast, Standard or Best Mode, not {row.text('mode')!r}")
    return mode == "best"


def _output(row: CorpusRow, column: str) -> str:
    """The text of a prediction, or of the field `output` of an object."""
    value = row.value(column)
    return (
        clean(value["output"]) if isinstance(value, dict) and isinstance(value.get("output"), str) else row.text(column)
    )


def _last_message(row: CorpusRow, column: str) -> str:
    """The content of the last message of a conversation stored as JSON."""
    value: Any = row.value(column)
    if isinstance(value, str):
        try:
            value = parse_json(value, row.where)
        except ValueError:
            raise row.wrong_type(column, "messages as JSON") from None
    content = value[-1].get("content") if isinstance(value, list) and value and isinstance(value[-1], dict) else None
    if not isinstance(content, str):
        raise row.wrong_type(column, "a list of messages {role, content}")
    return clean(content)


def review_sections(output: str) -> dict[str, str]:
    """The sections of the last boxed review by lower-case name; empty if there is none."""
    _, box, review = output.rpartition(_BOX)
    if not box:
        return {}
    review = review.rsplit("\n}", 1)[0] if "\n}" in review else review.rstrip().removesuffix("}")
    parts = _SECTION.split(review)
    return {name.lower(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def review_of(sections: dict[str, str], changes: Changes) -> list[str]:
    """The sections with arguments as steps. The first step of a section begins with its name."""
    nodes = []
    for name in ARGUED:
        if body := sections.get(name, ""):
            nodes.append({"ntype": "p", "content": f"{name.capitalize()}:"})
            nodes += [{"ntype": "list", "content": part} for part in re.split(r"\n\s*\n", body) if part.strip()]
    steps, _ = review_steps(nodes, "review", changes)
    return steps


def verdict(decision: str) -> str | None:
    """`accept`, `reject`, or None if a decision is neither."""
    found = {word for word in ("accept", "reject") if word in decision.lower()}
    return found.pop() if len(found) == 1 else None


SOURCES.register(NAME)(
    taught(
        NAME,
        drafts,
        help="DeepReview-13K reviews, unverified against the hub; a teacher condenses the papers (academic)",
    )
)
