"""Evaluates one document: scan, rate every section, note, report, final call.

With `decoding=constrained` an answer without a score is continued by `FINAL <metric> Score: `, and only ids of an
allowed score may follow. A metric stays without a score if the continued answer does not fit into the context.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from judge_r1.core.memory import DocumentMemory, SectionNote, text_hash
from judge_r1.core.verdicts import CONTEXT_OVERFLOW
from judge_r1.episode.answer_form import AnswerTooLong, ModelWriter, SamplingFailed
from judge_r1.episode.prompts import Prompt
from judge_r1.judges.memo.aggregate import FINAL, aggregated
from judge_r1.judges.memo.config import FORMS, MemoConfig, PromptForm
from judge_r1.judges.memo.metrics import Metric, parse_metrics
from judge_r1.judges.memo.parser import Evaluation, parse_evaluation, visible
from judge_r1.judges.memo.prompts import final_prompt, rating_prompt, score_line, summary_prompt
from judge_r1.judges.memo.text_model import Section, TextModel, WordCounter, scan
from judge_r1.models.base import Generation, Usage

NOT_GIVEN = "not given"


def render_report(memory: DocumentMemory, metrics: Sequence[Metric], *, by_tag: bool = False) -> str:
    """The report on a document, section by section, or with `by_tag` metric by metric and tag by tag."""
    parts = _tag_parts(memory, metrics) if by_tag else [_section(section, metrics) for section in memory.sections]
    return "\n\n".join(["=== Evaluation Report ===", *parts]) + "\n"


def _head(section: SectionNote) -> str:
    return f"Section {section.name} (Chars {section.start}–{section.end}):"


def _scores(section: SectionNote, metrics: Sequence[Metric]) -> list[str]:
    return [f"  - {metric.title}: {_number(section.scores.get(metric.name))}" for metric in metrics]


def _number(score: float | None) -> str:
    return NOT_GIVEN if score is None else str(float(score))


def _section(section: SectionNote, metrics: Sequence[Metric]) -> str:
    lines = [_head(section)]
    if section.summary:
        lines.append(f"Section Summary: {section.summary}")
    lines += ["Scores:", *_scores(section, metrics), "Issues:"]
    for metric in metrics:
        found = section.issues.get(metric.name, {})
        lines.append(f"  {metric.title} Issues:" + ("" if found else " None"))
        for tag, descriptions in found.items():
            lines += [f"    - {tag}:", *(f"        • {description}" for description in descriptions)]
    return "\n".join(lines)


def _tag_parts(memory: DocumentMemory, metrics: Sequence[Metric]) -> list[str]:
    parts = []
    for metric in metrics:
        by_tag: dict[str, list[str]] = {}
        for section in memory.sections:
            for tag, descriptions in section.issues.get(metric.name, {}).items():
                by_tag.setdefault(tag, []).extend(f"        • {section.name}: {text}" for text in descriptions)
        lines = [f"{metric.title} Issues:" + ("" if by_tag else " None")]
        for tag, notes in by_tag.items():
            lines += [f"    - {tag}:", *notes]
        parts.append("\n".join(lines))
    summaries = [f"{section.name}: {section.summary}" for section in memory.sections if section.summary]
    if summaries:
        parts.append("\n".join(["Section Summaries:", *summaries]))
    scores = [line for section in memory.sections for line in (_head(section), *_scores(section, metrics))]
    return [*parts, "\n".join(["=== Section Scores ===", *scores])]


def allowed_scores(form: PromptForm) -> tuple[str, ...]:
    """The scores that the form asks for, as texts."""
    whole = tuple(str(score) for score in range(1, 6))
    return tuple(sorted((*whole, *(f"{score}.5" for score in whole[:-1])))) if form.half_points else whole


async def constrained_scores(
    model: TextModel, prompt: Prompt, answer: str, metrics: Sequence[Metric], form: PromptForm
) -> list[Generation]:
    """For each metric a generation whose text is the line of its score, one after the other behind `answer`. A
    generation that failed, or did not fit into the context, ends the list."""
    assert model.tokenizer is not None, "constrained scores need a local model"
    writer = ModelWriter(
        model.model,
        model.tokenizer,
        model.eos_ids,
        model.prompt_ids(prompt),
        temperature=model.temperature,
        seed=model.seed,
        context_length=model.context_length,
    )
    lines: list[Generation] = []
    before = f"{begun}\n" if (begun := visible(answer)) else ""
    for metric in metrics:
        lead = score_line(metric, "")
        writer.add(before + lead)
        try:
            found = Generation(text=lead + await writer.choose(allowed_scores(form)))
        except AnswerTooLong:
            found = Generation(finish_reason=CONTEXT_OVERFLOW)
        except SamplingFailed as error:
            found = Generation(failure=error.failure)
        found.usage, writer.usage, before = writer.usage, Usage(), ""
        lines.append(found)
        if found.failure is not None or found.declined:
            break
    return lines


class CallFailed(Exception):
    """An infrastructure failure: the document has no evaluation, and its memory is not kept. `detail` is the server's
    message."""

    def __init__(self, failure: str, detail: str = "") -> None:
        super().__init__(failure)
        self.detail = detail or None


@dataclass
class Work:
    """The calls of one request: the answers in order, what they cost, and the finish reason of the last one."""

    answers: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    ended: str = ""

    def add(self, generations: Sequence[Generation]) -> None:
        """Raises: CallFailed if one failed."""
        for generation in generations:
            self.usage.add(generation.usage)
            self.answers.append(generation.text)
            self.ended = generation.finish_reason
        for generation in generations:
            if generation.failure is not None:
                raise CallFailed(generation.failure, generation.error)


class _Rating(NamedTuple):
    """An evaluation, the metrics whose score was sampled among the allowed ones, and the calls for these."""

    evaluation: Evaluation
    constrained: tuple[str, ...] = ()
    calls: Sequence[Generation] = ()


class Pipeline:
    """The steps with one configuration. `whole` reads a document as one section: the judge without a memory."""

    def __init__(self, config: MemoConfig, counter: WordCounter, *, whole: bool = False) -> None:
        self.config, self.metrics = config, parse_metrics(config.metrics)
        self.form, self.counter, self._whole = FORMS[config.form], counter, whole

    @property
    def settings(self) -> dict[str, Any]:
        """What the notes on a document depend on, besides the model."""
        names = ["form", "max_tokens", "retries", "constrain", "thinking", "switch"]
        if not self._whole:
            names += ["scan", "overlap", "summaries", "context_aware"]
        return {
            **{name: getattr(self.config, name) for name in names},
            "document_summary": self.config.report == "report_summary",
            "metrics": [metric.model_dump(mode="json") for metric in self.metrics],
            "unit": self.counter.unit,
        }

    async def remember(self, model: TextModel, text: str, task: str, work: Work) -> DocumentMemory:
        """The notes on a document. Sections are rated concurrently, after all summaries. Raises: CallFailed."""
        config = self.config
        size = None if self._whole else config.scan
        sections = await asyncio.to_thread(scan, text, self.counter, size, config.overlap)  # counts tokens
        summaries: list[str | None] = [None] * len(sections)
        whole_summary = None
        before = Usage()
        before.add(work.usage)
        if config.summaries and not self._whole:
            summaries = await self._summarize(model, [section.text for section in sections], work, whole=False)
        if config.report == "report_summary":
            (whole_summary,) = await self._summarize(model, [text], work, whole=True)
        rated = await self._rate(model, sections, summaries, task, work)
        notes = tuple(
            SectionNote(
                number=section.number,
                start=section.start,
                end=section.end,
                scores=evaluation.scores,
                issues=evaluation.issues,
                summary=summary,
                ended=ended,
                constrained=constrained,
            )
            for section, summary, (evaluation, ended, constrained) in zip(sections, summaries, rated, strict=True)
        )
        # Only what this document cost: a request reads several, and a stored memory is paid for once.
        earlier = before.as_dict()  # lacks what had not occurred
        spent = {name: value - earlier.get(name, 0) for name, value in work.usage.as_dict().items()}
        memory = DocumentMemory(
            document=text_hash(text),
            metrics=tuple(metric.name for metric in self.metrics),
            sections=notes,
            summary=whole_summary,
            settings=self.settings,
            usage=spent,
        )
        return memory.model_copy(update={"aggregates": aggregated(memory)})

    def report(self, memory: DocumentMemory) -> str:
        return render_report(memory, self.metrics, by_tag=self.config.by_tag)

    async def conclude(
        self, model: TextModel, text: str, memory: DocumentMemory, task: str, work: Work
    ) -> DocumentMemory:
        """The memory with the scores of the final call. Raises: CallFailed."""
        prompt = final_prompt(
            self.report(memory),
            self.metrics,
            self.form,
            document=text if self.config.report == "report_original" else None,
            summary=memory.summary,
            task=task,
        )
        [answer] = await model.complete([prompt], self.config.max_tokens)
        work.add([answer])
        rating = await self._evaluation(model, prompt, answer, self.metrics)
        work.add(rating.calls)
        return memory.model_copy(update={"aggregates": {**memory.aggregates, FINAL: rating.evaluation.scores}})

    async def _summarize(self, model: TextModel, texts: Sequence[str], work: Work, *, whole: bool) -> list[str | None]:
        found = await model.complete([summary_prompt(text, whole=whole) for text in texts], self.config.max_tokens)
        work.add(found)
        return [" ".join(visible(generation.text).split()) or None for generation in found]

    async def _rate(
        self, model: TextModel, sections: Sequence[Section], summaries: Sequence[str | None], task: str, work: Work
    ) -> list[tuple[Evaluation, str, tuple[str, ...]]]:
        """For each section the evaluation, the finish reason (of several calls the worst one), and the metrics whose
        score was sampled among the allowed ones."""
        groups = [[metric] for metric in self.metrics] if self.form.one_metric else [list(self.metrics)]
        prompts = [
            self._rating(section, previous, group, task)
            for section, previous in zip(sections, [None, *summaries][: len(sections)], strict=True)
            for group in groups
        ]
        found = await model.complete(prompts, self.config.max_tokens)
        work.add(found)
        ratings = await asyncio.gather(
            *(
                self._evaluation(model, prompt, answer, groups[position % len(groups)])
                for position, (prompt, answer) in enumerate(zip(prompts, found, strict=True))
            )
        )
        for rating in ratings:
            work.add(rating.calls)
        rated = []
        for position in range(0, len(found), len(groups)):
            own = slice(position, position + len(groups))
            reasons = [one.finish_reason for one in found[own] if one.finish_reason != "stop"]
            constrained = tuple(name for rating in ratings[own] for name in rating.constrained)
            evaluation = _merged([rating.evaluation for rating in ratings[own]])
            rated.append((evaluation, reasons[0] if reasons else "stop", constrained))
        return rated

    async def _evaluation(
        self, model: TextModel, prompt: Prompt, answer: Generation, metrics: Sequence[Metric]
    ) -> _Rating:
        """What an answer says about `metrics`; with `constrain`, scores that it lacks are sampled."""
        evaluation = parse_evaluation(answer.text, metrics)
        missing = [metric for metric in metrics if evaluation.scores[metric.name] is None]
        if not self.config.constrain or not missing or answer.declined:
            return _Rating(evaluation)
        lines = await constrained_scores(model, prompt, answer.text, missing, self.form)
        sampled = parse_evaluation("\n".join(line.text for line in lines), missing).scores
        given = {name: score for name, score in sampled.items() if score is not None}
        return _Rating(evaluation._replace(scores={**evaluation.scores, **given}), tuple(given), lines)

    def _rating(self, section: Section, previous: str | None, metrics: Sequence[Metric], task: str) -> Prompt:
        return rating_prompt(
            section.text,
            metrics,
            self.form,
            task=task,
            excerpt=self.config.context_aware and not self._whole,
            context=section.context,
            summary=previous,
        )


def _merged(parts: Sequence[Evaluation]) -> Evaluation:
    return Evaluation(
        {name: score for part in parts for name, score in part.scores.items()},
        {name: issues for part in parts for name, issues in part.issues.items()},
    )
