"""Answers a checklist question by question from passages of the text: the text is the case that is searched.

For each question the model writes queries, the passages that they find are shown, and the model answers with a score,
a reason and the number of the passage that decides. The text itself is never in a prompt, so it may be longer than the
model's context. A text is searched alone, never together with others.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from judge_r1.core.checklist import Criterion
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import INFRASTRUCTURE, Turn
from judge_r1.core.verdicts import ChecklistVerdict, Evidence, InvalidVerdict, ScoresVerdict, Verdict
from judge_r1.episode.answer_text import answer_text
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.parsing import is_text
from judge_r1.episode.prompts import plain_prompt, template_hash
from judge_r1.episode.readable_json import readable_values
from judge_r1.judges.base import Judge, JudgeOutput, joined_output
from judge_r1.judges.checklist.task import ChecklistTask, read_one_score, write_answer, write_queries
from judge_r1.judges.request import CustomPrompt, JudgeRequest, any_text
from retrieval.words import count_words

_QUERY, _ITEM = "checklist-query", "checklist-item"
_NUMBERING = re.compile(r"^\W*(?:\d+[.)]|[-*•])?\s*")
_QUERY_WORDS = 40


def search_prompt_hash() -> str:
    """Identifies the wording of the two prompts of a question."""
    return template_hash(*(f"{style}_{part}" for style in (_QUERY, _ITEM) for part in ("system", "user")))


class SearchedChecklist:
    """`queries` is the largest number of searches for one question."""

    def __init__(self, config: EpisodeConfig, queries: int) -> None:
        self._config = config.model_copy(update={"search": True})
        self._queries = queries
        self._searcher: CaseSearcher | None = None
        """That of the last batch. An embedder is unloaded with its last retriever, and a batch would load it again."""

    async def judge(self, judge: Judge, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """All questions of all requests together: one round of queries, the searches, and one round of answers."""
        cells = [
            _Cell(request, number) for request in requests for number in range(len(_task(request).checklist.criteria))
        ]
        texts = {content_hash(_task(request).response): _task(request).response for request in requests}
        searcher = self._searcher = await asyncio.to_thread(CaseSearcher, texts, self._config)
        await asyncio.to_thread(searcher.prepare, list(texts))
        await self._round(judge, cells, [cell.query_request(self._queries) for cell in cells], _Cell.add_query)
        asked = [cell for cell in cells if cell.failed is None]
        for cell in asked:
            case_id = content_hash(_task(cell.request).response)
            # A model that writes no query, such as one that answers at once, still gets passages to answer from.
            cell.queries = _queries(cell.outputs[0], self._queries) or [cell.criterion.question]
            wanted = [(case_id, query) for query in cell.queries]
            found = await asyncio.to_thread(searcher.search, wanted, searcher.top_k)
            cell.passages = tuple({passage.start: passage for hits in found for passage in hits}.values())
        await self._round(judge, asked, [cell.item_request() for cell in asked], _Cell.add_answer)
        for request in requests:
            yield _output(request, [cell for cell in cells if cell.request is request])

    async def _round(self, judge: Judge, cells: Sequence["_Cell"], requests: Sequence[JudgeRequest], add: Any) -> None:
        by_key = {request.key: cell for request, cell in zip(requests, cells, strict=True)}
        if not by_key:
            return
        judge.check(requests)
        async with aclosing(judge.judge(requests)) as outputs:  # type: ignore[type-var]
            async for output in outputs:
                add(by_key[output.request.key], output)


class _Cell:
    """One question about one text."""

    def __init__(self, request: JudgeRequest, number: int) -> None:
        self.request, self.number = request, number
        self.criterion: Criterion = _task(request).checklist.criteria[number]
        self.queries: list[str] = []
        self.passages: tuple[Evidence, ...] = ()
        self.turns: list[Turn] = []
        self.outputs: list[JudgeOutput] = []
        self.failed: str | None = None
        """The reason why there is no answer."""
        self.score, self.reason = 0.0, ""
        self.cited: Evidence | None = None

    def query_request(self, most: int) -> JudgeRequest:
        fields = {"instruction": _task(self.request).instruction, "question": self.criterion.question}
        form = partial(write_queries, count=most)
        return self._request("query", CustomPrompt(plain_prompt(_QUERY, fields), any_text, form=form))

    def add_query(self, output: JudgeOutput) -> None:
        """A cut answer still has its first lines; without any text there is nothing to search for."""
        self._add(output)
        if not output.trajectory.turns:
            self.failed = output.trajectory.ended

    def item_request(self) -> JudgeRequest:
        shown = "\n\n".join(f"[{n}] {passage.text}" for n, passage in enumerate(self.passages, 1))
        choices = self.criterion.choices
        levels = [f"{level:g}" for level in self.criterion.levels]
        fields = {
            "instruction": _task(self.request).instruction,
            "words": str(count_words(_task(self.request).response)),
            "passages": shown or "(none)",
            "question": self.criterion.question,
            "levels": ", ".join(f"{n} ({c})" for n, c in zip(levels, choices, strict=True))
            if choices
            else ", ".join(levels),
        }
        read = partial(read_one_score, levels=self.criterion.levels)
        form = partial(write_answer, levels=self.criterion.levels, passages=len(self.passages))
        return self._request("answer", CustomPrompt(plain_prompt(_ITEM, fields), read, form=form))

    def add_answer(self, output: JudgeOutput) -> None:
        self._add(output, query="; ".join(self.queries), passages=self.passages)
        if not isinstance(output.verdict, ScoresVerdict):
            self.failed = output.verdict.reason if isinstance(output.verdict, InvalidVerdict) else "bad_score"
            return
        answer = readable_values(answer_text(output.trajectory.turns[-1].text))[-1]
        number, reason = answer.get("passage"), answer.get("reason")
        self.score, self.reason = output.verdict.scores[0], reason.strip() if is_text(reason) else ""
        # A number of a passage that was not shown is left out: it is evidence that the model made up.
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(self.passages):
            self.cited = self.passages[number - 1]

    def _request(self, part: str, task: CustomPrompt) -> JudgeRequest:
        item = self.request.item
        own = item.model_copy(update={"item_id": f"{item.item_id}/question-{self.number}/{part}"})
        return replace(self.request, item=own, task=task)

    def _add(self, output: JudgeOutput, query: str | None = None, passages: tuple[Evidence, ...] = ()) -> None:
        self.outputs.append(output)
        if output.trajectory.infrastructure_failed:
            self.failed = output.trajectory.ended
        if output.trajectory.turns:
            last = output.trajectory.turns[-1]
            self.turns.append(last.model_copy(update={"query": query, "passages": passages}))


def _output(request: JudgeRequest, cells: Sequence[_Cell]) -> JudgeOutput:
    # Those of the infrastructure first: they are asked again on resume, and do not count against the judge.
    failed = sorted((cell.failed for cell in cells if cell.failed), key=lambda why: not why.startswith(INFRASTRUCTURE))
    if failed:
        verdict: Verdict = InvalidVerdict(reason=failed[0])
    else:
        verdict = ChecklistVerdict(
            scores={str(cell.number): cell.score for cell in cells},
            reasons={str(cell.number): cell.reason for cell in cells if cell.reason},
            cited={str(cell.number): (cell.cited.start, cell.cited.end) for cell in cells if cell.cited},
        )
    outputs = [output for cell in cells for output in cell.outputs]
    return joined_output(request, outputs, verdict, [turn for cell in cells for turn in cell.turns])


def _queries(output: JudgeOutput, most: int) -> list[str]:
    """The lines of an answer as queries, without numbering."""
    lines = answer_text(output.trajectory.turns[-1].text).splitlines()
    written = [" ".join(_NUMBERING.sub("", line).split()[:_QUERY_WORDS]) for line in lines]
    return list(dict.fromkeys(query for query in written if query))[:most]


def _task(request: JudgeRequest) -> ChecklistTask:
    assert isinstance(request.task, ChecklistTask)
    return request.task
