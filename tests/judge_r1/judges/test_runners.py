"""Judges behind endpoints, from their SPEC to outputs, against real servers on 127.0.0.1."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from fake_judge import searching
from fake_judge_endpoint import JudgeServer, chat_completion, error_response

from judge_r1.benchmarks.base import LoadedBenchmark
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Item
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict
from judge_r1.episode.prompts import Message, Prompt
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import BadJudge, Judge, JudgeBuild, JudgeOutput
from judge_r1.judges.direct import CHAT_TOKENS
from judge_r1.judges.panel import make_panel
from judge_r1.judges.request import CustomPrompt, JudgeRequest, TokenLimits
from judge_r1.models.base import Sampling

OPTIONS = "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3"
SUITE = pair_benchmark(mini_pairs(24))


def judge(spec: str, **fields: Any) -> Judge:
    making = JudgeBuild("", texts=SUITE.texts, batch_size=4, **fields)
    [member] = make_panel(spec, making).members
    return member


def run_judge(judge: Judge, requests: Sequence[JudgeRequest]) -> list[JudgeOutput]:
    async def work() -> list[JudgeOutput]:
        judge.check(requests)
        return [output async for output in judge.judge(requests)]

    return asyncio.run(asyncio.wait_for(work(), 120))


def test_an_agentic_judge_over_chat_plays_every_game_some_at_a_time() -> None:
    with JudgeServer(searching, wait=lambda: time.sleep(0.02)) as server:
        running = judge(f"agentic:{OPTIONS}@{server.url}#toy")
        outputs = run_judge(running, SUITE.requests(orders=2))
        assert running.name == f"agentic@{server.url}#toy"
        assert running.settings["parser"] == "strict"
        assert 1 < server.peak <= 4
    assert sorted(output.request.key for output in outputs) == sorted(
        request.key for request in SUITE.requests(orders=2)
    )
    ends = {output.trajectory.ended for output in outputs}
    assert ends == {"answer", "rejected_no_json", "context_overflow"}
    for output in outputs:
        assert output.trajectory.searches == 1
        assert {passage.case_id for turn in output.trajectory.turns for passage in turn.passages} == {
            output.request.item.case_id
        }
        assert output.usage is not None
        assert output.usage["calls"] == (1 if output.trajectory.ended == "context_overflow" else 2)
        assert isinstance(output.verdict, InvalidVerdict) == (output.trajectory.ended != "answer")


def test_a_direct_judge_over_chat_reads_tolerantly_and_searches_nothing() -> None:
    answer = 'Surely.\n```json\n{"comparison": "B > A", "violated_principles": ["P2"], "why": 1}\n```'
    with JudgeServer(lambda path, body: chat_completion(answer)) as server:
        running = judge(f"direct:context=none@{server.url}#toy")
        outputs = run_judge(running, SUITE.requests())
        assert len(server.bodies) == len(SUITE.items)
        assert all("stop" not in body and len(body["messages"]) == 2 for body in server.bodies)
        assert "one JSON object" in server.bodies[0]["messages"][0]["content"]
    assert running.settings["parser"] == "tolerant"
    assert {output.verdict for output in outputs} == {PairwiseVerdict(winner="B")}


@pytest.mark.parametrize(
    ("options", "limits", "limit"),
    [
        ("context=none", TokenLimits(), CHAT_TOKENS),
        ("context=none,budget.response_tokens=77", TokenLimits(), 77),
        ("context=none", TokenLimits(response_tokens=88), 88),
    ],
)
def test_a_direct_judge_leaves_space_for_thoughts_and_counts_truncated_answers(
    options: str, limits: TokenLimits, limit: int
) -> None:
    cut = chat_completion("<think>B says that", finish="length")
    with JudgeServer(lambda path, body: cut) as server:
        [output] = run_judge(judge(f"direct:{options}@{server.url}#toy", limits=limits), SUITE.requests()[:1])
        assert server.bodies[0]["max_tokens"] == limit
    assert output.usage is not None
    assert output.usage["truncated"] == 1
    assert isinstance(output.verdict, InvalidVerdict)


@pytest.mark.parametrize("kind", ["direct:context=none", "agentic:" + OPTIONS, "memo:metrics=principles"])
def test_the_field_of_the_token_limit_is_an_option_for_any_host(kind: str) -> None:
    with JudgeServer(searching) as server:
        for option, field in (("", "max_tokens"), (",token_field=max_completion_tokens", "max_completion_tokens")):
            server.bodies.clear()
            run_judge(judge(f"{kind}{option}@{server.url}#toy", sampling=Sampling(1.0)), SUITE.requests()[:1])
            both = {"max_tokens", "max_completion_tokens"} & server.bodies[0].keys()
            assert both == {field}
            assert ("temperature" in server.bodies[0]) == (field == "max_tokens")  # newer models take 1 alone


def test_a_file_of_the_user_is_the_prompt_of_a_direct_judge(tmp_path: Path) -> None:
    """One user message with the texts of the pair; tags in them are escaped, and the answer is read tolerantly."""
    file = tmp_path / "table11.txt"
    file.write_text(
        "Compare ($$0) two $domain texts.\n$principles\n[$context]\n$decision\nA: $reasoning_a\nB: $reasoning_b\n"
    )
    item = SUITE.requests()[0]
    with JudgeServer(lambda path, body: chat_completion('{"comparison": "A>B", "violated_principles": [2]}')) as server:
        running = judge(f"direct:prompt={file}@{server.url}#toy")
        [output] = run_judge(running, [item])
        [message] = server.bodies[0]["messages"]
    task = item.task
    assert isinstance(task, PairwiseTask)
    assert message["role"] == "user"
    assert message["content"].startswith(f"Compare ($0) two {task.domain} texts.\n1. Logical Correctness: ")
    assert message["content"].endswith(
        f"[{task.context}]\n{task.decision}\nA: {task.reasoning_a}\nB: {task.reasoning_b}"
    )
    assert output.verdict == PairwiseVerdict(winner="A")
    assert output.trajectory.judgment is not None
    assert output.trajectory.judgment.violated_principles == (2,)
    assert (running.settings["prompt"], running.settings["parser"]) == (str(file), "tolerant")
    before = running.settings["prompt_hash"]
    other = tmp_path / "other.txt"
    other.write_text("$reasoning_a or $reasoning_b?")
    assert judge(f"direct:prompt={other}@{server.url}#toy").settings["prompt_hash"] != before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("$reasoning_a", "has no field $reasoning_b: add it"),
        ("$reasoning_a $reasoning_b $contxt", "no field is named $contxt; did you mean 'context'?"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_file_of_the_user_is_named(tmp_path: Path, text: str | None, says: str) -> None:
    file = tmp_path / "own.txt"
    if text is not None:
        file.write_text(text)
    with pytest.raises(JudgeError) as error:
        judge(f"direct:prompt={file}@http://127.0.0.1:9/v1#toy")
    assert says in str(error.value)
    assert str(file) in str(error.value)


def number(text: str) -> Verdict:
    return ScoresVerdict(scores=(float(text),)) if text.isdigit() else InvalidVerdict(reason="no_number")


def prompted(words: Sequence[str]) -> LoadedBenchmark:
    items = [
        Item(item_id=word, cluster_id=word, instruction="rate", candidates=(word,), gold=len(word)) for word in words
    ]

    def question(item: Item, order: tuple[int, ...]) -> CustomPrompt:
        prompt = Prompt((Message("user", "Rate \ue0000\ue001"),), (item.candidates[0],))
        return CustomPrompt(prompt, number)

    return LoadedBenchmark(items, task=question, presentation_orders=lambda item: [(0,)])


def test_prompts_of_a_benchmark_are_for_the_direct_judge_alone() -> None:
    suite = prompted(["one", "three", "nothing", "hush", "seventeen"])

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        [message] = body["messages"]
        word = message["content"].removeprefix("Rate ")
        if word == "hush":
            return error_response(400, "blocked", "content_filter")
        if word == "seventeen":
            return chat_completion("17", finish="length")
        return chat_completion("none" if word == "nothing" else str(len(word)), reasoning="let me count")

    with JudgeServer(answer) as server:
        outputs = {
            output.request.item.item_id: output
            for output in run_judge(judge(f"direct@{server.url}#toy"), suite.requests())
        }
        agentic = judge(f"agentic:{OPTIONS}@{server.url}#toy")
        with pytest.raises(BadJudge, match=r"a prompt of its own: take a direct@MODEL judge.* --subset"):
            agentic.check(suite.requests())
        assert server.bodies[0]["max_tokens"] == CHAT_TOKENS
    verdicts = {word: output.verdict for word, output in outputs.items()}
    assert verdicts["one"] == ScoresVerdict(scores=(3.0,))
    assert verdicts["three"] == ScoresVerdict(scores=(5.0,))
    assert verdicts["nothing"] == InvalidVerdict(reason="no_number")
    assert verdicts["hush"] == InvalidVerdict(reason="content_filter")
    assert verdicts["seventeen"] == InvalidVerdict(reason="turn_budget")
    assert [turn.text for turn in outputs["one"].trajectory.turns] == ["<think>let me count</think>", "3"]


def test_a_game_that_the_server_lost_is_lost_and_the_others_are_not() -> None:
    unlucky = SUITE.items[3].candidates[0][:40]

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if unlucky in body["messages"][1]["content"]:
            return error_response(422, "I do not like this")
        return searching(path, body)

    with JudgeServer(answer) as server:
        outputs = run_judge(judge(f"agentic:{OPTIONS}@{server.url}#toy"), SUITE.requests())
    lost = [output for output in outputs if output.trajectory.infrastructure_failed]
    assert {output.trajectory.ended for output in lost} == {"infrastructure_refused"}
    assert len(lost) == sum(unlucky in item.candidates[0] or unlucky in item.candidates[1] for item in SUITE.items)
    assert len(outputs) == len(SUITE.items)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (error_response(401, "who?"), "JUDGE_R1_JUDGE_KEY"),
        (
            error_response(404, "no model toy"),
            r"^http://127\.0\.0\.1:\d+/v1/chat/completions has no .* \(status 404: no model toy\): check the path",
        ),
        (error_response(402, "pay"), "no credit is left"),
        (error_response(422, "never"), "8 consecutive requests failed, the last one with infrastructure_refused"),
    ],
)
def test_what_befalls_every_game_stops_the_row(reply: tuple[int, Any], says: str) -> None:
    with JudgeServer(lambda path, body: reply) as server:
        with pytest.raises(EndpointError, match=says):
            run_judge(judge(f"agentic:{OPTIONS}@{server.url}#toy"), SUITE.requests())
        assert len(server.bodies) <= 12


def test_the_key_of_a_judge_is_sent_and_shown_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_R1_JUDGE_KEY", "sk-judge-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")
    with JudgeServer(searching) as server:
        running = judge(f"direct@{server.url}#toy")
        run_judge(running, SUITE.requests()[:1])
        assert server.headers[0]["authorization"] == "Bearer sk-judge-0123456789"
    assert "0123456789" not in f"{running.settings} {running.name} {vars(running)}"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("agentic@http://host/v1", "names no model: add #MODEL to http://host/v1"),
        ("agentic@http://me:hunter2@host/v1#m", "must not contain a user, password or query"),
        ("agentic@vllm:host/v1#m", "must be a URL of the form"),
        ("direct@vllm:", "names no model: write vllm:NAME or vllm:URL#MODEL"),
        ("agentic:timeout=soon@http://host/v1#m", "timeout is a number of seconds"),
        ("agentic:logprobs=9@http://host/v1#m", "logprobs is true or false"),
        ("agentic:timeouts=9@http://host/v1#m", "no option timeouts; did you mean 'timeout'"),
        ("direct:token_field=tokens@http://host/v1#m", "token_field is max_tokens or max_completion_tokens"),
        ("direct:token_field=max_tokens,tokenizer=bundled:tiny@vllm:http://host/v1#m", "unknown key token_field"),
        ("direct:search=true@http://host/v1#m", "answers once"),
        ("direct:prompt=standard@bundled:tiny", "answers once"),
        ("agentic@vllm:http://host/v1#nobody/has/this", "name it by agentic:tokenizer=NAME@vllm:http://host/v1#nobody"),
        ("direct@https://api.openai.com/v1#m", "needs a key: set the environment variable OPENAI_API_KEY"),
    ],
)
def test_a_bad_spec_is_one_sentence(spec: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("JUDGE_R1_JUDGE_KEY", raising=False)
    with pytest.raises(JudgeError, match=says) as caught:
        judge(spec)
    assert "hunter2" not in str(caught.value)


def test_a_panel_asks_a_chat_judge_in_both_orders_and_several_times() -> None:
    with JudgeServer(searching) as server:
        making = JudgeBuild("", texts=SUITE.texts, sampling=Sampling(0.7, 1), batch_size=4)
        row = make_panel(f"panel:orders=2,samples=2(direct@{server.url}#toy)", making)
        outputs = run_judge(row.members[0], SUITE.requests(orders=row.orders, samples=row.samples))
        assert len({body["seed"] for body in server.bodies}) == len(outputs) == 4 * len(SUITE.items)


def local_and_served(
    kind: str, options: str, requests: Sequence[JudgeRequest]
) -> tuple[list[JudgeOutput], list[JudgeOutput]]:
    from fake_vllm import serving

    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_model, load_tokenizer

    tokenizer, model = load_tokenizer("bundled:tiny"), load_model("bundled:tiny").eval()
    local = run_judge(judge(f"{kind}:{options}@bundled:tiny"), requests)
    with serving(model, SafeTokenizer(tokenizer).decode) as server:
        served = run_judge(judge(f"{kind}:{options},tokenizer=bundled:tiny@vllm:{server.url}#toy"), requests)
    by_key = {output.request.key: output for output in served}
    return local, [by_key[output.request.key] for output in local]


@pytest.mark.parametrize("kind", ["agentic", "direct"])
def test_token_ids_over_http_give_the_outputs_of_the_local_model(kind: str) -> None:
    budget = "budget.response_tokens=8,budget.observation_tokens=32"
    options = f"context=none,{budget}" + (f",{OPTIONS}" if kind == "agentic" else "")
    local, served = local_and_served(kind, options, SUITE.requests()[:3])
    for one, other in zip(local, served, strict=True):
        a, b = one.trajectory, other.trajectory
        assert a.token_ids
        assert a.model_copy(update={"logprobs": ()}) == b.model_copy(update={"logprobs": ()})
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)
        assert (one.verdict, one.confidence) == (other.verdict, pytest.approx(other.confidence, abs=1e-4))
        assert other.usage is not None
        assert one.usage is None


def test_a_local_direct_judge_answers_a_prompt_up_to_eos() -> None:
    local, served = local_and_served("direct", "budget.response_tokens=12", prompted(["one", "three"]).requests())
    for one, other in zip(local, served, strict=True):
        assert one.trajectory.token_ids == other.trajectory.token_ids
        assert one.trajectory.ended in ("turn_budget", "answer")
        assert isinstance(one.verdict, InvalidVerdict)


def test_batches_are_by_length_out_of_all_asks_the_longest_first() -> None:
    running = judge(f"agentic:{OPTIONS},budget.response_tokens=2,budget.observation_tokens=32@bundled:tiny")
    outputs = run_judge(running, SUITE.requests())
    lengths = [len(output.trajectory.prompt_ids) for output in outputs]
    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) > 3
    short = replace(SUITE, items=SUITE.items[:3])
    with pytest.raises(BadJudge, match="none of 3 prompts fits"):
        run_judge(judge(f"agentic:{OPTIONS},prompt_tokens=5@bundled:tiny"), short.requests())
