"""Parses prompts of other frameworks about one answer, and the reply of a judge that answers prompts.

A check of a response against a reference with two labels (the default judges of verifiers); a grade in a letter
(Inspect); a rating from 1 to 10 (MT-Bench), or one with a mark of its own (`[RESULT]` of prometheus-eval, `<score>` of
lighteval); a choice from quoted labels (OpenAI evals, lighteval); a rubric whose criteria list their options
(verifiers); any prompt with a schema of the reply (autoevals, openevals). A check whose sections occur twice is
rejected: one of the texts may contain a forged section.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from judge_r1.episode.answer_text import answer_text
from judge_r1.serving.pairwise_prompt_formats import UnsupportedPrompt, has_two_answers
from judge_r1.serving.reply_schema import ReplySchema

_LAYOUTS = {
    re.compile(r"^(?:Task|Question|Reference answer|Ground truth answer|Response):\n```$", re.MULTILINE): re.compile(
        r"(?:Task|Question):\n```\n(?P<question>.*?)\n```\s+"
        r"(?:Reference|Ground truth) answer:\n```\n(?P<reference>.*?)\n```\s+"
        r"Response:\n```\n(?P<response>.*)\n```\s",
        re.DOTALL,
    ),
    re.compile(r"^\[(?:Question|Sentence|Expert|Submission)\]: ", re.MULTILINE): re.compile(
        r"\[(?:Question|Sentence)\]: (?P<question>.*?)\n\*+\n\[Expert\]: (?P<reference>.*?)\n\*+\n"
        r"\[Submission\]: (?P<response>.*)\n\*+\n\[END DATA\]",
        re.DOTALL,
    ),
    re.compile(r"^<(?:input|output|reference_outputs)>$", re.MULTILINE): re.compile(
        r"<input>\n(?P<question>.*?)\n</input>\n\s*<output>\n(?P<response>.*?)\n</output>\n.*"
        r"<reference_outputs>\n(?P<reference>.*)\n</reference_outputs>",
        re.DOTALL,
    ),
}
"""The start of the three sections of a check -> the sections: verifiers, Inspect and autoevals, openevals."""
_RESPOND = re.compile(r'Respond either "([^"\n]+)" or "([^"\n]+)" only\.?\s*\Z')
_GRADES = re.compile(r"'GRADE: \$LETTER' \(without quotes\) where LETTER is one of ([A-Z]{2,9})\.\s*\Z")
_GRADE = re.compile(r"(?<!\w)GRADE\s*:\s*\**(\w*)", re.IGNORECASE)
_GRADE_WORDS = {"CORRECT": "C", "INCORRECT": "I", "PARTIAL": "P"}
_RATE = re.compile(r"\b(?:rate|rating|score|grade)\b", re.IGNORECASE)
_SCALE = re.compile(r"\b1\s*(?:to|-|–)\s*10\b")
_BRACKETED = re.compile(r"\[\[(\d+(?:\.\d+)?)\]\]")
_BARE = re.compile(r"(?:(?:final )?(?:rating|score)\s*:?\s*)?(\d+(?:\.\d+)?)(?:\s*/\s*10)?\.?", re.IGNORECASE)
_CRITERION = re.compile(r"- (?P<name>[^:\n]+): .*\(answer one of, worst to best: (?P<options>[^()\n]+)\)")
_RESULT = re.compile(r"\[RESULT\] \(an integer number between (\d+) and (\d+)\)")
_SCORE_LINE = re.compile(r"^- Score (\d+): ", re.MULTILINE)
_MARKS = {
    "[RESULT] {}": re.compile(r"\[RESULT\]\s*\(?(\d+)\)?"),
    "<score>\n{}\n</score>": re.compile(r"<score>\s*(\d+)\s*</score>"),
}
"""The reply to a rating with a mark, and how it is found in that of a judge. lighteval reads `<score>` only with white
space around the number."""
_CHOICE = re.compile(
    r"(?:single choice from|single character|return the letters?) (\"[^\"\n]+\"(?:(?:, or |, | or )\"[^\"\n]+\")+)"
)
_FIRST = "First, answer by printing"
"""What asks for the choice before its explanation."""
_COMPARED = "The answer was compared with the reference, in both orders."
"""What a judge of pairs says for texts that a schema asks for."""
_TAIL = 400
"""Characters after the labels of a choice: instructions are the end of a prompt, and an answer in it comes before."""
EXAMPLES = (
    r'or one that checks a response, "Question:\n```\n…\n```\n\nReference answer:\n```\n…\n```\n\n'
    r'Response:\n```\n…\n```\n\nRespond either \"yes\" or \"no\" only."; or, for a judge that answers prompts '
    r"(direct@MODEL), one with a schema in response_format, one that asks for a rating from 1 to 10 or with the mark "
    r"[RESULT], one that ends with labels, "
    r'"print only a single choice from \"Y\" or \"N\"", or one with criteria, '
    r'"Criteria:\n- NAME: … (answer one of, worst to best: no, yes)"'
)


@dataclass(frozen=True)
class ReferenceCheck:
    """A response and the reference that it must match, and the replies for yes and for no."""

    question: str
    reference: str
    response: str
    positive: str
    negative: str


@dataclass(frozen=True)
class SinglePrompt:
    """A prompt about one answer. `read` turns a judge's reply into the form that the prompt asks for, and returns None
    for a reply that has no valid answer."""

    text: str
    read: Callable[[str], str | None]
    check: ReferenceCheck | None = None


def parse_single(user: str, system: str = "", schema: ReplySchema | None = None) -> SinglePrompt | None:
    """None if the prompt has none of the forms. Raises UnsupportedPrompt for a check with repeated sections."""
    text = f"{system}\n\n{user}" if system else user
    words = _in_words(user, text)
    if schema is None or (words is None and has_two_answers(user)):
        return words
    if schema.schema:
        labels = schema.labels()
    else:
        labels = (words.check.positive, words.check.negative) if words and words.check else None
    replies = [schema.filled(label, _COMPARED) for label in labels or ()]
    return SinglePrompt(schema.prompt(text), schema.read, _check(user, *map(str, replies)) if replies else None)


def _in_words(user: str, text: str) -> SinglePrompt | None:
    if found := _RESPOND.search(user):
        check = _check(user, *found.groups())
        if check or not has_two_answers(user):
            return SinglePrompt(text, partial(_read_label, labels=found.groups()), check)
    if has_two_answers(user):
        return None
    if grades := _GRADES.search(user):
        return SinglePrompt(text, partial(_read_grade, letters=grades[1]), _check(user, "GRADE: C", "GRADE: I"))
    if len(parts := user.split("\nCriteria:\n")) == 2 and (criteria := list(_CRITERION.finditer(parts[1]))):
        options = {found["name"]: found["options"].split(", ") for found in criteria}
        return SinglePrompt(text, partial(_read_verdicts, options=options))
    if marked := _marked(user):
        return SinglePrompt(text, partial(_read_marked, form=marked[0], bounds=marked[1]))
    if (choices := list(_CHOICE.finditer(user))) and len(user) - choices[-1].end() <= _TAIL:
        labels = re.findall(r'"([^"\n]+)"', choices[-1][1])
        return SinglePrompt(text, partial(_read_choice, labels=labels, line=0 if _FIRST in user else -1))
    if _SCALE.search(text) and _RATE.search(text):
        return SinglePrompt(text, partial(_read_rating, bracketed="[[" in text))
    return None


def _check(user: str, positive: str, negative: str) -> ReferenceCheck | None:
    """The check that a prompt holds; None if it shows no reference."""
    for section, layout in _LAYOUTS.items():
        starts = section.findall(user)
        if len(set(starts)) < 3:
            continue
        if len(starts) > 3:
            raise UnsupportedPrompt("a section of the reference check occurs twice")
        if not (found := layout.search(user)):
            continue
        texts = {name: value.strip() for name, value in found.groupdict().items()}
        return ReferenceCheck(**texts, positive=positive, negative=negative) if texts["reference"] else None
    return None


def _read_grade(reply: str, letters: str) -> str | None:
    """The reasons and the grade: the last one counts."""
    answer = answer_text(reply)
    found = list(_GRADE.finditer(answer))
    grade = found[-1][1].upper() if found else ""
    if (letter := _GRADE_WORDS.get(grade, grade)) not in list(letters):
        return None
    return f"{answer[: found[-1].start()]}GRADE: {letter}".strip()


def _read_label(reply: str, labels: Sequence[str]) -> str | None:
    answer = answer_text(reply).strip().strip("\"'.*`").lower()
    return next((label for label in labels if label.lower() == answer), None)


def _read_rating(reply: str, bracketed: bool) -> str | None:
    lines = answer_text(reply).strip().splitlines()
    found = set(_BRACKETED.findall(reply)) if bracketed else {
        match[1] for line in lines[-1:] if (match := _BARE.fullmatch(line.strip().strip("*")))
    }  # fmt: skip
    if len(found) != 1 or not 1 <= float(rating := found.pop()) <= 10:
        return None
    return f"Rating: [[{rating}]]" if bracketed else rating


def _marked(user: str) -> tuple[str, tuple[int, int]] | None:
    """The reply to a request for a rating with a mark, and the lowest and the highest rating."""
    plain, tagged = _MARKS
    if found := _RESULT.search(user):
        return plain, (int(found[1]), int(found[2]))
    if "score inside <score> tags" in user[-_TAIL:] and (scores := list(map(int, _SCORE_LINE.findall(user)))):
        return tagged, (min(scores), max(scores))
    return None


def _read_marked(reply: str, form: str, bounds: tuple[int, int]) -> str | None:
    found = set(_MARKS[form].findall(answer_text(reply)))
    if len(found) != 1 or not bounds[0] <= int(rating := found.pop()) <= bounds[1]:
        return None
    return form.format(rating)


def _read_choice(reply: str, labels: Sequence[str], line: int) -> str | None:
    """The label in the first or the last line that holds text."""
    lines = [text for text in answer_text(reply).splitlines() if text.strip()]
    return _read_label(lines[line], labels) if lines else None


def _read_verdicts(reply: str, options: dict[str, list[str]]) -> str | None:
    text, decoder = answer_text(reply), json.JSONDecoder()
    found: Any = None
    for start in (match.start() for match in re.finditer(r"\{", text)):
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        break
    verdicts = found.get("verdicts") if isinstance(found, dict) else None
    if not isinstance(verdicts, list) or not all(isinstance(one, dict) for one in verdicts):
        return None
    if sorted(str(one.get("name")) for one in verdicts) != sorted(options):
        return None
    if not all(one.get("verdict") in options[one["name"]] for one in verdicts):
        return None
    kept = [{"name": one["name"], "reason": str(one.get("reason", "")), "verdict": one["verdict"]} for one in verdicts]
    return json.dumps({"verdicts": kept})
