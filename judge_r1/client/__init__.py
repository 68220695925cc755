"""The Python client of a served judge: typed responses, retries, and a deadline for every request.

    with Client("http://127.0.0.1:8000") as judge:
        print(judge.judge(context=..., reasoning_a=..., reasoning_b=...).winner)

`AsyncClient` is the asynchronous version. The client needs the extra `endpoints` and no model libraries.
"""

from judge_r1.client.async_client import AsyncClient, BadRequest
from judge_r1.client.responses import CallStarted, Event, SearchStarted, ServerError, ServerRefuses
from judge_r1.client.sync_client import Client
from judge_r1.core.endpoint import RetriesExhausted

__all__ = [
    "AsyncClient",
    "BadRequest",
    "CallStarted",
    "Client",
    "Event",
    "RetriesExhausted",
    "SearchStarted",
    "ServerError",
    "ServerRefuses",
]
