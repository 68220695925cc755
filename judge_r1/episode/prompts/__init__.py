"""Prompts as files: `$name` fields in `*.txt`, filled here. What comes from others is marked, never mixed in.

A `Prompt` keeps inserted text (case, reasonings) apart from ours until the last moment, so that a token backend can
encode the two differently and a chat backend can send the plain text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Literal

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import GENERAL, PRINCIPLES
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.tags import escape_tags
from judge_r1.episode.task import PairwiseTask, pairwise_task

ContextMode = Literal["full", "none"]
TABLE6 = "table6"
"""The prompt whose answer is the two lines of the paper's Table 6, without tags."""
DIRECT = "direct"
"""The prompt whose answer is the JSON of the paper's Table 11, without tags."""
_MARK = re.compile("\ue000(\\d+)\ue001")


LEADS = {
    "medical": "medical reasonings (diagnosis or treatment) about the same patient",
    "legal": "legal analyses of the same case",
    "academic": "reviews of the same research paper",
    GENERAL: "answers to the same request",
}


@dataclass(frozen=True)
class Message:
    """One chat message; in `marked` every inserted text is a mark that numbers it."""

    role: Literal["system", "user"]
    marked: str


@dataclass(frozen=True)
class Prompt:
    """Chat messages and the inserted texts that their marks stand for (neutralised: see `judge_r1.episode.tags`);
    `names` says
    what each of these texts is."""

    messages: tuple[Message, ...]
    inserted: tuple[str, ...]
    names: tuple[str, ...] = ()

    def pieces(self, rendered: str) -> Iterator[tuple[str, bool]]:
        """A rendered chat template as (text, is it inserted), in order."""
        return ((text, number is not None) for _, text, number in self.numbered_pieces(rendered))

    def numbered_pieces(self, rendered: str) -> Iterator[tuple[int, str, int | None]]:
        """The same as (where it begins in `rendered`, text, number of the inserted text or None)."""
        at = 0
        for mark in _MARK.finditer(rendered):
            if mark.start() > at:
                yield at, rendered[at : mark.start()], None
            yield mark.start(), self.inserted[int(mark[1])], int(mark[1])
            at = mark.end()
        if at < len(rendered):
            yield at, rendered[at:], None

    def chat(self) -> list[dict[str, str]]:
        """Plain messages for chat backends and exports."""
        return [{"role": m.role, "content": "".join(t for t, _ in self.pieces(m.marked))} for m in self.messages]


def judge_prompt(
    pair: ReasoningPair, case: Case, *, context: ContextMode, searches: int, style: str = "standard"
) -> Prompt:
    """The prompt of one judgment of a pair."""
    return pairwise_prompt(pairwise_task(pair, case), context=context, searches=searches, style=style)


def pairwise_prompt(question: PairwiseTask, *, context: ContextMode, searches: int, style: str = "standard") -> Prompt:
    """The prompt of one judgment (structure of the paper's Tables 8 and 11).

    system = task, six principles, output contract, and the search tool if `searches` > 0; user = case (its context
    only if `context` is "full" and there is one) and the two candidates. `style` names the pair of template files.
    """
    lead = LEADS.get(question.domain, f"reasonings from the domain {question.domain!r} about the same case")
    search = _fill(f"{style}_search", {"searches": str(searches)}) if searches else ""
    system = _fill(
        f"{style}_system", {"lead": lead, "principles": principles(style), "search": search, "domain": question.domain}
    )
    fields = {
        "decision": question.decision,
        "reasoning_a": question.reasoning_a,
        "reasoning_b": question.reasoning_b,
    }
    asked = "The request" if question.domain == GENERAL else "Decision reached in this case"
    return _prompt(style, system, fields, question.context if context == "full" and question.context else None, asked)


def reasoning_prompt(case: Case, *, context: ContextMode) -> Prompt:
    """The prompt that asks for the reasoning of a case itself: its two reasonings are then a preference between two
    answers (structure of the paper's Table 7)."""
    system = _fill("reasoning_system", {"domain": case.domain, "principles": principles("reasoning")})
    return _prompt("reasoning", system, {"decision": case.decision}, case.context if context == "full" else None)


def rating_prompt(request: str, answer: str) -> Prompt:
    """The prompt that asks for a rating of one answer, from 1 to 10, in a last line `Rating: N`."""
    return _prompt("rating", _fill("rating_system", {}), {"request": request, "answer": answer}, None)


def _prompt(style: str, system: str, fields: dict[str, str], context: str | None, asked: str = "") -> Prompt:
    if context is not None:
        fields = {**fields, "context": context}
    marks = {name: f"\ue000{at}\ue001" for at, name in enumerate(fields)}
    shown = "" if context is None else _fill(f"{style}_context", {"context": marks["context"]})
    user = _fill(f"{style}_user", {**marks, "context": shown, "asked": asked})
    return Prompt(
        messages=(Message("system", system), Message("user", user)),
        inserted=tuple(escape_tags(text) for text in fields.values()),
        names=tuple(fields),
    )


def principles(style: str) -> str:
    """The principles as the prompts of a style say them: with names and definitions unless it has words of its own."""
    if files(__name__).joinpath(f"{style}_principles.txt").is_file():
        return _fill(f"{style}_principles", {})
    return "\n".join(f"{p.number}. {p.name}: {p.definition}" for p in PRINCIPLES)


def _fill(name: str, fields: Mapping[str, str]) -> str:
    return _template(name).substitute(fields).strip("\n")


@cache
def _template(name: str) -> Template:
    file = files(__name__) / f"{name}.txt"
    if not file.is_file():
        raise JudgeError(f"there is no prompt template {name!r} in judge_r1/episode/prompts")
    return Template(file.read_text(encoding="utf-8"))
