"""The agentic judge that searches its notes: `memo-search:index=both@MODEL` compares two long documents.

The memory of each candidate is made as by `memo`. Notes and sentences become the text of a case of their own, and the
agentic judge searches it instead of reading the candidates. `index=document` makes no notes: plain agentic search.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, get_args

from judge_r1.core.memory import DocumentMemory
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import INFRASTRUCTURE, Trajectory
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.yaml_config import read_options
from judge_r1.judges.agentic import AgenticJudge, episode_config
from judge_r1.judges.backend_spec import judge_of_backend, split_options, with_defaults
from judge_r1.judges.base import (
    JUDGES,
    BadJudge,
    Judge,
    JudgeBuild,
    JudgeKind,
    JudgeOutput,
    close_all,
    pairs_only_message,
    usage_of,
)
from judge_r1.judges.memo.config import MemoConfig
from judge_r1.judges.memo.judge import MemoJudge
from judge_r1.judges.memo.pipeline import NOT_GIVEN, CallFailed, Work
from judge_r1.judges.memo.text_model import Section, scan
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.judges.runners import MAX_CONSECUTIVE_FAILURES, as_finished
from retrieval.passages import prose_sentences
from retrieval.words import count_words

Index = Literal["both", "notes", "document"]
LEGEND = (
    "Lines that start with [{name} 3] are sentences of section 3 of this document; [{name} 3 note] is a note on that "
    "section, with a metric, a tag and a score."
)


def note_lines(name: str, memory: DocumentMemory) -> list[str]:
    """One line for each issue of each section, and one for its scores; `name` is that of the document."""
    lines = []
    for section in memory.sections:
        head = f"[{name} {section.number} note]"
        for metric, by_tag in section.issues.items():
            lines += [f"{head} {metric} {tag} {text}" for tag, found in by_tag.items() for text in found]
        scores = (f"{metric} {NOT_GIVEN if score is None else score}" for metric, score in section.scores.items())
        lines.append(f"{head} scores: {', '.join(scores)}")
    return [" ".join(line.split()) for line in lines]


def document_lines(name: str, sections: Sequence[Section]) -> list[str]:
    """One line for each sentence."""
    return [
        f"[{name} {section.number}] {' '.join(section.text[start:end].split())}"
        for section in sections
        for start, end in prose_sentences(section.text)
    ]


def searchable_text(
    index: Index, names: Sequence[str], memories: Sequence[DocumentMemory | None], sections: Sequence[Sequence[Section]]
) -> str:
    """The text to index for several candidates. Notes come first, those of one document after the other."""
    lines: list[str] = []
    if index != "document":
        lines += [
            line for name, memory in zip(names, memories, strict=True) if memory for line in note_lines(name, memory)
        ]
    if index != "notes":
        lines += [line for name, own in zip(names, sections, strict=True) for line in document_lines(name, own)]
    return "\n".join(lines)


def stand_in(name: str, sections: Sequence[Section], index: Index) -> str:
    """What the judge is shown in the place of a candidate."""
    words = sum(count_words(section.text) for section in sections)
    kinds = {"both": "Its text and notes on it", "notes": "Notes on it", "document": "Its text"}[index]
    return (
        f"(Document {name}: {words} words in {len(sections)} sections. {kinds} can be searched; nothing of it is shown "
        f"here. {LEGEND.format(name=name)})"
    )


BUDGET = ("budget.max_searches=5", "budget.top_k=5")
"""The default options of the episode: a document has many places to look at."""
NAMES = ("A", "B")
_OF_THE_LAST_CALL = ("aggregate", "final", "report", "by_tag")
"""Options of memo without effect here."""


class SearchableTexts(dict[str, str]):
    """The texts to search, which are added while the judge runs. It counts as filled, so that the retriever of the
    configuration is used from the start."""

    def __bool__(self) -> bool:
        return True


class MemoSearchJudge:
    """Wraps an agentic judge on the same model."""

    def __init__(self, memo: MemoJudge, agent: Judge, texts: SearchableTexts, index: Index, batch_size: int) -> None:
        self._memo, self._agent, self._texts, self._index, self._batch = memo, agent, texts, index, batch_size
        self.name = f"memo-search@{agent.name.partition('@')[2]}"
        self.settings: dict[str, Any] = {**agent.settings, "index": index, "memo": memo.settings}

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        """Raises: BadJudge for a blank candidate or a benchmark's own prompt."""
        self._memo.check(requests)
        for request in requests:
            if isinstance(request.task, CustomPrompt):
                raise BadJudge(pairs_only_message(self.name, request))

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Takes the requests in batches: first the notes, then the episodes. A batch is large enough to notice that the
        server is down. Raises: EndpointError then."""
        waiting = iter(requests)
        while batch := list(islice(waiting, max(self._batch, MAX_CONSECUTIVE_FAILURES))):
            noted: dict[Any, JudgeOutput] = {}
            notes = as_finished(self.name, batch, self._notes, self._batch)
            async with aclosing(notes) as outputs:  # type: ignore[type-var]
                async for output in outputs:
                    if output.trajectory.infrastructure_failed:
                        yield output
                    else:
                        noted[output.request.key] = output
            shown = [self._shown(output) for output in noted.values()]
            try:
                self._agent.check(shown)
                async with aclosing(self._agent.judge(shown)) as outputs:  # type: ignore[type-var]
                    async for output in outputs:
                        yield _combined(output, noted[output.request.key])
            finally:
                for request in shown:
                    del self._texts[request.case_id or ""]

    def close(self) -> None:
        close_all(self._memo, self._agent)

    async def _notes(self, request: JudgeRequest) -> JudgeOutput:
        """The memories of the candidates and their cost, as an output without a verdict."""
        work, memories, ended, detail = Work(), list[DocumentMemory](), "notes", None
        try:
            if self._index != "document":
                memories = await self._memo.memories(self._memo.model.of_sample(request.sample), request, work)
        except CallFailed as failure:
            ended, detail = f"{INFRASTRUCTURE}{failure}", failure.detail
        trajectory, verdict = Trajectory.without_ids(ended, detail=detail), InvalidVerdict(reason=ended)
        return JudgeOutput(request, trajectory, verdict, usage=work.usage.as_dict(), memory=tuple(memories))

    def _shown(self, noted: JudgeOutput) -> JudgeRequest:
        """The request as the agentic judge gets it. Its case is the text to search."""
        request = noted.request
        texts = [request.item.texts[index] for index in request.order]
        pipeline = self._memo.pipeline
        sections = [scan(text, pipeline.counter, self._memo.config.scan) for text in texts]
        text = searchable_text(self._index, NAMES, noted.memory or (None, None), sections)
        # Of the request too, since equal texts of two requests are removed apart.
        case_id = content_hash(request.item.item_id, list(request.order), request.sample, text)
        self._texts[case_id] = text
        first, second = (stand_in(name, own, self._index) for name, own in zip(NAMES, sections, strict=True))
        assert not isinstance(request.task, CustomPrompt)
        task = replace(request.task, reasoning_a=first, reasoning_b=second, case_id=case_id, context="")
        return replace(request, task=task)


def _combined(output: JudgeOutput, noted: JudgeOutput) -> JudgeOutput:
    """The output with the memories and the cost of both parts. The model reads the notes, not the candidates."""
    trajectory = output.trajectory
    if trajectory.judgment is not None:
        judgment = trajectory.judgment.model_copy(update={"memory": noted.memory})
        trajectory = trajectory.model_copy(update={"judgment": judgment})
    usage = usage_of([noted, output])
    return output._replace(request=noted.request, trajectory=trajectory, usage=usage, memory=noted.memory)


def _make(build: JudgeBuild) -> Judge:
    build, own = split_options(build, ("index", *MemoConfig.model_fields))
    if unused := [name for name in own if name in _OF_THE_LAST_CALL]:
        raise BadJudge(f"memo-search compares by episodes, not by a last call: leave out {', '.join(unused)}")
    index = own.pop("index", "both")
    if index not in get_args(Index):
        raise BadJudge(f"memo-search: index is {', '.join(get_args(Index))}, not {index!r}")
    config = read_options(MemoConfig, [f"{name}={value}" for name, value in own.items()], "judge memo-search")
    texts = SearchableTexts()
    memo = MemoJudge(build, config)
    shared = tuple(f"{name}={own[name]}" for name in ("timeout", "tokenizer") if name in own and "://" in build.backend)
    if "thinking" in own:
        shared += (f"thinking={own['thinking']}",)
    agent_build = replace(build, texts=texts, options=[*shared, *build.options])
    agent = judge_of_backend(agent_build, "agentic", _episode, AgenticJudge, prompted=False)
    return MemoSearchJudge(memo, agent, texts, index, build.batch_size)  # type: ignore[arg-type]


def _episode(build: JudgeBuild) -> EpisodeConfig:
    """The agentic judge's configuration, with more searches by words, unless options say otherwise."""
    config = episode_config(with_defaults(build, "context=none", "retriever=bm25", *BUDGET))
    if not config.search:
        raise BadJudge("memo-search searches its notes: leave out search=false, or use memo")
    return config


JUDGES.register("memo-search")(
    JudgeKind("keeps notes on long candidates as memo, and searches notes and text in episodes; models as memo", _make)
)
