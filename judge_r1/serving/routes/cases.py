"""Cases that are put once and judged many times. An id is its owner's alone: to others it does not exist."""

from fastapi import APIRouter, HTTPException, Request, Response

from judge_r1.core.wire import CaseRequest, CaseResponse
from judge_r1.serving.errors import documented
from judge_r1.serving.middleware.auth import tenant_of
from judge_r1.serving.schemas import CaseList, CaseText
from judge_r1.serving.service import Service


def router(service: Service) -> APIRouter:
    routes = APIRouter(tags=["cases"], responses=documented())

    @routes.put("/v1/cases", responses=documented(400))
    async def put_case(body: CaseRequest, request: Request) -> CaseResponse:
        """Keep a case to judge it many times; its index is kept, too. The least used give way."""
        owner = tenant_of(request)
        text = await service.context(body.context, None, owner)
        return CaseResponse(case_id=await service.kept.put(text, owner), bytes=len(text.encode()))

    @routes.get("/v1/cases")
    async def list_cases(request: Request) -> CaseList:
        """The cases that you have put or sent along and that are still there, the least used first."""
        sizes = await service.kept.sizes(tenant_of(request))
        return CaseList(cases=[CaseResponse(case_id=case_id, bytes=size) for case_id, size in sizes.items()])

    @routes.get("/v1/cases/{case_id}", responses=documented(404))
    async def get_case(case_id: str, request: Request) -> CaseText:
        """The text of a case."""
        try:
            return CaseText(case_id=case_id, context=await service.kept.get_owned(case_id, tenant_of(request)))
        except KeyError:
            raise HTTPException(404, f"there is no case {case_id}") from None

    @routes.delete("/v1/cases/{case_id}", status_code=204, responses=documented(404))
    async def delete_case(case_id: str, request: Request) -> Response:
        """Forget a case."""
        try:
            await service.kept.remove(case_id, tenant_of(request))
        except KeyError:
            raise HTTPException(404, f"there is no case {case_id}") from None
        return Response(status_code=204)

    return routes
