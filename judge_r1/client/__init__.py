"""A served judge from Python: typed answers, patience with what may pass, and a deadline for everything.

    with Client("http://127.0.0.1:8000") as judge:
        print(judge.judge(context=..., reasoning_a=..., reasoning_b=...).winner)

`AsyncClient` is the same with `async` and `await`. Needs the extra `endpoints` and none of a model's libraries.
"""

from judge_r1.client.async_client import AsyncClient, BadRequest
from judge_r1.client.responses import Event, SearchBegan, ServerError, ServerRefuses
from judge_r1.client.sync_client import Client
from judge_r1.core.endpoint import RetriesExhausted

__all__ = [
    "AsyncClient",
    "BadRequest",
    "Client",
    "Event",
    "RetriesExhausted",
    "SearchBegan",
    "ServerError",
    "ServerRefuses",
]
