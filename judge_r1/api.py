"""The Python API: load a judge by its SPEC and call it.

from judge_r1 import load_judge

judge = load_judge("agentic@runs/demo/grpo/model")
result = judge(context=..., decision=..., reasoning_a=..., reasoning_b=...)
print(result.winner, result.evidence)
result = judge(trace="run.eval", question="Did the agent run the tests before it claimed success?")
print(result.verdict, result.events)
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from inspect import signature
from itertools import count
from pathlib import Path
from typing import Any, overload

from judge_r1.core.case_store import CaseStore
from judge_r1.core.principles import GENERAL
from judge_r1.core.text_check import BadText
from judge_r1.files.rubric_file import EVERY, checklist_for, read_rubric
from judge_r1.judges.base import BadJudge, Judge, JudgeBuild, NothingFits, run_all
from judge_r1.judges.panel import make_judge
from judge_r1.judges.result import JudgeResult, request_of, result_of
from judge_r1.judges.trace_tasks import TraceResult, TraceTask, TraceText, searches, trace_requests, trace_result
from judge_r1.models.base import Sampling
from judge_r1.traces import Masked, Unread, events_of_records, read_events
from judge_r1.traces.trace import joined_traces, trace_text

TraceSource = str | Path | Sequence[Mapping[str, Any]]
"""A file of a trace, or its messages."""


class LoadedJudge:
    """A judge to call with one pair, or with several through `many`.

    Cases are stored by content: a case that several pairs share is indexed once. Calls also work inside a running
    event loop (Jupyter); they block it until the judgments are there.
    """

    def __init__(self, judge: Judge, cases: CaseStore) -> None:
        self.judge, self._cases, self._ids = judge, cases, count()

    @property
    def name(self) -> str:
        return self.judge.name

    @overload
    def __call__(
        self, *, reasoning_a: str, reasoning_b: str, context: str = "", decision: str = "", domain: str = GENERAL
    ) -> JudgeResult: ...
    @overload
    def __call__(
        self,
        *,
        trace: TraceSource,
        question: str | None = None,
        rubric: str | Path | None = None,
        compare: TraceSource | None = None,
        number: int | None = None,
        compare_number: int | None = None,
        masked: Masked | None = None,
        unread: Unread | None = None,
    ) -> TraceResult: ...
    def __call__(self, **given: Any) -> JudgeResult | TraceResult:
        """Judges one pair, or the trace of an agent.

        Args:
            reasoning_a: The first candidate.
            reasoning_b: The second candidate.
            context: The case. The judge may search it.
            decision: The decision made in the case, or the request that the candidates answer.
            domain: `legal`, `medical`, `academic`, or `general` for answers to a request.
            trace: A file of any format of traces, or a list of messages.
            question: A question about the trace that yes or no answers.
            rubric: A file of criteria for the trace.
            compare: Another trace of the same task; a question then says what the better one is.
            number: Which trace of a file with several, from 1; `compare_number` for the other file.
            masked: Masks secrets in the traces and counts them.
            unread: Counts the texts of the traces that no event has; `Unread(allowed=True)` judges without them.
        """
        return self._trace(**given) if "trace" in given else self.many([given])[0]

    def _trace(
        self,
        *,
        trace: TraceSource,
        question: str | None = None,
        rubric: str | Path | None = None,
        compare: TraceSource | None = None,
        number: int | None = None,
        compare_number: int | None = None,
        masked: Masked | None = None,
        unread: Unread | None = None,
    ) -> TraceResult:
        task = _trace_task(question, rubric, compare is not None)
        unread = unread or Unread()
        text = _text_of(trace, masked, unread, number, "" if compare is None else "A")
        if compare is not None:
            text = joined_traces(text, _text_of(compare, masked, unread, compare_number, "B"))
        found = TraceText(text, unread.count, tuple(unread.notes))
        requests = trace_requests(self.judge, self._cases, found, task, f"{next(self._ids)}")
        with ExitStack() as pins:
            for case_id in {request.item.case_id for request in requests}:
                pins.enter_context(self._cases.pin(case_id))
            try:
                outputs = run_all(self.judge, requests)
            except NothingFits as error:
                if searches(self.judge):
                    raise
                hint = "or an agentic judge, which searches the trace instead of reading it whole"
                raise NothingFits(f"{error}, {hint}") from None
            return trace_result(self.name, found, task, outputs)

    def many(self, pairs: Iterable[Mapping[str, str]], *, progress: bool = True) -> list[JudgeResult]:
        """Judges several pairs concurrently. Each pair is a mapping with the argument names of a call. `progress` shows
        on standard error how many are done, if it takes more than a few seconds.

        Raises:
            BadJudge: A pair has an unknown name or lacks a required one.
            BadText: A value is not a valid text, or the domain is not a lower-case name.
            CaseStoreFull: The cases together exceed the case store. Split the pairs into several calls.
        """
        with ExitStack() as pins:  # storing a later case must not evict an earlier one
            requests = []
            for number, pair in enumerate(pairs):
                try:
                    _PAIR.bind(**pair)
                except TypeError as error:
                    raise BadJudge(f"pair {number} of many: {error}; valid names: {_NAMES}") from None
                try:
                    requests.append(request := request_of(f"{next(self._ids)}", self._cases, **pair))
                except BadText as error:
                    raise BadText(f"pair {number}: {error}") from None
                pins.enter_context(self._cases.pin(request.item.case_id))
            outputs = run_all(self.judge, requests, progress=progress) if requests else []
            return [result_of(output) for output in outputs]


def _pair(*, reasoning_a: str, reasoning_b: str, context: str = "", decision: str = "", domain: str = GENERAL) -> None:
    """The argument names of a pair."""


_PAIR = signature(_pair)
_NAMES = ", ".join(_PAIR.parameters)


def _trace_task(question: str | None, rubric: str | Path | None, compare: bool) -> TraceTask:
    """Raises: BadJudge unless exactly one thing is asked."""
    if (rubric is None) == (question is None and not compare):
        raise BadJudge("give a question, a rubric, or a trace to compare with, which may have a question")
    if rubric is not None:
        return TraceTask.rubric(checklist_for(read_rubric(Path(rubric)), EVERY, str(rubric)))
    if question is not None and not question.strip():
        raise BadJudge("the question is blank")
    return TraceTask.compare(question or "") if compare else TraceTask.question(question or "")


def _text_of(trace: TraceSource, masked: Masked | None, unread: Unread, number: int | None, letter: str = "") -> str:
    if isinstance(trace, str | Path):
        return trace_text(read_events(Path(trace), number=number, masked=masked, unread=unread), trace=letter)
    return trace_text(events_of_records(trace, masked=masked, unread=unread), trace=letter)


def load_judge(
    spec: str, *, recipe: str | Path | None = None, temperature: float = 0.0, seed: int = 0, batch_size: int = 32
) -> LoadedJudge:
    """Loads the judge of a SPEC (`judge-r1 eval --help` lists them).

    Args:
        spec: `NAME[:options]@BACKEND`, for example `agentic@runs/demo/grpo/model`.
        recipe: A recipe file whose episode settings the judge uses.
        temperature: Sampling temperature; 0 is greedy.
        seed: Seed of the sampling.
        batch_size: Episodes that run concurrently.

    Raises:
        JudgeError: The SPEC is not valid or its model cannot be loaded.
    """
    cases = CaseStore()
    sampling, recipe_path = Sampling(temperature, seed), Path(recipe) if recipe else None
    build = JudgeBuild("", texts=cases, sampling=sampling, batch_size=batch_size, recipe=recipe_path)
    return LoadedJudge(make_judge(spec, build), cases)
