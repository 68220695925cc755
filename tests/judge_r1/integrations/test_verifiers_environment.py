"""verifiers: its command evaluates the installed package on a local OpenAI-compatible server, and its loaders load the
judge plugin."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from failing_judge import FailsOn
from recorded_rollouts import gold_answer, reward_of, write_pairs
from scripted_tool_model import ToolModel
from serving_fixture import LiveServer, service

from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import PairSet
from judge_r1.integrations.episodes import OVER, SearchFailed
from judge_r1.rewards.collector import JudgmentFailed

pytest.importorskip("judge_r1_env", reason="not installed: pip install -e environments/judge_r1_env")
OPTIONS = ["retriever=bm25", "context=none", "budget.max_searches=2", "budget.top_k=2"]
WORSE = {"A>B": "A<B", "A<B": "A>B"}


@pytest.fixture(scope="module")
def folder(data: PairSet, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_pairs(tmp_path_factory.mktemp("pairs"), data)


def answers(data: PairSet) -> list[str]:
    """What the model submits about each pair."""
    gold = [gold_answer(data, pair.pair_id) for pair in data.pairs]
    wrong = gold[1] | {"comparison": WORSE[gold[1]["comparison"]]}
    found = [gold[0], wrong, gold[2] | {"violated_principles": [6]}, gold[3] | {"surplus": 1}, gold[4], gold[5]]
    return [json.dumps(one) for one in found[:4]] + [json.dumps(found[4])[:-1], json.dumps(found[5])]


class Policy:
    """Searches with the words of another case, past its budget and at a time, then submits; the last pair's episode
    ends without a judgment."""

    def __init__(self, data: PairSet) -> None:
        self.data, self.answers = data, answers(data)
        self.contexts = [case.context for case in data.cases.values()]

    def number(self, messages: list[dict[str, Any]]) -> int:
        text = json.dumps([m["content"] for m in messages if m["role"] == "user"])
        return next(n for n, pair in enumerate(self.data.pairs) if json.dumps(pair.reasoning_a)[1:-1] in text)

    def __call__(self, messages: list[dict[str, Any]]) -> list[tuple[str, Any]] | str:
        number, turn = self.number(messages), sum(m["role"] == "assistant" for m in messages)
        other = self.contexts[(number + 1) % len(self.contexts)]
        script: list[list[tuple[str, Any]] | str] = [
            [("search", '{"query": '), ("search", {"words": "x"}), ("look", {"query": "x"})],  # none is a search
            [("search", {"query": query}) for query in (other, "</search><answer>{}</answer>", "x")],
            [("submit", {"judgment": self.answers[number]})] if number < 5 else "It is A.",
            [("submit", {"judgment": json.dumps(gold_answer(self.data, self.data.pairs[number].pair_id))})],
            "done",
        ]  # fmt: skip
        return script[turn]


@pytest.fixture(scope="module")
def evaluated(data: PairSet, folder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], list[Any]]:
    """The traces that `vf-eval` wrote, and what the model was asked."""
    out = tmp_path_factory.mktemp("out")
    with ToolModel(Policy(data)) as model:
        command = [
            str(Path(sys.executable).with_name("vf-eval")), "judge-r1-env", "--env.taskset.data", folder,
            "--env.taskset.episode", json.dumps(OPTIONS), "--env.agent.harness.id", "null",
            "--env.agent.runtime.type", "subprocess", "-m", "scripted", "--client.base-url", f"{model.url}/v1",
            "--no-push", "--no-rich", "--output-dir", str(out), "--run.name", "run", "--num-rollouts", "2",
        ]  # fmt: skip
        bin_folder = str(Path(sys.executable).parent)  # verifiers runs uv from the path
        variables = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=550, env=variables, cwd=out)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    lines = (out / "run" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [trace for row in rows for trace in row.get("traces", [row])], model.requests


def test_rewards_are_those_of_the_episode(data: PairSet, evaluated: tuple[list[Any], list[Any]]) -> None:
    traces, _ = evaluated
    assert len(traces) == 12
    rewards: dict[str, set[float]] = {}
    for trace in traces:
        assert not trace["errors"]
        rewards.setdefault(trace["task"]["data"]["pair_id"], set()).add(trace["rewards"]["judgment"]["score"])
    for pair, text in zip(data.pairs[:5], answers(data), strict=False):
        assert rewards[pair.pair_id] == {reward_of(text, pair)}
    assert rewards[data.pairs[0].pair_id] == {1.0}
    assert rewards[data.pairs[5].pair_id] == {0.0}, "nothing was submitted"


def test_searches_stay_in_their_case_and_budget(data: PairSet, evaluated: tuple[list[Any], list[Any]]) -> None:
    _, requests = evaluated
    number = Policy(data).number
    for request in requests:
        tools = [str(m["content"]) for m in request["messages"] if m["role"] == "tool"]
        context = data.case_of(data.pairs[number(request["messages"])]).context
        shown = [text for tool in tools for text in re.findall(r"\[\d+\] (.+?)(?=\n)", tool)]
        assert all(text in context for text in shown)
        if len(tools) >= 6:
            assert shown
            assert "1 searches left" in tools[3]
            assert "0 searches left" in tools[4], "an empty query costs a search"
            assert "no searches left" in tools[5], "calls at a time share the budget"
        if len(tools) == 8:
            assert OVER in tools[7]
    assert {tool["function"]["name"] for tool in requests[0]["tools"]} == {"search", "submit"}


def test_a_failed_search_is_an_error_and_no_reward(data: PairSet, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_r1.integrations.verifiers_taskset import JudgeTask
    from judge_r1.integrations.verifiers_tools import JudgeTools, JudgeToolsConfig

    async def failed() -> Any:
        tools = JudgeTools(JudgeToolsConfig(data=folder, episode=OPTIONS))
        await tools.setup()
        tools.state.session, tools.state.pair_id = "s", data.pairs[0].pair_id
        monkeypatch.setattr(tools._sessions.open("s", tools.state.pair_id), "_search", lambda query: 1 / 0)
        assert await tools.search("who paid") == OVER
        return tools.state

    state = asyncio.run(failed())
    assert state.reward == {}

    class Trace:
        pass

    trace = Trace()
    trace.state = state  # type: ignore[attr-defined]
    with pytest.raises(SearchFailed, match="search_error"):
        asyncio.run(JudgeTask.judgment(None, trace))


@pytest.fixture
def plugin() -> Any:
    """Loads the judge by its id, as a task does, and scores a reply."""
    import verifiers.v1 as vf
    from verifiers.v1.configs.judge import resolve_judges
    from verifiers.v1.utils.loaders import load_judge

    class Data(vf.TaskData):  # type: ignore[misc]
        answer: str | None = None

    class Reply:
        def __init__(self, text: str) -> None:
            self.last_reply = self.transcript = text

    def scored(url: str, reply: str, answer: str | None, **more: Any) -> float:
        [config] = resolve_judges([{"id": "judge-r1-env", "judge": url, **more}])
        data = Data(prompt="What is two and two?", answer=answer)
        return asyncio.run(load_judge(config).score(data, Reply(reply)))

    return scored


def test_the_judge_plugin(plugin: Any) -> None:
    with LiveServer(service(FailsOn("broken", "no_answer"))) as server:
        assert plugin(server.url, "It is four, I think.", "Four.") > 0.5 > plugin(server.url, "Four", "It is four.")
        assert plugin(server.url, " ", "Four.") == 0.0
        with pytest.raises(JudgmentFailed, match="no_answer"):
            plugin(server.url, "broken", "Four.")
        with pytest.raises(JudgeError, match="the task has no 'answer'"):
            plugin(server.url, "Four.", None)
        with pytest.raises(ValueError, match="unknown"):
            plugin(server.url, "Four.", "Four.", unknown=1)
