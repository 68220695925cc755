"""Long texts on whose checklists people tick a level for each question and score the whole (HelloBench, appendix F).

`checklists.jsonl` in a folder has `id`, `system`, `category`, `instruction`, `response` and `checklists`. The answers
are rows that `judge-r1 fit-weights` reads.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from pydantic import Field

from data_builders.audit.annotation.form import Fields, Form, Option, PairPage, Pane, Question, Round, Task
from judge_r1.benchmarks.hellobench import chosen_texts, chosen_weights
from judge_r1.benchmarks.hellobench.files import parse_options
from judge_r1.core.checklist import LEVELS, OVERALL_BEST
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import NonEmpty, Record, content_hash
from judge_r1.files.jsonl import dump_line, read_jsonl, write_atomic
from judge_r1.labels.audit_answers import AnnotatorName, Note

TEXTS_FILE = "checklists.jsonl"
_OVERALL = "overall"


class ChecklistText(Record):
    """A response to an instruction, and the questions about it."""

    id: NonEmpty
    system: NonEmpty
    category: NonEmpty
    instruction: NonEmpty
    response: NonEmpty
    checklists: tuple[NonEmpty, ...] = Field(min_length=1)

    @property
    def pair_id(self) -> str:
        return content_hash(self.system, self.category, self.id)


class ChecklistAnswer(Record):
    """One person's scores of a text: a level in [0, 1] for each question, and the whole from 0 to 10."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotator: AnnotatorName
    pair_id: NonEmpty
    id: NonEmpty
    system: NonEmpty
    category: NonEmpty
    scores: tuple[float, ...]
    overall: float = Field(ge=0, le=OVERALL_BEST)
    note: Note = ""
    at: NonEmpty


def write_texts(checkout: Path, subset: str | None, out: Path, count: int, seed: int) -> int:
    """Writes `count` responses to a checkout's instructions with their checklists, drawn uniformly, or all if there are
    fewer. Returns their number.

    Raises:
        JudgeError: `out` holds texts already, or there is no response.
        BadBenchmark: The checkout or a response cannot be read.
    """
    if (out / TEXTS_FILE).exists():
        raise JudgeError(f"{out / TEXTS_FILE} exists, and answers may belong to it: write to another folder")
    options = parse_options(subset)
    found = [
        ChecklistText(
            id=one.entry.cluster_id,
            system=one.entry.system,
            category=one.category,
            instruction=one.entry.instruction,
            response=one.entry.response,
            checklists=tuple(criterion.question for criterion in one.entry.checklist.criteria),
        )
        for one in chosen_texts(checkout, options, chosen_weights(checkout, options))
        if one.entry.response.strip()
    ]
    if not found:
        raise JudgeError(f"{checkout} has no response to annotate: give --subset responses=FOLDER")
    drawn = sorted(Random(seed).sample(range(len(found)), min(count, len(found))))
    write_atomic(out / TEXTS_FILE, [dump_line(found[at]) for at in drawn])
    return len(drawn)


class ChecklistTask(Task[ChecklistAnswer]):
    """One page for each text: its questions with five levels, and the whole from 0 to 10."""

    record = ChecklistAnswer
    form = Form.load("checklists")

    def __init__(self, folder: Path) -> None:
        self._texts = {one.pair_id: one for one in read_jsonl(folder / TEXTS_FILE, ChecklistText)}
        self.pair_ids = [*self._texts]

    def page(self, current: Round[ChecklistAnswer], pair_id: str) -> PairPage:
        text = self._texts[pair_id]
        return PairPage(
            subtitle=text.category,
            domain=text.category,
            panes=(
                Pane("context", "The instruction", (("", [(text.instruction, False)]),)),
                Pane("reference", "The text", (("", [(text.response, False)]),)),
            ),
            questions=(*map(_question, range(len(text.checklists)), text.checklists), *self.form.questions),
        )

    def values(self, answer: ChecklistAnswer) -> set[tuple[str, str]]:
        ticked = {(f"item_{number}", f"{score:g}") for number, score in enumerate(answer.scores)}
        return ticked | {(_OVERALL, f"{answer.overall:g}")}

    def answer(
        self, current: Round[ChecklistAnswer], pair_id: str, fields: Fields, common: Mapping[str, Any]
    ) -> ChecklistAnswer:
        text = self._texts[pair_id]
        return ChecklistAnswer(
            schema=1,
            id=text.id,
            system=text.system,
            category=text.category,
            scores=tuple(float(fields[f"item_{number}"][0]) for number in range(len(text.checklists))),
            overall=float(fields[_OVERALL][0]),
            **common,
        )


_MEANINGS: Sequence[str] = ("not at all", "mostly not", "half", "mostly", "fully")


def _question(number: int, text: str) -> Question:
    levels = tuple(
        Option(value=f"{level:g}", key="", text=f"{level:g} {meaning}")
        for level, meaning in zip(LEVELS, _MEANINGS, strict=True)
    )
    # Braces of the text are not fields of a format string.
    return Question(name=f"item_{number}", text=text.replace("{", "{{").replace("}", "}}"), options=levels)
