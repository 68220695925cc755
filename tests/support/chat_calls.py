"""Calls the chat API of a service over ASGI."""

import asyncio
from typing import Any

import httpx
from serving_fixture import service

from judge_r1.serving.app import create_app
from judge_r1.serving.service import Service


def call(body: dict[str, Any], served: Service | None = None) -> httpx.Response:
    async def talk() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(served or service("longer")))
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            return await asyncio.wait_for(client.post("/v1/chat/completions", json={"model": "judge-r1"} | body), 60)

    return asyncio.run(talk())


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}
