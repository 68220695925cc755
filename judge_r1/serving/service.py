"""What the routes share: a judge, its queue, its cases and what is counted; and how it is made of a SPEC."""

import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import HTTPException

from judge_r1.core.case_store import MAX_BYTES, CaseStore
from judge_r1.core.wire import JudgeRequestBody, JudgeResponse
from judge_r1.judges.base import Closable, Judge, JudgeBuild, JudgeOutput
from judge_r1.judges.panel import served_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of, result_of
from judge_r1.models.base import Sampling
from judge_r1.models.step_callback import StepCallback
from judge_r1.serving.errors import TooLong
from judge_r1.serving.local_case_store import CaseStoreProtocol, LocalCaseStore
from judge_r1.serving.middleware.api_keys import KeyFile
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.serving.middleware.metrics import Metrics
from judge_r1.serving.queue import RequestQueue
from judge_r1.serving.schemas import response
from judge_r1.serving.trace_log import Traces


@dataclass
class Service:
    """`keys` None: nobody is asked for one. `traces` None: nothing is retained. `shelf` has the cases that are searched
    here, `kept` those that were put: the same ones, unless several servers share them."""

    judge: Judge
    shelf: CaseStore
    desk: RequestQueue
    limits: Limits = field(default_factory=Limits)
    keys: KeyFile | None = None
    traces: Traces | None = None
    drain_seconds: float = 30.0
    ready: bool = field(default=False, init=False)
    metrics: Metrics = field(init=False)
    kept: CaseStoreProtocol = field(init=False)

    def __post_init__(self) -> None:
        self.metrics = Metrics(self.desk, self.shelf)
        self.kept = LocalCaseStore(self.shelf)

    async def judge_one(
        self, request: JudgeRequestBody, owner: str, listener: StepCallback | None = None, *, patient: bool = False
    ) -> tuple[JudgeResponse, JudgeOutput]:
        """Errors: `problems.NO_JUDGMENT`."""
        started, trace_id = time.monotonic(), uuid.uuid4().hex
        played = await self.run(lambda: self.request(request, trace_id, owner), owner, listener, patient=patient)
        seconds = time.monotonic() - started
        return response(trace_id, self.judge.name, result_of(played), seconds, trace=request.trace), played

    async def run(
        self,
        make: Callable[[], Awaitable[JudgeRequest]],
        owner: str,
        listener: StepCallback | None = None,
        *,
        patient: bool = False,
    ) -> JudgeOutput:
        """One game; its case stays on the shelf until it is over. `patient` as for the desk. Errors:
        `problems.NO_JUDGMENT`."""
        ask = await make()
        with self.metrics.request() as ended, self.shelf.pin(ask.item.case_id):
            played = await self.desk.submit(ask, owner=owner, listener=listener, patient=patient)
            if played.over is not None:
                raise TooLong(*played.over)
            ended(played)
        if self.traces is not None and not self.traces.keep(played, owner):
            self.metrics.traces_lost.inc()
        return played

    async def request(self, request: JudgeRequestBody, item_id: str, owner: str) -> JudgeRequest:
        """Errors: as for `context`."""
        context = await self.context(request.context, request.case_id, owner)
        return request_of(
            item_id,
            self.shelf,
            reasoning_a=request.reasoning_a,
            reasoning_b=request.reasoning_b,
            context=context,
            decision=request.decision,
            domain=request.domain,
            owner=owner,
        )

    async def context(self, text: str | None, case_id: str | None, owner: str) -> str:
        """The text of a case, given or put before. Errors: HTTPException 404 for a case that is not there, 413 for one
        that is too large; CasesAway."""
        if case_id is not None:
            try:
                return await self.kept.get_owned(case_id, owner)
            except KeyError:
                raise no_case(case_id) from None
        if (size := len((text or "").encode())) > self.limits.case:
            raise HTTPException(413, f"the case has {size} bytes, over the {self.limits.case} that one may have")
        return text or ""

    def close(self) -> None:
        """Let go of the judge's model and of the file of traces."""
        if isinstance(self.judge, Closable):
            self.judge.close()
        if self.traces is not None:
            self.traces.close()


def no_case(case_id: str) -> HTTPException:
    return HTTPException(404, f"there is no case {case_id}: put it at /v1/cases first")


def open_service(
    spec: str,
    *,
    recipe: Path | None = None,
    running: int = 16,
    waiting: int = 256,
    seconds: float = 300.0,
    sampling: Sampling | None = None,
    limits: Limits | None = None,
    case_bytes: int = MAX_BYTES,
    keys: Path | None = None,
    traces: Path | None = None,
) -> Service:
    """Load the judge of a SPEC; `case_bytes` is what all cases together may have. Errors: JudgeError."""
    key_file = KeyFile(keys) if keys else None
    retained = Traces(traces) if traces else None
    shelf = CaseStore(case_bytes)
    making = JudgeBuild("", texts=shelf, sampling=sampling or Sampling(), batch_size=running, recipe=recipe)
    judge = served_judge(spec, making)
    return Service(judge, shelf, RequestQueue(judge, running, waiting, seconds), limits or Limits(), key_file, retained)
