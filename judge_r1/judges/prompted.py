"""The prompt judge: asks in the words of the user's own template, about one text or a pair, and reads one of the
answers that it allows.

    prompt:file=helpful.txt,answers=pass/fail@https://host/v1#model

The template may use $input, $output, $context, $reference, $a, $b and $trace. The answer is that of the last JSON
object with one of the keys label, verdict, score, rating or answer, or else the last line that is an allowed answer and
nothing else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import Template

from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict
from judge_r1.episode.json_objects import json_objects
from judge_r1.episode.prompts import Message, Prompt
from judge_r1.episode.tags import escape_tags
from judge_r1.files.text_file import read_template
from judge_r1.judges.backend_spec import LocalJudgeFactory, continuous_judge, split_options
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, JudgeWrapper
from judge_r1.judges.request import CustomPrompt, JudgeRequest

FIELDS = ("input", "output", "context", "reference", "a", "b", "trace")
ANSWER_KEYS = ("label", "verdict", "score", "rating", "answer")
_RANGE = re.compile(r"(-?\d+)-(-?\d+)")
_MARKS = re.compile(r"^[\s*_`\"'#>-]+|[\s*_`\"'.]+$")
NO_ANSWER, SEVERAL = "no_allowed_answer", "several_answers"


@dataclass(frozen=True)
class AnswerReader:
    """Reads one of `answers`. A, B and tie make a comparison; of others the score is the number of the answer."""

    answers: Sequence[str]

    def __call__(self, text: str) -> Verdict:
        """The verdict of an answer's text; two different answers, or none, are invalid."""
        found = self._of_json(text)
        if found is None:
            lines = [self._place(_MARKS.sub("", line)) for line in text.splitlines()]
            found = [place for place in lines if place is not None][-1:]
        if len(set(found)) != 1:
            return InvalidVerdict(reason=SEVERAL if found else NO_ANSWER)
        answer = self.answers[found[0]]
        if {"a", "b"} <= {one.casefold() for one in self.answers}:
            side = answer.upper()
            return PairwiseVerdict(winner=side if side in ("A", "B") else "tie")
        return ScoresVerdict(scores=(float(found[0]),))

    def _of_json(self, text: str) -> list[int] | None:
        """The answers in the last JSON object that has one; None if no object does."""
        for value in reversed(json_objects(text)):
            if given := [value[key] for key in ANSWER_KEYS if key in value]:
                places = [self._place(f"{one:g}" if isinstance(one, float) else str(one)) for one in given]
                return [place for place in places if place is not None]
        return None

    def _place(self, word: str) -> int | None:
        word = " ".join(word.split()).casefold()
        folded = [answer.casefold() for answer in self.answers]
        return folded.index(word) if word in folded else None


def answer_prompt(template: Template, fields: Mapping[str, str], answers: Sequence[str]) -> CustomPrompt:
    """The prompt of a template about these texts. A field without a text is empty."""
    given = {name: fields.get(name, "") for name in FIELDS}
    marks = {name: f"\ue000{number}\ue001" for number, name in enumerate(given)}
    prompt = Prompt(
        (Message("user", template.substitute(marks)),), tuple(map(escape_tags, given.values())), tuple(given)
    )
    return CustomPrompt(prompt, AnswerReader(answers), fields=fields)


class PromptedJudge(JudgeWrapper):
    """Asks `judge` the template's question about the texts of each request."""

    def __init__(self, judge: Judge, template: Template, answers: Sequence[str]) -> None:
        digest = content_hash(template.template, list(answers))
        super().__init__(judge, {"prompt": digest, "answers": list(answers)})
        self._template, self._answers = template, answers

    def shown(self, request: JudgeRequest) -> JudgeRequest:
        task = request.task
        if isinstance(task, CustomPrompt):
            fields = dict(task.fields) or {"input": request.item.instruction, "output": request.item.texts[0]}
        else:
            fields = {"input": task.decision, "a": task.reasoning_a, "b": task.reasoning_b, "context": task.context}
        if "output_1" in fields:
            raise BadJudge(f"{self.name} asks about one text or two, and item {request.item.item_id} shows several")
        if task_is_pair(self._answers) != ("a" in fields):
            raise BadJudge(
                f"{self.name}: answers={'/'.join(self._answers)} is for {'one text' if 'a' in fields else 'two texts'}"
                f", and item {request.item.item_id} has {'two' if 'a' in fields else 'one'}"
            )
        return replace(request, task=answer_prompt(self._template, fields, self._answers))


def task_is_pair(answers: Sequence[str]) -> bool:
    """Whether these answers name a side of a pair."""
    return {"a", "b"} <= {answer.casefold() for answer in answers}


def read_answers(text: str) -> tuple[str, ...]:
    """The answers of an option: pass/fail, A/B/tie, or a range 1-5. Raises: BadJudge."""
    if found := _RANGE.fullmatch(text):
        low, high = int(found[1]), int(found[2])
        if not 0 < high - low <= 100:
            raise BadJudge(f"answers={text} is no scale: write the lower end first, at most 100 levels")
        return tuple(str(level) for level in range(low, high + 1))
    answers = tuple(answer.strip() for answer in text.split("/"))
    if len(answers) < 2 or "" in answers or len({answer.casefold() for answer in answers}) < len(answers):
        raise BadJudge(f"answers={text} must name two different answers or more, such as pass/fail, A/B/tie or 1-5")
    return answers


def _make(build: JudgeBuild, local: LocalJudgeFactory | None = None) -> Judge:
    from judge_r1.judges import direct

    build, own = split_options(build, ("file", "answers"))
    if missing := [name for name in ("file", "answers") if name not in own]:
        raise BadJudge(f"a prompt judge needs {missing[0]}=…: prompt:file=FILE,answers=pass/fail@MODEL")
    answers = read_answers(own["answers"])
    needed = [("a",), ("b",)] if task_is_pair(answers) else [("output", "trace", "input")]
    template = read_template(Path(own["file"]), FIELDS, needed)
    judge = direct.make(build) if local is None else direct.make(build, local)
    return PromptedJudge(judge, template, answers)


JUDGES.register("prompt")(
    JudgeKind(
        "asks your own template: file=FILE, answers=pass/fail, A/B/tie or 1-5; a backend as for direct",
        _make,
        served=partial(_make, local=continuous_judge),
    )
)
