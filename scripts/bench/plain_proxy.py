"""The least that serves a judge at an endpoint: reads a pair, asks the model, returns its answer.

python -m scripts.bench.plain_proxy http://127.0.0.1:8001/v1 8000
"""

import json
import sys
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Pair(BaseModel):
    context: str
    decision: str
    reasoning_a: str
    reasoning_b: str
    domain: str


app = FastAPI()
client = httpx.AsyncClient(timeout=60)


@app.post("/v1/judge")
async def judge(pair: Pair) -> dict[str, Any]:
    prompt = "\n\n".join(["Which is better?", pair.context, pair.decision, pair.reasoning_a, pair.reasoning_b])
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], "max_tokens": 1000, "temperature": 0}
    reply = (await client.post(f"{sys.argv[1]}/chat/completions", json=body)).raise_for_status()
    text = reply.json()["choices"][0]["message"]["content"]
    found: dict[str, Any] = json.loads(text[text.index("{") :])
    return {"winner": found["comparison"][0], **found}


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[2]))
