"""Renders prompts from templates: `*.txt` files with `$name` fields.

A `Prompt` stores untrusted text (case, reasonings) separately from the instructions, so that a token model can encode
the two differently and a chat model can receive plain text.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Literal

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import GENERAL, PRINCIPLES, by_number
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.text_check import check_domain, check_unicode
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.located_answer import problem_list
from judge_r1.episode.tags import escape_tags, grammar
from judge_r1.episode.task import PairwiseTask, pairwise_task
from judge_r1.episode.tools.base import TOOLS, ToolBudget
from judge_r1.files.text_file import read_template

ContextMode = Literal["full", "none"]
STANDARD = "standard"
"""The style of an episode: thoughts and the JSON of Table 11 without an explanation, each between tags."""
COMPACT = "compact"
"""The style in the words of the bundled models."""
TABLE6 = "table6"
"""The style whose answer is the two lines of the paper's Table 6, without tags."""
DIRECT = "direct"
"""The style whose answer is the JSON of the paper's Table 11, without tags."""
ANSWER = "answer"
"""The style of a single turn that asks for the JSON between tags alone, without thoughts."""
CHAIN_OF_THOUGHT = "chain-of-thought"
"""The style that asks for reasoning in plain text before the JSON of Table 11."""
SEARCH_R1 = "search-r1"
"""The style of an agent in the manner of Search-R1 whose answer is the JSON of Table 11, between tags."""
CONVERSATIONS = "conversations"
"""The style whose answer names the better conversation, and the round and the type of the other one's problem."""
FILE_FIELDS = ("context", "decision", "reasoning_a", "reasoning_b", "principles", "domain", "lead")
"""The fields of a prompt in a file of the user."""
_GAP = "\n[…]\n"
"""Stands between passages that are shown in place of the context."""
_MARK = re.compile("\ue000(\\d+)\ue001")
LEADS = {
    "medical": "medical reasonings (diagnosis or treatment) about the same patient",
    "legal": "legal analyses of the same case",
    "academic": "reviews of the same research paper",
    GENERAL: "answers to the same request",
}


@dataclass(frozen=True)
class Message:
    """One chat message. `marked` holds a numbered placeholder for each inserted text."""

    role: Literal["system", "user"]
    marked: str


@dataclass(frozen=True)
class Prompt:
    """Chat messages with placeholders, the `inserted` texts that replace them (with escaped tags, see
    `judge_r1.episode.tags`), and the `names` of these texts. With `one_message`, a model gets them as one user message.

    Raises:
        BadText: An inserted text is not valid Unicode.
    """

    messages: tuple[Message, ...]
    inserted: tuple[str, ...]
    names: tuple[str, ...] = ()
    one_message: bool = False

    def __post_init__(self) -> None:
        for number, text in enumerate(self.inserted):
            check_unicode(text, self.names[number] if self.names else f"text {number + 1} of a prompt")

    @property
    def turns(self) -> tuple[Message, ...]:
        """The messages that a model gets. The parts of one message are joined as LLaMA-Factory joins the instruction
        and the input of Table 6."""
        if not self.one_message:
            return self.messages
        return (Message("user", "\n".join(message.marked for message in self.messages)),)

    def pieces(self, rendered: str) -> Iterator[tuple[str, bool]]:
        """Splits a rendered chat template into (text, is it inserted)."""
        return ((text, number is not None) for _, text, number in self.numbered_pieces(rendered))

    def numbered_pieces(self, rendered: str) -> Iterator[tuple[int, str, int | None]]:
        """Splits it into (start in `rendered`, text, number of the inserted text or None)."""
        start = 0
        for mark in _MARK.finditer(rendered):
            if mark.start() > start:
                yield start, rendered[start : mark.start()], None
            yield mark.start(), self.inserted[int(mark[1])], int(mark[1])
            start = mark.end()
        if start < len(rendered):
            yield start, rendered[start:], None

    def chat(self) -> list[dict[str, str]]:
        """Plain messages for chat models and exports."""
        return [{"role": turn.role, "content": self.filled(turn)} for turn in self.turns]

    def filled(self, message: Message) -> str:
        """The text of a message with the inserted texts."""
        return "".join(text for text, _ in self.pieces(message.marked))


def judge_prompt(
    pair: ReasoningPair, case: Case, *, context: ContextMode, searches: int, style: str = "standard"
) -> Prompt:
    """The prompt to judge a pair."""
    return pairwise_prompt(pairwise_task(pair, case), context=context, searches=searches, style=style)


def pairwise_prompt(
    task: PairwiseTask,
    *,
    context: ContextMode,
    searches: int,
    style: str = "standard",
    tools: Mapping[str, ToolBudget] | None = None,
) -> Prompt:
    """The prompt to compare two candidates (structure of the paper's Tables 8 and 11).

    The system message has the task, the six principles, the output format, the search tool if `searches` > 0, and the
    `tools`. The user message has the case (its context only if `context` is "full") and the two candidates, after the
    task's examples. The task's passages replace the context. `style` selects the template files: a style may have
    another system message for tasks without a case.
    """
    check_domain(task.domain)
    lead = LEADS.get(task.domain, f"reasonings from the domain {task.domain!r} about the same case")
    base, style = style, style_of(task, style)
    if is_file(style):
        return _prompt_of_file(task, context, style, lead)
    search = _fill(_own_file(base, "search"), {"searches": str(searches)}) if searches else ""
    if tools:
        search = "\n".join(filter(None, (search, _described_tools(base, tools))))
    has_case = bool(task.case_id or task.context or task.passages)
    named, without = principles(style, has_case=has_case), f"{_own_file(style, 'system')}_without_case"
    system = _fill(
        without if not has_case and _exists(without) else _own_file(style, "system"),
        {
            "lead": lead,
            "principles": named,
            "search": search,
            "domain": task.domain,
            "count": str(len(task.candidates)),
        },
    )
    fields = {"decision": task.decision, **_candidates(task, style)}
    asked = "The request" if task.domain == GENERAL else f"Decision reached{' in this case' if has_case else ''}"
    if task.passages:
        shown: str | None = _GAP.join(passage.text for passage in task.passages)
    else:
        shown = task.context if context == "full" and task.context else None
    context_file = "retrieved" if task.passages else style
    if style == TABLE6 and shown is not None and not task.passages:
        fields["case_id"] = task.case_id or ""
    escape = grammar(tools=bool(tools)).escape
    return _prompt(
        style, system, fields, shown, asked, context_file=context_file, examples=task.examples, escape=escape
    )


def _described_tools(style: str, tools: Mapping[str, ToolBudget]) -> str:
    """The text that offers tools: their names, what they do, and how often each may be called."""
    compact = style.startswith("compact")
    lines = [
        f"{name} {tool.max_calls}" if compact else f"{name}: {TOOLS.get(name).help}; {tool.max_calls} calls"
        for name, tool in tools.items()
    ]
    return _fill(_file_of(style, "tools"), {"tools": (" " if compact else "\n").join(lines)})


def style_of(task: PairwiseTask, style: str) -> str:
    """The style that shows the task's candidates: that of `score` or `list` for one or several, which `standard` and
    `compact` have. Raises: JudgeError for another style."""
    if task.form == "pair":
        return style
    if style not in (STANDARD, COMPACT):
        shown = "one alone" if task.form == "score" else "a list"
        raise JudgeError(
            f"the prompt {style!r} compares two candidates: to show {shown}, set prompt to {STANDARD} or {COMPACT}"
        )
    return task.form if style == STANDARD else f"{style}-{task.form}"


def is_file(style: str) -> bool:
    """Whether a style is a template in a file of the user instead of one of this package."""
    return style.endswith(".txt")


@cache
def file_template(file: str) -> Template:
    """The template in a file of the user. Raises: JudgeError for an unknown or missing field."""
    return read_template(Path(file), FILE_FIELDS, [("reasoning_a",), ("reasoning_b",)])


def _prompt_of_file(task: PairwiseTask, context: ContextMode, file: str, lead: str) -> Prompt:
    """One user message: the template with the texts of the task. Without a context its field is empty."""
    shown = _GAP.join(passage.text for passage in task.passages) if task.passages else task.context
    case = shown if (context == "full" or task.passages) and shown else ""
    fields = {"context": case, "decision": task.decision, **_candidates(task, DIRECT)}
    marks = {name: f"\ue000{number}\ue001" for number, name in enumerate(fields)}
    own = {"principles": principles(DIRECT, has_case=bool(case or task.case_id)), "domain": task.domain, "lead": lead}
    message = Message("user", file_template(file).substitute(own, **marks))
    return Prompt((message,), tuple(escape_tags(text) for text in fields.values()), tuple(fields))


def _candidates(task: PairwiseTask, style: str) -> dict[str, str]:
    """The texts of the two candidates by the names of their fields."""
    if style == CONVERSATIONS and task.conversations is None:
        raise JudgeError(f"the prompt {style!r} is about two conversations, and these candidates are none")
    if task.form == "score":
        return {"reasoning": task.reasoning_a}
    if task.form == "list":
        return {f"reasoning_{number}": text for number, text in enumerate(task.candidates, 1)}
    return {"reasoning_a": task.reasoning_a, "reasoning_b": task.reasoning_b}


def table11_answer(judgment: Judgment) -> str:
    """A judgment as the JSON of the paper's Table 11."""
    worse = "B" if judgment.comparison == "A>B" else "A"
    names = " and ".join(by_number(number).name for number in judgment.violated_principles)
    answer = {"comparison": judgment.comparison, "violated_principles": list(judgment.violated_principles)}
    return json.dumps({**answer, "explanation": f"{worse} breaks {names}."})


def reasoning_prompt(case: Case, *, context: ContextMode) -> Prompt:
    """The prompt to write the reasoning of a case, to which the two reasonings of a pair are the preferred and the
    rejected response (paper, appendix D)."""
    check_domain(case.domain)
    system = _fill("reasoning_system", {"domain": case.domain, "principles": principles("reasoning")})
    return _prompt("reasoning", system, {"decision": case.decision}, case.context if context == "full" else None)


def violations_prompt(case: Case, reasoning: str, *, context: ContextMode) -> Prompt:
    """The prompt to name the principles that one reasoning violates: one user message with the principles, the
    reasoning and the case (paper, Table 7)."""
    check_domain(case.domain)
    system = _fill("violations_system", {"domain": case.domain, "principles": principles("violations")})
    shown = case.context if context == "full" else None
    return replace(_prompt("violations", system, {"reasoning": reasoning}, shown), one_message=True)


def rating_prompt(request: str, answer: str) -> Prompt:
    """The prompt to rate one answer from 1 to 10, in a last line `Rating: N`."""
    return plain_prompt("rating", {"request": request, "answer": answer})


def best_prompt(request: str, answers: Sequence[str]) -> Prompt:
    """The prompt to choose the best of several answers, in a last line `Best: N`."""
    fields = {"request": request, **{f"reasoning_{number}": text for number, text in enumerate(answers, 1)}}
    return _prompt("best", _fill("best_system", {"count": str(len(answers))}), fields, None)


def plain_prompt(style: str, fields: Mapping[str, str], *, asked: str = "") -> Prompt:
    """A prompt from the templates `STYLE_system.txt` and `STYLE_user.txt`; the user message shows `fields`. `asked`
    names a template whose text it has in the place `$asked`."""
    return _prompt(style, _fill(f"{style}_system", {}), dict(fields), None, _fill(asked, {}) if asked else "")


def user_prompt(text: str) -> Prompt:
    """A prompt that is one user message, such as an instruction that a model answers."""
    return Prompt((Message("user", "\ue0000\ue001"),), (escape_tags(text),), ("instruction",))


def template_hash(*names: str) -> str:
    """Identifies the wording of templates, so that results name the prompt that they were made with."""
    return content_hash(*(_template(name).template for name in names))


def _prompt(
    style: str,
    system: str,
    fields: dict[str, str],
    context: str | None,
    asked: str = "",
    *,
    context_file: str | None = None,
    examples: Sequence[tuple[str, ReasoningPair]] = (),
    escape: Callable[[str], str] = escape_tags,
) -> Prompt:
    if context is not None:
        fields = {**fields, "context": context}
    for number, (decision, pair) in enumerate(examples, 1):
        texts = {"decision": decision, "reasoning_a": pair.reasoning_a, "reasoning_b": pair.reasoning_b}
        fields = {**fields, **{f"example_{number}_{name}": text for name, text in texts.items()}}
    # Only placeholders go through the templates, so a `$name` or a placeholder inside a case stays text.
    marks = {name: f"\ue000{number}\ue001" for number, name in enumerate(fields)}
    shown = "" if context is None else _fill(_file_of(context_file or style, "context"), marks)
    listed = [
        f"{number}:\n{marks[name]}" for number in range(1, len(marks) + 1) if (name := f"reasoning_{number}") in marks
    ]
    user = _fill(
        _file_of(style, "user"), {**marks, "context": shown, "asked": asked, "reasonings": "\n\n".join(listed)}
    )
    if examples:
        user = f"{_examples(examples, marks, asked)}\n\n{user}"
    return Prompt(
        messages=(Message("system", system), Message("user", user)),
        inserted=tuple(escape(text) for text in fields.values()),
        names=tuple(fields),
        one_message=style == TABLE6,
    )


def _examples(examples: Sequence[tuple[str, ReasoningPair]], marks: Mapping[str, str], asked: str) -> str:
    parts = []
    for number, (_, pair) in enumerate(examples, 1):
        texts = {name: marks[f"example_{number}_{name}"] for name in ("decision", "reasoning_a", "reasoning_b")}
        parts.append(
            _fill("example", {**texts, "number": str(number), "asked": asked, "answer": table11_answer(pair.gold)})
        )
    return _fill("examples", {"examples": "\n\n".join(parts)})


@cache
def pairwise_styles() -> tuple[str, ...]:
    """The styles of `pairwise_prompt`: those whose user message has two candidates."""
    named = re.compile(r"(.+)_(?:system|user)\.txt")
    styles = {match[1] for file in files(__name__).iterdir() if (match := named.fullmatch(file.name))}
    return tuple(sorted(style for style in styles if "$reasoning_a" in _template(_file_of(style, "user")).template))


def describes_search(style: str) -> bool:
    """Whether prompts of this style can offer searches and tools."""
    return _exists(_own_file(style, "search"))


def principles(style: str, *, has_case: bool = True) -> str:
    """The text of the principles in a style: its own file if it has one, else their names and definitions. The style
    for conversations has the types of problems instead."""
    if style == CONVERSATIONS:
        return problem_list()
    if _exists(own := _own_file(style, "principles")):
        return _fill(own, {})
    texts = [p.definition if has_case else p.without_case or p.definition for p in PRINCIPLES]
    return "\n".join(f"{p.number}. {p.name}: {text}" for p, text in zip(PRINCIPLES, texts, strict=True))


def _file_of(style: str, part: str) -> str:
    """The template of a part of the prompt: the style's own if it has one, else that of the standard style."""
    own = _own_file(style, part)
    return own if _exists(own) else f"standard_{part}"


def _own_file(style: str, part: str) -> str:
    """The name of a style's template, which may not exist. Styles `compact-…` share what they do not have with
    `compact`."""
    own = f"{style}_{part}"
    return f"compact_{part}" if style.startswith("compact-") and not _exists(own) else own


@cache
def _exists(name: str) -> bool:
    return files(__name__).joinpath(f"{name}.txt").is_file()


def _fill(name: str, fields: Mapping[str, str]) -> str:
    return _template(name).substitute(fields).strip("\n")


@cache
def _template(name: str) -> Template:
    file = files(__name__) / f"{name}.txt"
    if not file.is_file():
        raise JudgeError(f"no prompt template {name!r} in judge_r1/episode/prompts")
    return Template(file.read_text(encoding="utf-8"))
