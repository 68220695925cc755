"""What an evaluation does with a server that is too small, too slow or says odd things of itself: one table."""

import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer, chat_completion, error_response

from judge_r1.cli.eval import eval_
from judge_r1.core.endpoint import DEFAULT_POLICY, EndpointError, RetryPolicy
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.votes import stored_votes
from judge_r1.files.jsonl import write_jsonl

DATA = mini_pairs(24)
SIZE = len(DATA.pairs)
ANSWER = json.dumps({"comparison": "A>B", "violated_principles": [2]})
Reply = tuple[int, Any]
ASKED, WINDOW = 16384, 8192


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without waiting."""
    defaults = [
        0.001 if name == "backoff_s" else getattr(DEFAULT_POLICY, name) for name in DEFAULT_POLICY.__match_args__
    ]
    monkeypatch.setattr(RetryPolicy.__init__, "__defaults__", tuple(defaults))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "data" / "cases.jsonl", DATA.cases.values())
    write_jsonl(tmp_path / "data" / "pairs.jsonl", DATA.pairs)
    return tmp_path / "data"


def evaluate(data: Path, url: str, options: str = "context=none", out: str = "eval", **more: Any) -> dict[str, Any]:
    eval_(judge=[f"judge=direct:{options}@{url}#toy"], path=data, out=data.parent / out, **more)
    summary: dict[str, Any] = json.loads((data.parent / out / "summary.json").read_text())
    return summary


def tokens_of(body: dict[str, Any]) -> int:
    return sum(len(message["content"].split()) for message in body["messages"]) * 4 // 3


def answered(body: dict[str, Any], tokens: int | None = None, **more: Any) -> Reply:
    status, reply = chat_completion(ANSWER)
    usage = {"prompt_tokens": tokens or tokens_of(body), "completion_tokens": 20}
    return status, reply | {"usage": usage} | more


def vllm(body: dict[str, Any], prompt: int) -> Reply:
    """A server with a window, as vLLM 0.10 words its refusals."""
    answer = body["max_tokens"]
    if prompt >= WINDOW:
        message = f"This model's maximum context length is {WINDOW} tokens. However, your request has {prompt} input"
        return error_response(400, f"{message} tokens. Please reduce the length of the input messages.")
    if prompt + answer > WINDOW:
        return error_response(
            400,
            f"'max_tokens' or 'max_completion_tokens' is too large: {answer}. This model's maximum context length is "
            f"{WINDOW} tokens and your request has {prompt} input tokens ({answer} > {WINDOW} - {prompt}).",
        )
    return answered(body)


def later_vllm(body: dict[str, Any], prompt: int) -> Reply:
    """As vLLM 0.19, which reads no more of a prompt than fits."""
    answer = body["max_tokens"]
    if answer > WINDOW:
        return error_response(400, f"max_tokens={answer}cannot be greater than max_model_len=max_total_tokens={WINDOW}")
    if prompt + answer > WINDOW:
        return error_response(
            400,
            f"This model's maximum context length is {WINDOW} tokens. However, you requested {answer} output tokens "
            f"and your prompt contains at least {WINDOW - answer + 1} input tokens, for a total of at least "
            f"{WINDOW + 1} tokens.",
        )
    return answered(body)


def sglang(body: dict[str, Any], prompt: int) -> Reply:
    answer = body["max_tokens"]
    if prompt >= WINDOW:
        return error_response(
            400, f"The input ({prompt} tokens) is longer than the model's context length ({WINDOW} tokens)."
        )
    if prompt + answer >= WINDOW:
        return error_response(
            400,
            f"Requested token count exceeds the model's maximum context length of {WINDOW} tokens. You requested a "
            f"total of {prompt + answer} tokens: {prompt} tokens from the input messages and {answer} tokens for the "
            "completion.",
        )
    return answered(body)


def llama_cpp(body: dict[str, Any], prompt: int) -> Reply:
    """It stops an answer at the end of its window, and refuses prompts alone."""
    if prompt >= WINDOW:
        message = f"request ({prompt} tokens) exceeds the available context size ({WINDOW} tokens), try increasing it"
        error = {"code": 400, "message": message, "type": "exceed_context_size_error", "n_prompt_tokens": prompt}
        return 400, {"error": error | {"n_ctx": WINDOW}}
    return answered(body)


def openai(body: dict[str, Any], prompt: int) -> Reply:
    """A model whose answers are short, in a large window."""
    if (answer := body["max_tokens"]) > 4096:
        return error_response(
            400,
            f"max_tokens is too large: {answer}. This model supports at most 4096 completion tokens, whereas you "
            f"provided {answer}.",
            "invalid_value",
        )
    return answered(body)


SERVERS: dict[str, Callable[[dict[str, Any], int], Reply]] = {
    "vLLM 0.10": vllm, "vLLM 0.19": later_vllm, "SGLang": sglang, "llama.cpp": llama_cpp, "OpenAI": openai,
}  # fmt: skip


def warnings(caplog: pytest.LogCaptureFixture, *words: str) -> list[str]:
    found = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    return [message for message in found if all(word in message for word in words)]


@pytest.mark.parametrize("name", SERVERS)
def test_an_answer_that_does_not_fit_is_asked_for_again_with_what_fits(
    name: str, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with JudgeServer(lambda path, body: SERVERS[name](body, tokens_of(body))) as server:
        row, *_ = evaluate(data, server.url)["rows"]
        asked = [body["max_tokens"] for body in server.bodies]
    assert (row["n"], row["ended"], row["does_not_fit"]) == (SIZE, {"answer": SIZE}, None)
    assert asked[0] == ASKED
    limits = {f"max_tokens={n}" for n in asked if n < ASKED}
    stored = [key for stored in stored_votes(data.parent / "eval") for key in stored.usage or () if key in limits]
    if name == "llama.cpp":
        assert not limits
        return
    assert len(stored) == SIZE, "each result names the limit that it was made with"
    assert sum(row["replies"]["max_tokens"].values()) == SIZE
    [warning] = warnings(caplog, "16,384 tokens", "budget.response_tokens")
    assert ("whose window is 8,192 tokens" in warning) == (name != "OpenAI")


@pytest.mark.parametrize("name", [name for name in SERVERS if name != "OpenAI"])
def test_prompts_that_do_not_fit_are_named_with_their_length_the_window_and_a_remedy(
    name: str, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One that does not fit beside others is counted; if none fits, the evaluation fails instead of ending with 0."""
    long = DATA.pairs[3]

    def answer(path: str, body: dict[str, Any]) -> Reply:
        shown = body["messages"][1]["content"]
        about = long.reasoning_a in shown and long.reasoning_b in shown
        return SERVERS[name](body, 9000 if about else tokens_of(body))

    with JudgeServer(answer) as server:
        row, *_ = evaluate(data, server.url)["rows"]
        assert row["ended"] == {"answer": SIZE - 1, "context_overflow": 1}
        assert row["does_not_fit"] == pytest.approx(1 / SIZE)
    [warning] = warnings(caplog, "does not fit", "whose window is 8,192 tokens", "--max-model-len", "llama.cpp: -c")
    assert ("a prompt of at least 7,937 tokens" if name == "vLLM 0.19" else "a prompt of 9,000 tokens") in warning

    with JudgeServer(lambda path, body: SERVERS[name](body, 9000)) as server, pytest.raises(JudgeError) as failed:
        evaluate(data, server.url, out="none")
    assert "answered none of" in str(failed.value)


def test_a_request_over_its_time_is_announced_at_once_and_sent_again_once(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(path: str, body: dict[str, Any]) -> Reply:
        time.sleep(1.4)
        return answered(body)

    with JudgeServer(answer) as server:
        started = time.monotonic()
        with pytest.raises(EndpointError, match="timeout="):
            evaluate(data, server.url, "context=none,timeout=1", batch_size=4)
        assert max(server.received.values()) == 2
    assert time.monotonic() - started < 30
    [warning] = warnings(caplog, "is sent again, once", "no response within 1 s")
    assert "timeout=" in warning
    assert "--batch-size" in warning


@pytest.mark.parametrize(
    ("slots", "few"), [({"total_slots": 2}, True), ({"total_slots": 99}, False), (None, False), ([], False)]
)
def test_a_server_of_few_slots_gets_no_more_requests_at_a_time(data: Path, slots: Any, few: bool) -> None:
    def answer(path: str, body: dict[str, Any]) -> Reply:
        time.sleep(0.1)
        return answered(body)

    with JudgeServer(answer, pages={} if slots is None else {"/props": slots}) as server:
        row, *_ = evaluate(data, server.url, batch_size=8)["rows"]
        assert (row["n"], server.peak <= 2) == (SIZE, few)


def test_a_server_that_cuts_prompts_is_a_warning_and_its_items_are_counted(
    data: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Ollama with its default context."""
    (long := data / "long.txt").write_text("Read with care. " * 400 + "$reasoning_a or $reasoning_b?")
    with JudgeServer(lambda path, body: answered(body, min(tokens_of(body), 200))) as server:
        row, *_ = evaluate(data, server.url, f"context=none,prompt={long}")["rows"]
    assert row["cut_prompts"] == row["usage"]["cut_prompts"] == SIZE
    assert "the server cut the prompts of" in row["warnings"][0]
    shown = capsys.readouterr().out
    assert "warning: judge: the server cut the prompts of" in shown
    assert "cut prompts" in shown
    assert warnings(caplog, "counts 200 tokens", "OLLAMA_CONTEXT_LENGTH")
    assert all((stored.usage or {})["cut_prompts"] == 1 for stored in stored_votes(data.parent / "eval"))


def test_names_that_a_server_gives_its_model_are_kept_and_several_are_a_warning(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = iter(["toy-1"] * 5)

    def answer(path: str, body: dict[str, Any]) -> Reply:
        return answered(body, model=next(names, "toy-2"), system_fingerprint="fp_7")

    with JudgeServer(answer) as server:
        row, *_ = evaluate(data, server.url)["rows"]
    assert row["replies"] == {"model": {"toy-1": 5, "toy-2": SIZE - 5}, "system_fingerprint": {"fp_7": SIZE}}
    assert row["usage"].keys() == {"calls", "input_tokens", "output_tokens", "seconds"}
    assert "replies name 2 models (toy-1, toy-2)" in row["warnings"][0]
    assert "warning: judge: replies name 2 models" in capsys.readouterr().out
    usages = [stored.usage or {} for stored in stored_votes(data.parent / "eval")]
    assert all(usage["system_fingerprint=fp_7"] == 1 for usage in usages)
    assert sum(usage.get("model=toy-1", 0) for usage in usages) == 5


def test_what_was_paid_is_reported_when_the_server_goes_away(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(path: str, body: dict[str, Any]) -> Reply:
        return answered(body) if len(server.bodies) <= 5 else error_response(401, "no")

    with JudgeServer(answer) as server, pytest.raises(JudgeError):
        evaluate(data, server.url, batch_size=1)
    assert "judge: 5 calls, " in capsys.readouterr().err
