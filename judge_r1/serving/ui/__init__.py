"""The web page of a served judge."""

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
"""Style and scripts of the report page, which this page shares."""
OWN = "serving/ui/static/"
STYLES = (SHARED + "style.css", OWN + "style.css")
SCRIPTS = (
    *(SHARED + name for name in ("nodes.js", "diff.js", "episode.js")),
    *(OWN + name for name in ("stream.js", "trace.js", "turns.js", "verdict.js", "form.js", "main.js")),
)


@dataclass(frozen=True)
class Page:
    """`policy` is a Content-Security-Policy that allows only the style and the script of `body`."""

    body: bytes
    policy: str
    etag: str


def router(service: Service) -> APIRouter:
    routes = APIRouter()
    page = render_page(service)
    headers = {
        "Content-Security-Policy": page.policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
        "ETag": page.etag,
    }

    @routes.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def index(request: Request) -> Response:
        """A web page to try the judge."""
        if request.headers.get("if-none-match") == page.etag:
            return Response(status_code=304, headers=headers)
        return Response(page.body, headers=headers, media_type="text/html; charset=utf-8")

    return routes


def render_page(service: Service) -> Page:
    """The page of this server. It needs no key, so it omits the judge's name if the server uses keys."""
    style = "\n" + "\n".join(_file(name) for name in STYLES)
    script = "\n" + "\n".join(_file(name) for name in SCRIPTS)
    settings = service.judge.settings
    data = {
        "judge": service.judge.name if service.keys is None else None,
        "whole_case": all(one.get("context") == "full" for one in settings.get("members") or [settings]),
        "note": service.note if service.keys is None else None,
        "limits": {"body": service.limits.body, "case": service.limits.case},
        "principles": [asdict(principle) for principle in PRINCIPLES],
        "examples": json.loads(_file(OWN + "examples.json")),
    }
    parts = {"{{ style }}": style, "{{ script }}": script, "{{ data }}": _script_json(data)}
    text = _file(OWN + "index.html")
    for placeholder, part in parts.items():
        before, after = text.split(placeholder)
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


def _script_json(data: Any) -> str:
    """JSON that is safe inside a script element: it contains no tag."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


def _file(name: str) -> str:
    return (files("judge_r1") / name).read_text(encoding="utf-8")
