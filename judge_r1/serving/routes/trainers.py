"""The reward protocols of OpenRLHF and slime, which send one sample at a time.

Samples with equal prompts and labels are a group. The URL that the trainer is given holds the settings, such as
`http://127.0.0.1:8000/get_reward?size=8&schedule=circular`. A sample without a judgment gets an HTTP error: neither
protocol has a value for it. Both trainers then send it again.
"""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from judge_r1.core.event_loop import gather_all
from judge_r1.core.text_check import counted
from judge_r1.core.wire import RequestModel, ResponseModel, Text
from judge_r1.rewards.group import Orders
from judge_r1.rewards.schedule import Schedule
from judge_r1.rewards.texts import Content, response_of, without_markup
from judge_r1.serving.cancellation import cancel_on_disconnect
from judge_r1.serving.cohorts import Cohort
from judge_r1.serving.errors import JUDGE_ERRORS
from judge_r1.serving.json_body import json_router
from judge_r1.serving.middleware.auth import tenant_of
from judge_r1.serving.routes.score import charge
from judge_r1.serving.service import Service


class Settings(RequestModel):
    """The query of the URL. The schedule `anchor` compares each sample with its label."""

    size: int = Field(ge=1, description="samples of a prompt")
    schedule: Schedule = "circular"
    orders: Orders = 2
    deadline: float | None = Field(None, gt=0)


class OpenRlhfRequest(BaseModel):
    """`query` holds prompts with their responses."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"examples": [{"query": ["2+2? 4."], "prompts": ["2+2? "], "labels": ["4"]}]}
    )
    query: list[Text] = Field(min_length=1)
    prompts: list[Text]
    labels: list[Any]


class OpenRlhfResponse(ResponseModel):
    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


class SlimeRequest(BaseModel):
    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"examples": [{"prompt": "2+2?", "response": "4.", "label": "4"}]}
    )
    prompt: Text | list[dict[str, Any]]
    response: Text
    label: Any = None


def router(service: Service) -> APIRouter:
    routes = json_router(tags=["trainers"], responses=JUDGE_ERRORS)

    @routes.post("/get_reward")
    async def openrlhf(
        body: OpenRlhfRequest, settings: Annotated[Settings, Query()], request: Request
    ) -> OpenRlhfResponse:
        """OpenRLHF's `--reward.remote_url`."""
        if not len(body.query) == len(body.prompts) == len(body.labels):
            raise HTTPException(422, "query, prompts and labels must have equal lengths")
        if len(body.query) > (limit := service.limits.batch):
            raise HTTPException(413, f"{counted(len(body.query), 'sample')} in a request: the limit is {limit}")
        cohorts = [
            cohort("openrlhf", prompt, label, settings, request)
            for prompt, label in zip(body.prompts, body.labels, strict=True)
        ]
        for one in cohorts:
            charge(request, one)
        works = [
            service.join(one, without_markup(response_of(query, prompt)))
            for one, query, prompt in zip(cohorts, body.query, body.prompts, strict=True)
        ]
        found = await cancel_on_disconnect(request, gather_all(works))
        rewards = [score for score, _ in found]
        failed = [group.failed / max(1, len(group.comparisons)) for _, group in found]
        return OpenRlhfResponse(rewards=rewards, scores=rewards, extra_logs={"judge_failure_rate": failed})

    @routes.post("/v1/rewards/slime")
    async def slime(body: SlimeRequest, settings: Annotated[Settings, Query()], request: Request) -> float:
        """slime's `--rm-type remote_rm --rm-url`. The response is the reward."""
        one = cohort("slime", body.prompt, body.label, settings, request)
        charge(request, one)
        score, _ = await cancel_on_disconnect(request, service.join(one, without_markup(body.response)))
        return score

    return routes


def cohort(name: str, prompt: Content, label: Any, settings: Settings, request: Request) -> Cohort:
    reference = "" if label is None else str(label)
    anchored = settings.schedule == "anchor" and bool(reference.strip())
    if settings.size < 2 and not anchored:
        raise HTTPException(422, "one sample cannot be compared: use schedule=anchor with labels, or a larger size")
    return Cohort(
        tenant_of(request),
        f"{name} {reference}",
        without_markup(prompt),
        settings.size,
        reference if anchored else None,
        schedule=settings.schedule,
        orders=settings.orders,
        deadline_s=settings.deadline,
    )
