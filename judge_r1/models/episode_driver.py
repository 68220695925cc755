"""What all backends over HTTP share: what a game has used, a search with a deadline, and how a game ends that a server
did not answer.

A server that gives no answer loses the game (`infrastructure_…`: it is played again). A judge that declined to answer,
or was asked more than it reads, has given an answer that does not count, by name.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from judge_r1.core.endpoint import RequestRejected, RetriesExhausted
from judge_r1.core.records import Evidence
from judge_r1.episode.machine import Episode, Search
from judge_r1.models.step_callback import notify_step

SEARCH_S = 300.0
"""Deadline of one search, queues included."""
CaseSearch = Callable[[str], list[Evidence]]
"""Searches the one case of an episode."""

_DECLINED = {
    "context_overflow": re.compile(
        r"context[ _](length|window)|maximum (context|input|prompt|model) |prompt is too long|too many (input )?tokens|"
        r"longer than the (maximum )?model|max_model_len",
        re.IGNORECASE,
    ),
    "content_filter": re.compile(r"content[ _]?(filter|management|policy)|ResponsibleAI|safety system", re.IGNORECASE),
}
_log = logging.getLogger(__name__)


@dataclass
class Usage:
    """Calls that were answered, tokens by the server's own count, and seconds from question to answer."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def as_dict(self) -> dict[str, float]:
        return asdict(self) | {"seconds": round(self.seconds, 3)}


def declined(said: str) -> str | None:
    """The name of the invalid answer that a server's refusal stands for; None where it means something else."""
    return next((name for name, pattern in _DECLINED.items() if pattern.search(said)), None)


async def answered(episode: Episode, step: Awaitable[None]) -> None:
    """Do one step of an episode and end it where the server did not answer. Errors: EndpointError for what would befall
    every other episode, too."""
    try:
        await step
    except RequestRejected as error:
        if name := declined(error.said):
            episode.end(name)
        else:
            _log.error("a game is lost: %s", error)
            episode.abort("refused")
    except RetriesExhausted as error:
        _log.error("a game is lost: %s", error)
        episode.abort("no_answer")
    notify_step(episode)


async def search_into(episode: Episode, search: CaseSearch) -> None:
    """The search that the episode waits for."""
    assert isinstance(episode.state, Search)
    try:
        passages = await asyncio.wait_for(asyncio.to_thread(search, episode.state.query), SEARCH_S)
    except asyncio.TimeoutError:  # not the builtin before Python 3.11
        episode.abort("search_timeout")
    except Exception:
        _log.exception("a game is lost in a search")
        episode.abort("search_error")
    else:
        episode.observe(passages)
    notify_step(episode)
