"""The judges of long documents: `memo` reads in sections and keeps notes, `document` reads everything at once.

    memo:scan=2000,overlap=0.1,aggregate=char_mean@MODEL
    document:form=v6-3@MODEL

A single candidate gets a checklist of scores by metric. Two candidates are compared by the mean of their scores, or
with `aggregate=final_judge` by a last call that reads both reports. The judgment holds the memory of each candidate.

`MemoryStore` keeps memories by document and settings, in the process and optionally in a folder: the requests of a
benchmark share documents (both orders, pairs with a common candidate, samples at temperature 0).
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from pydantic import ValidationError

from judge_r1.core.errors import JudgeError, explain
from judge_r1.core.memory import DocumentMemory, text_hash
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import INFRASTRUCTURE, Trajectory, Turn
from judge_r1.core.verdicts import (
    CONTEXT_OVERFLOW,
    PROMPT_TOO_LONG,
    InvalidVerdict,
    Judgment,
    Verdict,
    preference,
)
from judge_r1.episode.tags import escape_tags
from judge_r1.files.jsonl import write_json
from judge_r1.files.yaml_config import read_options
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, JudgeOutput
from judge_r1.judges.memo.aggregate import FINAL, scores_verdict
from judge_r1.judges.memo.config import MemoConfig
from judge_r1.judges.memo.parser import parse_comparison
from judge_r1.judges.memo.pipeline import NOT_GIVEN, CallFailed, Pipeline, Work
from judge_r1.judges.memo.prompts import pair_prompt
from judge_r1.judges.memo.text_model import TextModel, open_text_model
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.judges.runners import as_finished

NO_VERDICT = "no_verdict"
_CAUSES = {CONTEXT_OVERFLOW: PROMPT_TOO_LONG, "length": "turn_budget"}
"""Finish reason of the answers that lack a score or a verdict -> reason of the invalid verdict."""


KEPT = 1_000
"""Memories that stay in the process: a server meets new documents without end."""


class BadMemory(JudgeError):
    """A stored memory cannot be read, or none can be stored."""


class MemoryStore:
    """`identity` is the model and everything else that notes depend on, besides document, task and seed: other settings
    never share a memory.

    Raises: BadMemory if `folder` cannot be made.
    """

    def __init__(self, folder: Path | None, identity: dict[str, Any]) -> None:
        self._folder, self._identity = folder, content_hash(identity)
        # Made now: an unusable folder is reported before the first document is paid for.
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadMemory(f"{folder} cannot be the folder of memories ({error.strerror}): choose another") from None
        self._known: OrderedDict[str, DocumentMemory] = OrderedDict()
        # Weak: a lock lives as long as a request holds or awaits it. If the first request that ends removed it, a
        # newcomer would make the memory beside one that has waited.
        self._making: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.reused = 0

    async def get(
        self, text: str, task: str, seed: int, make: Callable[[], Awaitable[DocumentMemory]]
    ) -> DocumentMemory:
        """The memory of a document, made once even if several requests ask for it at the same time.

        Raises: what `make` raises, and nothing is kept then; BadMemory for a damaged file.
        """
        key = content_hash(text_hash(text), task, seed, self._identity, length=32)
        async with self._making.setdefault(key, asyncio.Lock()):
            if key not in self._known and (stored := self._read(key)) is not None:
                self._keep(key, stored)
            if key in self._known:
                self.reused += 1
                self._known.move_to_end(key)
                return self._known[key]
            memory = await make()
            self._keep(key, memory)
            if self._folder is not None:
                write_json(self._folder / f"{key}.json", memory.model_dump(mode="json"))
            return memory

    def _keep(self, key: str, memory: DocumentMemory) -> None:
        """Adds a memory and evicts the least recently used ones."""
        self._known[key] = memory
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    def _read(self, key: str) -> DocumentMemory | None:
        path = None if self._folder is None else self._folder / f"{key}.json"
        if path is None or not path.is_file():
            return None
        # A damaged file is an error: to make the memory again in silence would cost the calls that the folder saves.
        try:
            return DocumentMemory.model_validate_json(path.read_bytes())
        except OSError as error:
            raise BadMemory(f"{path} cannot be read: {error.strerror}") from None
        except ValidationError as error:
            raise BadMemory(f"{path} is no memory ({explain(error)}): remove the file") from None


class MemoJudge:
    """Rates the candidates of each request on its metrics. `whole` reads each candidate as one section, without a
    final call."""

    def __init__(self, build: JudgeBuild, config: MemoConfig, *, whole: bool = False) -> None:
        kind = "document" if whole else "memo"
        self._opened, self.model, counter = open_text_model(build, config, kind)
        self.config, self._concurrency, self._whole = config, build.batch_size, whole
        self.pipeline = Pipeline(config, counter, whole=whole)
        self.name = f"{kind}@{self._opened.name}"
        sampling = {"temperature": build.sampling.temperature, "seed": build.sampling.seed}
        # Where notes are kept and how long a request may take change no answer.
        options = config.model_dump(mode="json", exclude={"memory", "timeout"})
        self.settings: dict[str, Any] = {**sampling, **options, "unit": counter.unit}
        identity = {
            "model": self._opened.identity,
            "temperature": build.sampling.temperature,
            "tokenizer": config.tokenizer,
            **self.pipeline.settings,
        }
        self.store = MemoryStore(config.memory, identity)

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        """Raises: BadJudge for a blank candidate, which has no sections."""
        for request in requests:
            for index in request.order:
                if not request.item.texts[index].strip():
                    raise BadJudge(f"{self.name}: candidate {index + 1} of item {request.item.item_id} is blank")

    def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        return as_finished(self.name, requests, self._one, self._concurrency)

    def close(self) -> None:
        self._opened.close()

    async def memories(self, model: TextModel, request: JudgeRequest, work: Work) -> list[DocumentMemory]:
        """The memory of each candidate in the order shown. Raises: CallFailed."""
        task = _task_of(request)

        async def one(text: str) -> DocumentMemory:
            return await self.store.get(text, task, model.seed, lambda: self.pipeline.remember(model, text, task, work))

        return [await one(request.item.texts[index]) for index in request.order]

    async def _one(self, request: JudgeRequest) -> JudgeOutput:
        work, model = Work(), self.model.of_sample(request.sample)
        try:
            memories = await self.memories(model, request, work)
            trajectory, memories = await self._verdict(model, request, memories, work)
        except CallFailed as failure:
            trajectory = Trajectory.without_ids(f"{INFRASTRUCTURE}{failure}", _turns(work), detail=failure.detail)
            return JudgeOutput(request, trajectory, InvalidVerdict(reason=trajectory.ended), usage=work.usage.as_dict())
        counts = {
            "sections": float(sum(len(memory.sections) for memory in memories)),
            "truncated_sections": float(sum(memory.truncated for memory in memories)),
            "missing_scores": float(sum(memory.missing_scores for memory in memories)),
            "constrained_scores": float(sum(memory.constrained_scores for memory in memories)),
        }
        judgment = trajectory.judgment
        verdict = judgment.verdict if judgment else InvalidVerdict(reason=trajectory.ended)
        usage = work.usage.as_dict() | counts
        return JudgeOutput(request, trajectory, verdict, usage=usage, memory=tuple(memories))

    async def _verdict(
        self, model: TextModel, request: JudgeRequest, memories: list[DocumentMemory], work: Work
    ) -> tuple[Trajectory, list[DocumentMemory]]:
        """The trajectory, and the memories with the scores of their final calls."""
        config, task = self.config, _task_of(request)
        texts = [request.item.texts[index] for index in request.order]
        worse_in: list[str] | None = None
        verdict: Verdict
        if len(texts) == 2 and config.aggregate == FINAL:
            verdict, worse_in = await self._compare(model, texts, memories, task, work)
        else:
            if config.final and not self._whole:
                memories = [
                    await self.pipeline.conclude(model, text, memory, task, work)
                    for text, memory in zip(texts, memories, strict=True)
                ]
            verdict = scores_verdict([memory.aggregates[config.aggregate] for memory in memories])
        if isinstance(verdict, InvalidVerdict):
            reason = self._why_invalid(verdict, memories, work)
            return Trajectory.without_ids(reason, _turns(work)), memories
        judgment = Judgment(
            verdict=verdict,
            violated_principles=self._violated(verdict, memories, worse_in),
            explanation="\n".join(self.pipeline.report(memory) for memory in memories),
            memory=tuple(memories),
        )
        return Trajectory.without_ids("answer", _turns(work), judgment), memories

    async def _compare(
        self, model: TextModel, texts: Sequence[str], memories: Sequence[DocumentMemory], task: str, work: Work
    ) -> tuple[Verdict, list[str] | None]:
        """The better document by a call that reads both reports, and the metrics in which the other one is worse."""
        prompt = pair_prompt(
            [self.pipeline.report(memory) for memory in memories],
            self.pipeline.metrics,
            self.pipeline.form,
            documents=texts if self.config.report == "report_original" else (),
            summaries=[memory.summary or NOT_GIVEN for memory in memories if self.config.report == "report_summary"],
            task=task,
        )
        [answer] = await model.complete([prompt], self.config.max_tokens)
        work.add([answer])
        verdict, worse_in = parse_comparison(answer.text, self.pipeline.metrics)
        return (verdict, worse_in) if verdict else (InvalidVerdict(reason=NO_VERDICT), None)

    def _why_invalid(self, verdict: InvalidVerdict, memories: Sequence[DocumentMemory], work: Work) -> str:
        """What all answers that lack a score have in common, such as a prompt that does not fit."""
        ended = {section.ended for memory in memories for section in memory.sections}
        if self.config.aggregate == FINAL:
            ended = {work.ended}
        return _CAUSES.get(ended.pop(), verdict.reason) if len(ended) == 1 else verdict.reason

    def _violated(
        self, verdict: Verdict, memories: Sequence[DocumentMemory], worse_in: Sequence[str] | None
    ) -> tuple[int, ...]:
        """The principles among the metrics in which the worse of two candidates scores lower, or that were named."""
        winner = preference(verdict)
        if winner not in ("A", "B"):
            return ()
        if worse_in is None:
            first, second = (memory.aggregates[self.config.aggregate] for memory in memories)
            better, worse = (first, second) if winner == "A" else (second, first)
            worse_in = [name for name, score in better.items() if _is_lower(worse[name], score)]
        numbers = {metric.principle for metric in self.pipeline.metrics if metric.name in worse_in}
        return tuple(sorted(number for number in numbers if number is not None))


def _is_lower(one: float | None, other: float | None) -> bool:
    """Whether a score is lower than another one. A missing score is not."""
    return one is not None and other is not None and one < other


def _task_of(request: JudgeRequest) -> str:
    """What the candidates were written for. A benchmark's own prompt says it in its own words."""
    return request.item.instruction if isinstance(request.task, CustomPrompt) else request.task.decision


def _turns(work: Work) -> list[Turn]:
    return [Turn(text=escape_tags(answer)) for answer in work.answers]


_WHOLE = (
    "metrics", "form", "max_tokens", "retries", "constrain", "thinking", "switch", "memory", "tokenizer", "token_field",
    "timeout",
)  # fmt: skip
"""The options of a judge that reads a document as a whole."""


def _make_memo(build: JudgeBuild) -> Judge:
    return MemoJudge(build, read_options(MemoConfig, build.options, "judge memo"))


def _make_document(build: JudgeBuild) -> Judge:
    for option in build.options:
        if (name := option.partition("=")[0]) not in _WHOLE:
            raise BadJudge(f"judge document has no option {name!r}; it has {', '.join(_WHOLE)}")
    config = read_options(MemoConfig, ("final=false", *build.options), "judge document")
    return MemoJudge(build, config, whole=True)


JUDGES.register("memo")(
    JudgeKind(
        "reads long candidates in sections, keeps notes and rates them on any metrics; a folder, a hub name, "
        "bundled:NAME, URL#MODEL (chat) or vllm:URL#MODEL (token ids)",
        _make_memo,
    )
)
JUDGES.register("document")(
    JudgeKind(
        "rates each candidate on any metrics, in one prompt with the whole text; models as for memo", _make_document
    )
)
