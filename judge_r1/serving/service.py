"""The state that all routes share (judge, queue, cases, keys, metrics), opened from a SPEC."""

import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fastapi import HTTPException

from judge_r1.core.case_store import MAX_BYTES, CaseStore
from judge_r1.core.errors import JudgeError
from judge_r1.core.event_loop import gather_all
from judge_r1.core.wire import JudgeRequestBody, JudgeResponse
from judge_r1.episode.driver import StepCallback
from judge_r1.files.strict_yaml import read_yaml
from judge_r1.judges.base import Judge, JudgeBuild, JudgeOutput, close_all
from judge_r1.judges.panel import backends, check_models, served_judge
from judge_r1.judges.request import JudgeRequest, TokenLimits
from judge_r1.judges.result import request_of, result_of
from judge_r1.judges.trace_tasks import in_orders, orders_of, trace_requests
from judge_r1.models.base import Sampling
from judge_r1.models.hub import BUNDLED
from judge_r1.rewards.collector import JudgmentFailed
from judge_r1.rewards.group import GroupScores
from judge_r1.serving.cohorts import Cohort, Cohorts
from judge_r1.serving.errors import PromptTooLong
from judge_r1.serving.middleware.api_keys import KeyFile
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.serving.middleware.metrics import Metrics
from judge_r1.serving.middleware.shutdown import Shutdown
from judge_r1.serving.queue import RequestQueue
from judge_r1.serving.replicated_case_store import LocalCaseStore, UploadedCases
from judge_r1.serving.request_traces import AskedTrace, TraceLog, trace_of_body, with_events
from judge_r1.serving.schemas import judge_response
from judge_r1.serving.unpacking import UnpackBudget


@dataclass
class Service:
    """A judge and what its server needs.

    Without `keys`, requests need no API key. Without `trace_log`, no request is recorded. The page shows `note`.
    `local_cases` holds the cases that this server searches; `case_store` holds the uploaded ones. They are the same
    store unless several servers share the uploads.
    """

    judge: Judge
    local_cases: CaseStore
    queue: RequestQueue
    limits: Limits = field(default_factory=Limits)
    keys: KeyFile | None = None
    trace_log: TraceLog | None = None
    note: str | None = None
    drain_seconds: float = 30.0
    ready: bool = field(default=False, init=False)
    shutdown: Shutdown = field(default_factory=Shutdown, init=False)
    metrics: Metrics = field(init=False)
    cohorts: Cohorts = field(init=False)
    unpacking: UnpackBudget = field(init=False)
    case_store: UploadedCases = field(init=False)

    def __post_init__(self) -> None:
        self.unpacking = UnpackBudget(self.limits.bodies)
        self.cohorts = Cohorts(self._run_pair, self.limits, self.queue.max_concurrency)
        self.metrics = Metrics(self.queue, self.local_cases, lambda: self.cohorts.waiting)
        self.case_store = LocalCaseStore(self.local_cases)
        self.shutdown.on_start = self.cohorts.close

    async def judge_one(
        self,
        body: JudgeRequestBody,
        tenant: str,
        listener: StepCallback | None = None,
        *,
        wait_when_full: bool = False,
    ) -> tuple[JudgeResponse, JudgeOutput]:
        """Judges one pair, or a question about a trace in both orders of its answers; `listener` follows the first.
        Raises one of `errors.NO_JUDGMENT`."""
        started, trace_id = time.monotonic(), uuid.uuid4().hex
        asked = await trace_of_body(body)
        orders = 1 if asked is None else orders_of(self.judge, asked.task)
        outputs = await gather_all([
            self.run(
                partial(self.request, body, trace_id, tenant, asked, order), tenant, None if order else listener,
                wait_when_full=wait_when_full,
            )
            for order in range(orders)
        ])  # fmt: skip
        [output] = in_orders(outputs)
        seconds = time.monotonic() - started
        response = judge_response(trace_id, self.judge.name, result_of(output), seconds, trace=body.trace)
        return with_events(response, asked, output), output

    async def join(self, cohort: Cohort, candidate: str) -> tuple[float, GroupScores]:
        """Scores one member of a group. Raises what `Cohorts.join` raises."""
        try:
            found = await self.cohorts.join(cohort, candidate)
        except JudgmentFailed:
            self.metrics.group_scores.labels("failed").inc()
            raise
        self.metrics.group_scores.labels("scored").inc()
        return found

    async def _run_pair(self, pair: JudgeRequestBody, tenant: str) -> JudgeOutput:
        return await self.run(lambda: self.request(pair, uuid.uuid4().hex, tenant), tenant, wait_when_full=True)

    async def run(
        self,
        make_request: Callable[[], Awaitable[JudgeRequest]],
        tenant: str,
        listener: StepCallback | None = None,
        *,
        wait_when_full: bool = False,
    ) -> JudgeOutput:
        """Runs one request with its case pinned; `wait_when_full` as in `RequestQueue.submit`.

        Raises one of `errors.NO_JUDGMENT`.
        """
        request = await make_request()
        # Pinned while it waits, too: other tenants' cases may fill the store until it is its turn.
        with self.metrics.request() as record, self.local_cases.pin(request.item.case_id):
            output = await self.queue.submit(request, tenant=tenant, listener=listener, wait_when_full=wait_when_full)
            if output.overflow is not None:
                # Within the block, which counts it as an outcome of its own.
                raise PromptTooLong(*output.overflow)
            record(output)
        if self.trace_log is not None and not self.trace_log.write(output, tenant):
            self.metrics.traces_lost.inc()
        return output

    async def request(
        self, body: JudgeRequestBody, item_id: str, tenant: str, asked: AskedTrace | None = None, order: int = 0
    ) -> JudgeRequest:
        """The judge request of a body, or of the trace in it, in the first or second order. Raises what `context`
        raises."""
        if asked is not None:
            await self.context(asked.trace.text, None, tenant)
            return trace_requests(self.judge, self.local_cases, *asked, item_id, tenant=tenant)[order]
        context = await self.context(body.context, body.case_id, tenant)
        return request_of(
            item_id,
            self.local_cases,
            reasoning_a=body.reasoning_a or "",
            reasoning_b=body.reasoning_b or "",
            context=context,
            decision=body.decision,
            domain=body.domain,
            tenant=tenant,
        )

    async def context(self, text: str | None, case_id: str | None, tenant: str) -> str:
        """The text of a case: `text`, or the uploaded case with this id.

        Raises:
            HTTPException: 404 for an unknown case, 413 for a case over the limit.
            CaseStoreUnavailable: The uploaded cases cannot be read now.
        """
        if case_id is not None:
            try:
                return await self.case_store.get_owned(case_id, tenant)
            except KeyError:
                raise case_not_found(case_id) from None
        if (size := len((text or "").encode())) > self.limits.case:
            raise HTTPException(413, f"the case has {size} bytes: the limit is {self.limits.case}")
        return text or ""

    def close(self) -> None:
        """Releases the judge's model and closes the trace log."""
        close_all(self.judge)
        if self.trace_log is not None:
            self.trace_log.close()


def case_not_found(case_id: str) -> HTTPException:
    return HTTPException(404, f"there is no case {case_id}: upload it with PUT /v1/cases first")


def open_service(
    spec: str,
    *,
    recipe: Path | None = None,
    max_concurrency: int = 16,
    queue_size: int = 256,
    timeout: float = 300.0,
    sampling: Sampling | None = None,
    tokens: TokenLimits | None = None,
    limits: Limits | None = None,
    case_bytes: int = MAX_BYTES,
    keys: Path | None = None,
    traces: Path | None = None,
) -> Service:
    """Loads the judge of a SPEC. `tokens` replace the limits of a recipe, and options of the SPEC replace them.
    `case_bytes` limits all stored cases together.

    Raises:
        JudgeError: The SPEC, the recipe, the key file or the trace folder cannot be used.
    """
    key_file = KeyFile(keys) if keys else None
    trace_log = TraceLog(traces) if traces else None
    cases = CaseStore(case_bytes)
    build = JudgeBuild(
        "",
        texts=cases,
        sampling=sampling or Sampling(),
        batch_size=max_concurrency,
        recipe=recipe,
        limits=tokens or TokenLimits(),
    )
    check_models(spec)  # a wrong name is reported at once, not after torch is imported
    print(f"loading {spec}", file=sys.stderr, flush=True)  # imports and weights take seconds
    judge = served_judge(spec, build)
    queue = RequestQueue(judge, max_concurrency, queue_size, timeout)
    return Service(judge, cases, queue, limits or Limits(), key_file, trace_log, toy_note(spec))


_DEMO = "it knows only the small generated language of the demo, and gives no valid answer on other texts"
TOYS = {
    "bundled:tiny": _DEMO,
    "bundled:haystack": _DEMO,
    "bundled:smollm2-135m": "a chat model of 135 million parameters that was not trained to judge",
}


def toy_note(spec: str) -> str | None:
    """A sentence for the page; None if the judge of the SPEC is no toy."""
    origin = next(filter(None, (model if model in TOYS else _origin(model) for model in backends(spec))), None)
    return f"This judge is a toy: {TOYS[origin]}. Use it to try the page, not to decide anything." if origin else None


def _origin(model: str) -> str | None:
    """The bundled model with the demo's language that the recipes of run folders lead to, if any."""
    for _ in range(5):  # stages of training
        recipe = Path(model).parent / "recipe.yaml"
        try:
            found = read_yaml(recipe) if recipe.is_file() else None
        except JudgeError:
            return None
        model = str(found.get("model", "")) if isinstance(found, dict) else ""
        if model.startswith(BUNDLED):
            return model if TOYS.get(model) == _DEMO else None
    return None
