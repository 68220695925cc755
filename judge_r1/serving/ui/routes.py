"""The page at `/`: one document with all it needs in it, which may load nothing and run nothing but itself."""

import base64
import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response

from judge_r1.core.principles import PRINCIPLES
from judge_r1.serving.service import Service

SHARED = "evaluation/report/static/"
"""Where the report's page lies; both pages look alike and build their parts in one way."""
OWN = "serving/ui/static/"
STYLES = (SHARED + "style.css", OWN + "style.css")
SCRIPTS = (
    *(SHARED + name for name in ("nodes.js", "diff.js")),
    *(OWN + name for name in ("stream.js", "trace.js", "reading.js", "verdict.js", "form.js", "main.js")),
)


@dataclass(frozen=True)
class Page:
    """`policy` is the Content-Security-Policy that allows exactly the style and the script of `body`."""

    body: bytes
    policy: str
    etag: str


def router(service: Service) -> APIRouter:
    routes = APIRouter()
    page = made(service)
    headers = {
        "Content-Security-Policy": page.policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
        "ETag": page.etag,
    }

    @routes.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def front(request: Request) -> Response:
        """A page to try the judge."""
        if request.headers.get("if-none-match") == page.etag:
            return Response(status_code=304, headers=headers)
        return Response(page.body, headers=headers, media_type="text/html; charset=utf-8")

    return routes


def made(service: Service) -> Page:
    """The page of this server. Where keys are asked for it says nothing of the judge: anybody may read it."""
    style = "\n" + "\n".join(_file(name) for name in STYLES)
    script = "\n" + "\n".join(_file(name) for name in SCRIPTS)
    data = {
        "judge": service.judge.name if service.keys is None else None,
        "limits": {"body": service.limits.body, "case": service.limits.case},
        "principles": [asdict(principle) for principle in PRINCIPLES],
        "examples": json.loads(_file(OWN + "examples.json")),
    }
    parts = {"{{ style }}": style, "{{ script }}": script, "{{ data }}": _quoted(data)}
    text = _file(OWN + "index.html")
    for mark, part in parts.items():
        before, after = text.split(mark)
        text = before + part + after
    body = text.encode()
    return Page(body, _policy(style, script), f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "connect-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _quoted(data: Any) -> str:
    """JSON that can stand in a script element: nothing in it begins a tag."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


def _file(name: str) -> str:
    return (files("judge_r1") / name).read_text(encoding="utf-8")
