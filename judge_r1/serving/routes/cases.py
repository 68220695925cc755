"""Routes for cases that are uploaded once and judged many times. An id exists only for its own tenant."""

from fastapi import APIRouter, HTTPException, Request, Response

from judge_r1.core.wire import CaseRequest, CaseResponse
from judge_r1.serving.errors import documented_errors
from judge_r1.serving.json_body import json_router
from judge_r1.serving.middleware.auth import tenant_of
from judge_r1.serving.schemas import CaseList, CaseText
from judge_r1.serving.service import Service


def router(service: Service) -> APIRouter:
    routes = json_router(tags=["cases"], responses=documented_errors())

    @routes.put("/v1/cases", responses=documented_errors(400))
    async def put_case(body: CaseRequest, request: Request) -> CaseResponse:
        """Store a case and its search index. The least recently used cases are evicted when the store is full."""
        tenant = tenant_of(request)
        text = await service.context(body.context, None, tenant)
        return CaseResponse(case_id=await service.case_store.put(text, tenant), bytes=len(text.encode()))

    @routes.get("/v1/cases")
    async def list_cases(request: Request) -> CaseList:
        """Your stored cases, least recently used first."""
        sizes = await service.case_store.sizes(tenant_of(request))
        return CaseList(cases=[CaseResponse(case_id=case_id, bytes=size) for case_id, size in sizes.items()])

    @routes.get("/v1/cases/{case_id}", responses=documented_errors(404))
    async def get_case(case_id: str, request: Request) -> CaseText:
        """The text of a case."""
        try:
            return CaseText(case_id=case_id, context=await service.case_store.get_owned(case_id, tenant_of(request)))
        except KeyError:
            raise HTTPException(404, f"there is no case {case_id}") from None

    @routes.delete("/v1/cases/{case_id}", status_code=204, responses=documented_errors(404))
    async def delete_case(case_id: str, request: Request) -> Response:
        """Delete a case."""
        try:
            await service.case_store.remove(case_id, tenant_of(request))
        except KeyError:
            raise HTTPException(404, f"there is no case {case_id}") from None
        return Response(status_code=204)

    return routes
