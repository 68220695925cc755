"""Questions about the trace of an agent, put to any judge.

A checklist judge answers criteria about the trace. Every other judge compares two candidates: the answers yes and no to
a question, or two traces by the last messages of their agents. A judge that searches sees no event but those that it
finds; any other judge gets the whole trace in its prompt.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge_r1.core.case_store import CaseStore
from judge_r1.core.checklist import Checklist, Criterion
from judge_r1.core.items import Item
from judge_r1.core.principles import GENERAL
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import ChecklistVerdict, preference
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import BadJudge, Judge, JudgeOutput
from judge_r1.judges.baselines import Baseline
from judge_r1.judges.checklist.judge import ChecklistJudge
from judge_r1.judges.checklist.task import ChecklistTask, checklist_task
from judge_r1.judges.panel import judge_spec
from judge_r1.judges.panel_judge import in_first_order, swapped
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import JudgeResult, result_of
from judge_r1.models.open_model import is_chat
from judge_r1.traces.trace import EventSpan, trace_events

YES, NO, UNDECIDED = "yes", "no", "undecided"
_RANGE = r"([A-Z]?)(\d{1,12})(?:(?:\s*[-–]\s*|\s+to\s+)[A-Z]?(\d{1,12}))?\b"
_RANGES = re.compile(_RANGE, re.I)
_CITED = re.compile(rf"\bevents?\s+{_RANGE}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){_RANGE})*", re.I)
QUESTION, RUBRIC, COMPARE = "question", "rubric", "compare"


@dataclass(frozen=True)
class TraceText:
    """The text of one trace, or of two (`judge_r1.traces.trace.joined_traces`), and its events. `unread` counts the
    texts of its file that no event has; `notes` say what else is to be known of the file."""

    text: str
    unread: int = 0
    notes: tuple[str, ...] = ()
    events: Sequence[EventSpan] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", trace_events(self.text))
        if not self.events:
            raise BadJudge("the trace has no events")

    def at(self, start: int) -> EventSpan | None:
        """The event that holds a character."""
        place = bisect_right(self.events, start, key=lambda event: event.start) - 1
        return self.events[place] if place >= 0 and start < self.events[place].end else None


@dataclass(frozen=True)
class FoundEvent:
    """An event that a judgment rests on: `label` is its index. `cited` says that the judge names it; other events were
    shown to the judge in a search. `spans` are the parts that it read. `read` is false for one that it cites though
    neither a search nor its prompt showed it."""

    event: EventSpan
    cited: bool
    spans: tuple[tuple[int, int], ...] = ()
    read: bool = True

    @property
    def state(self) -> str:
        return "read" if not self.cited else "cited" if self.read else "cited, not read"


@dataclass(frozen=True)
class TraceFinding:
    """The answer to one question: yes, no or undecided; a choice of a criterion; or A, B or tie. `answer` is None if it
    is invalid, and `failed` says that a criterion is not met. `unknown` are the events that the reason names and the
    trace does not have."""

    question: str
    answer: str | None
    score: float | None
    failed: bool
    reason: str | None
    events: tuple[FoundEvent, ...]
    unknown: tuple[str, ...] = ()

    @property
    def note(self) -> str | None:
        """What is wrong with the citations, in words."""
        if not self.unknown:
            return None
        return f"cites event{'s' * (len(self.unknown) > 1)} {', '.join(self.unknown)}, which the trace does not have"


@dataclass(frozen=True)
class TraceResult:
    """What a judge says about a trace: a finding for each question, and the results of the judge behind them. `score`
    is the weighted share of the criteria of a rubric that are met, None without a rubric or with an invalid answer."""

    judge: str
    kind: str
    trace: TraceText
    findings: tuple[TraceFinding, ...]
    results: tuple[JudgeResult, ...]
    score: float | None = None

    @property
    def verdict(self) -> str:
        """The answer to the question, which trace is better, or the score of a rubric, in words."""
        if any(finding.answer is None for finding in self.findings):
            return f"no valid answer ({next(result.ended for result in self.results if not result.valid)})"
        if self.kind == RUBRIC:
            return f"score {self.score:.2f}, {len(self.failed)} of {len(self.findings)} criteria failed"
        [finding] = self.findings
        if self.kind == COMPARE:
            return "tie" if finding.answer == "tie" else f"{finding.answer} is better"
        return str(finding.answer)

    @property
    def unanswered(self) -> str:
        """Why there is no answer to a question or a criterion, in words; "" if there is one to each."""
        if not self.valid:
            return f"the judge gave {self.verdict}"
        count = sum(finding.answer == UNDECIDED for finding in self.findings)
        if not count:
            return ""
        return f"the judge is undecided{f' on {count} of {len(self.findings)} criteria' if self.kind == RUBRIC else ''}"

    @property
    def valid(self) -> bool:
        return all(finding.answer is not None for finding in self.findings)

    @property
    def failed(self) -> tuple[str, ...]:
        """The criteria that are not met."""
        return tuple(finding.question for finding in self.findings if finding.failed)

    @property
    def violated_principles(self) -> tuple[int, ...]:
        """The principles that the worse trace, or the rejected answer to the question, violates."""
        return tuple(sorted({number for result in self.results for number in result.violated_principles}))

    @property
    def events(self) -> tuple[FoundEvent, ...]:
        """The events of all findings in the order of the trace."""
        return _merged(event for finding in self.findings for event in finding.events)

    @property
    def confidence(self) -> float | None:
        return self.results[0].confidence if len(self.results) == 1 else None

    def __str__(self) -> str:
        return self.verdict


@dataclass(frozen=True)
class TraceTask:
    """What is asked about a trace: `kind` is QUESTION, RUBRIC or COMPARE, and a question has one criterion."""

    kind: str
    checklist: Checklist

    @classmethod
    def question(cls, text: str) -> "TraceTask":
        return cls(QUESTION, Checklist(criteria=(Criterion(question=text, choices=(NO, YES)),)))

    @classmethod
    def rubric(cls, checklist: Checklist) -> "TraceTask":
        return cls(RUBRIC, checklist)

    @classmethod
    def compare(cls, question: str = "") -> "TraceTask":
        asked = question or "Which of the two agents did its task better?"
        return cls(COMPARE, Checklist(criteria=(Criterion(question=asked, choices=("B", "A")),)))


def trace_requests(
    judge: Judge, cases: CaseStore, trace: TraceText, task: TraceTask, item_id: str, *, tenant: str = ""
) -> list[JudgeRequest]:
    """The requests of a task: one for a checklist judge, else for each question one in each of its orders
    (`orders_of`). Stores the trace in `cases`.

    Raises:
        BadJudge: The judge cannot compare traces or has no model to answer with, or a criterion has answers other than
            yes and no.
        CaseStoreFull: There is no space for the trace.
    """
    if task.kind != COMPARE and (name := next(_rules(judge), None)):
        raise BadJudge(f"judge {name!r} has no model to answer with: name one that has, such as agentic@MODEL")
    about = describe(trace)
    if isinstance(judge, ChecklistJudge):
        if task.kind == COMPARE:
            raise BadJudge(f"{judge.name} judges one text at a time: compare traces with an agentic or direct judge")
        item = Item(item_id=item_id, cluster_id=item_id, instruction=about, candidates=(trace.text,), gold=None)
        return [JudgeRequest(item, (0,), 0, checklist_task(about, trace.text, task.checklist))]
    case_id = cases.put(trace.text, tenant)
    context = "" if searches(judge) else trace.text
    requests = []
    for number, criterion in enumerate(task.checklist.criteria):
        if len(criterion.choices) not in (0, 2):
            raise BadJudge(
                f"criterion {number + 1} has {len(criterion.choices)} choices: a checklist judge answers those, "
                "checklist:form=search@MODEL"
            )
        first, second = _candidates(trace, task.kind, criterion)
        asked = f"{criterion.question}\n\n{about}"
        item = Item(
            item_id=f"{item_id}/{number}", cluster_id=case_id, case_id=case_id, instruction=asked,
            candidates=(first, second), gold=None,
        )  # fmt: skip
        pair = PairwiseTask(GENERAL, asked, first, second, case_id, context)
        request = JudgeRequest(item, (0, 1), 0, pair)
        requests += [request, swapped(request, pair)][: orders_of(judge, task)]
    return requests


def _rules(judge: Judge) -> Iterator[str]:
    """The names of the judges without a model in a judge, its thread or its panel."""
    if isinstance(judge, Baseline):
        yield judge.name
    for member in getattr(judge, "members", ()):
        yield from _rules(member)


def orders_of(judge: Judge, task: TraceTask) -> int:
    """In how many orders a judge sees the two answers to a question: both, unless it is a panel whose SPEC names its
    orders. The letters of two traces fix their order. A checklist judge answers each criterion once."""
    named = isinstance(judge, ChecklistJudge) or task.kind == COMPARE or judge.settings.get("orders")
    return 1 if named else 2


def in_orders(outputs: Sequence[JudgeOutput]) -> list[JudgeOutput]:
    """The outputs to the requests of a task, those of both orders as one: they tie where the orders differ, and the
    explanation then says what the judge said in each."""
    found: dict[str, list[JudgeOutput]] = {}
    for output in outputs:
        found.setdefault(output.request.item.item_id, []).append(output)
    return [_with_reason(in_first_order(of_item), of_item) for of_item in found.values()]


def _with_reason(output: JudgeOutput, orders: Sequence[JudgeOutput]) -> JudgeOutput:
    judgment = output.trajectory.judgment
    if len(orders) == 1 or judgment is None or preference(output.verdict) != "tie":
        return output
    said = []
    for one in orders:
        task, winner, own = one.request.task, preference(one.verdict), one.trajectory.judgment
        if not isinstance(task, PairwiseTask) or winner is None:
            return output
        answer = {"A": task.reasoning_a, "B": task.reasoning_b, "tie": "a tie"}[winner]
        reason = f": {own.explanation}" if own and own.explanation else ""
        said.append(f"With {task.reasoning_a!r} first, the judge says {answer!r}{reason}")
    same = all(preference(one.verdict) == "tie" for one in orders)
    explanation = "\n".join(["Both orders tie." if same else "The two orders disagree.", *said])
    judgment = judgment.model_copy(update={"explanation": explanation})
    return output._replace(trajectory=output.trajectory.model_copy(update={"judgment": judgment}))


def trace_result(judge: str, trace: TraceText, task: TraceTask, outputs: Sequence[JudgeOutput]) -> TraceResult:
    """The result of the outputs to the requests of a task."""
    outputs = in_orders(outputs)
    results = tuple(result_of(output) for output in outputs)
    criteria = task.checklist.criteria
    if isinstance(outputs[0].request.task, ChecklistTask):
        findings = tuple(
            _checked(trace, task.kind, number, criterion, results[0]) for number, criterion in enumerate(criteria)
        )
    else:
        findings = tuple(
            _compared(trace, task.kind, criterion, result, in_prompt=_in_prompt(output.request))
            for criterion, result, output in zip(criteria, results, outputs, strict=True)
        )
    scores = [finding.score for finding in findings if finding.score is not None]
    complete = task.kind == RUBRIC and len(scores) == len(criteria)
    score = task.checklist.score(scores) if complete else None
    return TraceResult(judge, task.kind, trace, findings, results, score)


def searches(judge: Judge) -> bool:
    """Whether a judge searches the case of a request; a panel does if all its members do."""
    return all(map(_search_is_on, judge.settings.get("members") or [judge.settings]))


def with_trace_options(spec: str) -> str:
    """The SPEC of a judge with the options for traces that it leaves open: it searches with BM25, because events are
    found by their words, and an agentic judge at a chat endpoint explains its verdict, so that it can cite events. The
    members of a panel get them, too."""
    found = judge_spec(spec)
    if found.members:
        return str(replace(found, members=tuple(map(with_trace_options, found.members))))
    if found.name not in ("agentic", "checklist") or not found.backend:
        return spec
    usual = ["retriever=bm25", *(["prompt=search-r1"] if found.name == "agentic" and is_chat(found.backend) else [])]
    named = {option.partition("=")[0] for option in found.options}
    missing = (option for option in usual if option.partition("=")[0] not in named)
    return str(replace(found, options=(*found.options, *missing)))


def describe(trace: TraceText) -> str:
    """A description of a trace for a judge that does not see it: its events, its tools, and how to search them."""
    lines = []
    for letter in sorted({event.trace for event in trace.events}):
        own = [event for event in trace.events if event.trace == letter]
        name = f"Trace {letter}" if letter else "The case file is the trace of an agent: it"
        calls = [event.name for event in own if event.kind == "call"]
        tools = ", ".join(f"{tool} ({counted(calls.count(tool), 'call')})" for tool in sorted(set(calls)))
        last = next((event.label for event in reversed(own) if _is_claim(event)), None)
        task = next((event.label for event in own if (event.kind, event.name) == ("message", "user")), None)
        lines.append(
            f"{name} has the events {own[0].label} to {own[-1].label}"
            + (f"; tools: {tools}" if tools else "")
            + (f"; event {task} states the task" if task else "")
            + (f"; event {last} is the last message of the agent" if last else "")
            + "."
        )
    kinds = "kind:call, kind:result, kind:message"
    return "\n".join(
        [*(["The case file holds the traces of two agents."] if trace.events[0].trace else []), *lines,
         f"A query may name events, such as events 4-8, and have filters, such as tool:bash, {kinds}."]
    )  # fmt: skip


def _candidates(trace: TraceText, kind: str, criterion: Criterion) -> tuple[str, str]:
    if kind != COMPARE:
        worst, best = (f"{choice[:1].upper()}{choice[1:]}." for choice in _choices(criterion))
        return best, worst
    texts = []
    for letter in "AB":
        last = next((e.text for e in reversed(trace.events) if e.trace == letter and _is_claim(e)), "(no message)")
        texts.append(f"Trace {letter}. The last message of its agent:\n{last}")
    return texts[0], texts[1]


def _choices(criterion: Criterion) -> tuple[str, ...]:
    """The two answers that a judge of pairs compares, the worse one first."""
    return criterion.choices or (NO, YES)


def _is_claim(event: EventSpan) -> bool:
    return (event.kind, event.name) == ("message", "assistant") and bool(event.text.strip())


def _compared(
    trace: TraceText, kind: str, criterion: Criterion, result: JudgeResult, *, in_prompt: bool
) -> TraceFinding:
    answer: str | None = result.winner
    score = None
    if kind != COMPARE and answer is not None:
        worst, best = _choices(criterion)
        answer, score = {"A": (best, 1.0), "B": (worst, 0.0), "tie": (UNDECIDED, 0.5)}[answer]
    shown = _shown(result)
    known = None if in_prompt else shown
    return _finding(trace, criterion, answer, score, result.explanation, shown, [], known, kind == RUBRIC)


def _checked(trace: TraceText, kind: str, number: int, criterion: Criterion, result: JudgeResult) -> TraceFinding:
    verdict, name = result.verdict, str(number)
    if not isinstance(verdict, ChecklistVerdict):
        return TraceFinding(criterion.question, answer=None, score=None, failed=False, reason=None, events=())
    score = verdict.scores[name]
    answer = dict(zip(criterion.levels, criterion.choices, strict=True))[score] if criterion.choices else f"{score:g}"
    cited = [verdict.cited[name]] if name in verdict.cited else []
    known = _shown(result) or None  # a checklist judge that does not search has the whole trace in its prompt
    return _finding(trace, criterion, answer, score, verdict.reasons.get(name), cited, cited, known, kind == RUBRIC)


def _in_prompt(request: JudgeRequest) -> bool:
    return isinstance(request.task, PairwiseTask) and bool(request.task.context)


def _search_is_on(settings: Mapping[str, Any]) -> bool:
    budget = settings.get("budget")
    return bool(settings.get("search") and isinstance(budget, Mapping) and budget.get("max_searches"))


def _shown(result: JudgeResult) -> list[tuple[int, int]]:
    """The parts of the trace that searches showed."""
    return [(passage.start, passage.end) for turn in result.trajectory.turns for passage in turn.passages]


def _finding(
    trace: TraceText, criterion: Criterion, answer: str | None, score: float | None, reason: str | None,
    shown: Sequence[tuple[int, int]], cited: Sequence[tuple[int, int]], known: Sequence[tuple[int, int]] | None,
    is_rubric: bool,
) -> TraceFinding:  # fmt: skip
    """The finding for one criterion. `known` are the parts of the trace that the judge has read, None for all."""
    ranges = [
        (letter.upper(), *sorted((int(first), int(last or first))))
        for found in _CITED.finditer(reason or "")
        for letter, first, last in _RANGES.findall(found[0])
    ]
    read = None if known is None else {event.start for start, _ in known if (event := trace.at(start))}
    events = [
        FoundEvent(event, cited=True, read=read is None or event.start in read)
        for event in trace.events
        if any(event.trace == letter and first <= event.index <= last for letter, first, last in ranges)
    ]
    named, labels = {one.event.start for one in events}, {event.label for event in trace.events}
    for span in shown:
        if (event := trace.at(span[0])) is not None:
            is_cited = event.start in named or span in cited
            events.append(FoundEvent(event, cited=is_cited, spans=(span,)))
    # A criterion of negative weight names a fault: yes is the bad answer.
    failed = is_rubric and score is not None and (score < 0.5 if criterion.weight > 0 else score > 0.5)
    ends = dict.fromkeys(f"{letter}{end}" for letter, *both in ranges for end in both)
    unknown = tuple(label for label in ends if label not in labels)
    return TraceFinding(criterion.question, answer, score, failed, reason, _merged(events), unknown)


def _merged(events: Iterable[FoundEvent]) -> tuple[FoundEvent, ...]:
    """Events without repeats, in the order of the trace."""
    found: dict[int, FoundEvent] = {}
    for one in events:
        known = found.get(one.event.start, FoundEvent(one.event, cited=False, read=False))
        spans = tuple(sorted({*known.spans, *one.spans}))
        cited, read = known.cited or one.cited, known.read or one.read
        found[one.event.start] = FoundEvent(one.event, cited=cited, spans=spans, read=read)
    return tuple(found[start] for start in sorted(found))
