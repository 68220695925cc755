"""Episodes whose retrieval server, another process, is killed or stops answering between two of their searches."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_index import BM25
from judge_r1.episode.chat_driver import EOS, TextTokenizer
from judge_r1.episode.config import Budget
from judge_r1.episode.driver import CaseSearch, EpisodeDriver
from judge_r1.episode.machine import Episode
from judge_r1.episode.rollout import batch_search
from judge_r1.models.base import GenerateRequest, Generation, Usage
from retrieval.client import RemoteRetriever
from retrieval.errors import SearchTimeout
from retrieval.retriever import Retriever

TEXTS = {f"c{n}": f"c{n} paid Ada in March. c{n} paid Bob in April. c{n} paid Eve in May." for n in range(6)}
BUDGET = Budget(max_searches=2, top_k=2, response_tokens=60, observation_tokens=200)
ANSWER = '<answer>{"comparison": "A>B", "violated_principles": [2]}</answer>'
TURNS = ("<search>who paid in April</search>", "<search>Eve</search>", ANSWER)
DEADLINE_S = 2.0


class Server:
    """`python -m retrieval.server` at one address. It can be killed and started again."""

    def __init__(self, cases: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.cases, self.url = cases, f"http://127.0.0.1:{self.port}"
        self.start()
        until = time.monotonic() + 60
        while not self.answers():
            assert self.process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)

    def start(self) -> None:
        options = ["--retriever", BM25, "--passage-words", "5", "--port", str(self.port)]
        self.process = subprocess.Popen([sys.executable, "-m", "retrieval.server", str(self.cases), *options])

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=5).is_success
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)


class ScriptedModel:
    """Writes `TURNS`. Before the second turn of the last episode it calls `fault` once."""

    def __init__(self, tokenizer: TextTokenizer, episodes: int, fault: Callable[[], None]) -> None:
        self.tokenizer, self.left, self.fault = tokenizer, episodes, fault

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        found = []
        for request in requests:
            turn = self.tokenizer.decode(request.prompt_ids or ()).count("</search>")
            if turn == 1:
                self.left -= 1
                if not self.left:
                    self.fault()
                while self.left:  # all episodes have searched once
                    await asyncio.sleep(0.01)
            ids = self.tokenizer.encode_trusted(TURNS[turn])
            found.append(Generation(token_ids=ids, logprobs=[-0.5] * len(ids)))
        return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(json.dumps({"case_id": name, "context": text}) + "\n" for name, text in TEXTS.items()))
    server = Server(cases)
    yield server
    server.kill()


def new_episodes(tokenizer: TextTokenizer) -> list[Episode]:
    return [Episode(tokenizer.encode_trusted(f"judge {name}"), BUDGET, tokenizer, eos_ids=(EOS,)) for name in TEXTS]


def run(server: Server, fault: Callable[[], None], timeout_s: float) -> tuple[list[Trajectory], RemoteRetriever]:
    """One episode for each case, side by side."""
    tokenizer, remote = TextTokenizer(), RemoteRetriever(server.url, timeout_s=timeout_s, passage_words=5)
    episodes, driver = new_episodes(tokenizer), EpisodeDriver(ScriptedModel(tokenizer, len(TEXTS), fault))
    search = batch_search(remote, list(TEXTS), BUDGET.top_k)

    def of_case(number: int) -> CaseSearch:
        return lambda query: search([(number, query)])[0]

    async def work() -> None:
        runs = [driver.run_episode(episode, of_case(n), Usage()) for n, episode in enumerate(episodes)]
        await asyncio.wait_for(asyncio.gather(*runs), 120)

    asyncio.run(work())
    return [episode.trajectory() for episode in episodes], remote


def local(query: str) -> list[list[Evidence]]:
    """What each episode must find."""
    retriever = Retriever(TEXTS, method=BM25, passage_words=5)
    return batch_search(retriever, list(TEXTS), BUDGET.top_k)([(n, query) for n in range(len(TEXTS))])


def test_episodes_go_on_when_a_killed_server_is_started_again(server: Server) -> None:
    def restart() -> None:
        server.kill()
        server.start()

    trajectories, remote = run(server, restart, timeout_s=90)
    assert [trajectory.ended for trajectory in trajectories] == ["answer"] * len(TEXTS)
    assert remote.retries > 0
    found = [[list(turn.passages) for turn in trajectory.turns[:2]] for trajectory in trajectories]
    expected = [list(both) for both in zip(local("who paid in April"), local("Eve"), strict=True)]
    assert found == expected


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_episodes_of_a_server_that_stays_away_fail_at_their_deadline(server: Server, number: signal.Signals) -> None:
    began = time.monotonic()
    trajectories, _ = run(server, lambda: server.process.send_signal(number), DEADLINE_S)
    assert time.monotonic() - began < DEADLINE_S + 20
    assert [trajectory.ended for trajectory in trajectories] == ["infrastructure_search_timeout"] * len(TEXTS)
    for trajectory, passages in zip(trajectories, local("who paid in April"), strict=True):
        assert trajectory.infrastructure_failed
        assert trajectory.judgment is None
        assert [list(turn.passages) for turn in trajectory.turns] == [passages, []]
        assert len(trajectory.token_ids) == len(trajectory.loss_mask) == len(trajectory.logprobs)


def test_a_batch_of_a_killed_server_raises_at_its_deadline(server: Server) -> None:
    tokenizer, remote = TextTokenizer(), RemoteRetriever(server.url, timeout_s=DEADLINE_S, passage_words=5)
    search = batch_search(remote, list(TEXTS), BUDGET.top_k)
    driver = EpisodeDriver(ScriptedModel(tokenizer, len(TEXTS), server.kill))
    began = time.monotonic()
    with pytest.raises(SearchTimeout, match=f"gave no answer within {DEADLINE_S:g} s"):
        driver.run_episodes(new_episodes(tokenizer), search, 0.0)
    assert time.monotonic() - began < DEADLINE_S + 20
