"""What error bodies of real servers mean. The bodies are as the servers send them, with other numbers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.models.error_reply import error_in, named_meaning, read_error

GEMINI = "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."
GEMINI_KEY = {
    "code": 400,
    "message": "API key not valid. Please pass a valid API key.",
    "status": "INVALID_ARGUMENT",
    "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
}
BODIES: dict[str, tuple[int, Any, str | None]] = {
    "OpenAI, length": (400, {"error": {"message": "Please reduce it.", "type": "invalid_request_error",
                                       "param": "messages", "code": "context_length_exceeded"}}, "context_overflow"),
    "OpenAI, one long text": (400, {"error": {"message": "string too long", "type": "invalid_request_error",
                                              "code": "string_above_max_length"}}, "context_overflow"),
    "OpenAI, usage policy": (400, {"error": {"message": "Invalid prompt: your prompt was flagged as potentially "
                                             "violating our usage policy.", "type": "invalid_request_error",
                                             "code": "invalid_prompt"}}, "content_filter"),
    "OpenAI, parameter": (400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this "
                                          "model. Use 'max_completion_tokens' instead.", "param": "max_tokens",
                                          "type": "invalid_request_error", "code": "unsupported_parameter"}}, None),
    "OpenAI, quota": (429, {"error": {"message": "You exceeded it.", "code": "insufficient_quota"}}, "no_credit"),
    "OpenAI, rate": (429, {"error": {"message": "Request too large for m on tokens per min (TPM): Limit 30000, "
                                     "Requested 40000.", "type": "tokens", "code": "rate_limit_exceeded"}}, None),
    "Azure": (400, {"error": {"message": "The response was filtered.", "code": "content_filter", "status": 400,
                              "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, "content_filter"),
    "Azure, inner name": (400, {"error": {"message": "No.", "code": None,
                                          "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, "content_filter"),
    "Anthropic, length": (400, {"type": "error", "error": {"type": "invalid_request_error",
                          "message": "prompt is too long: 208310 tokens > 200000 maximum"}}, "context_overflow"),
    "Anthropic, size": (413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the "
                                                         "maximum allowed number of bytes."}}, "context_overflow"),
    "Anthropic, filter": (400, {"type": "error", "error": {"type": "invalid_request_error", "message":
                                "Output blocked by content filtering policy"}}, "content_filter"),
    "Anthropic, credit": (400, {"type": "error", "error": {"type": "invalid_request_error", "message":
                                "Your credit balance is too low to access the API."}}, "no_credit"),
    "Anthropic, overloaded": (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Over"}}, None),
    "vLLM, parameter": (400, {"error": {"message": "Please shorten it.", "type": "BadRequestError",
                                        "param": "input_tokens", "code": 400}}, "context_overflow"),
    "vLLM, answer": (400, {"error": {"message": "'max_tokens' or 'max_completion_tokens' is too large: 8000. This "
                                     "model's maximum context length is 4096 tokens and your request has 2778 input "
                                     "tokens", "type": "BadRequestError", "param": "max_tokens", "code": 400}},
                     "context_overflow"),
    "vLLM, older": (400, {"object": "error", "message": "This model's maximum context length is 8192 tokens. However, "
                          "you requested 9001 tokens.", "type": "BadRequestError", "param": None, "code": 400},
                    "context_overflow"),
    "SGLang": (400, {"object": "error", "message": "The input (61709 tokens) is longer than the model's context length "
                     "(40960 tokens).", "type": "BadRequestError", "param": None, "code": 400}, "context_overflow"),
    "llama.cpp": (400, {"error": {"code": 400, "message": "the request exceeds it", "n_prompt_tokens": 1407,
                                  "type": "exceed_context_size_error", "n_ctx": 256}}, "context_overflow"),
    "llama.cpp, 500": (500, {"error": {"code": 500, "message": "the request exceeds it", "n_prompt_tokens": 1407,
                                       "type": "exceed_context_size_error", "n_ctx": 256}}, "context_overflow"),
    "llama.cpp, server error": (500, {"error": {"code": 500, "message": "Context size has been exceeded.",
                                                "type": "server_error"}}, "context_overflow"),
    "TGI": (422, {"error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 4545",
                  "error_type": "validation"}, "context_overflow"),
    "TGI, answer": (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: "
                          "6204 `inputs` tokens and 2047 `max_new_tokens`", "error_type": "validation"},
                    "context_overflow"),
    "TGI, parameter": (422, {"error": "Input validation error: `temperature` must be strictly positive",
                             "error_type": "validation"}, None),
    "Gemini": (400, [{"error": {"code": 400, "message": GEMINI, "status": "INVALID_ARGUMENT"}}], "context_overflow"),
    "Gemini in a gateway": (400, {"error": {"message": json.dumps({"error": {"code": 400, "message": GEMINI}}),
                                            "code": 400, "status": "Bad Request"}}, "context_overflow"),
    "Gemini, key": (400, [{"error": GEMINI_KEY}], "bad_key"),
    "DashScope, filter": (400, {"error": {"code": "data_inspection_failed", "param": None, "message": "Input data may "
                                          "contain it.", "type": "data_inspection_failed"}, "request_id": "1"},
                          "content_filter"),
    "DashScope, length": (400, {"error": {"code": "invalid_parameter_error", "type": "invalid_request_error", "message":
                                "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 12902]",
                                          }}, "context_overflow"),
    "DashScope, account": (400, {"error": {"code": "Arrearage", "message": "Access denied."}}, "no_credit"),
    "OpenRouter, moderation": (403, {"error": {"code": 403, "message": "Your input was flagged", "metadata": {
                                     "reasons": ["violence"], "flagged_input": "x", "provider_name": "p"}}},
                               "content_filter"),
    "OpenRouter, provider": (400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {
                                   "raw": '{"error":{"code":"context_length_exceeded"}}'}}}, "context_overflow"),
    "OpenRouter, busy": (502, {"error": {"code": 502, "message": "Provider returned error"}}, None),
    "DeepSeek": (400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error",
                                 "code": "invalid_request_error"}}, "content_filter"),
    "a proxy": (413, "<html>413 Request Entity Too Large</html>", "context_overflow"),
    "a form that is not valid": (422, {"detail": [{"loc": ["body", "seed"], "msg": "not an integer"}]}, None),
    "a key": (401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, "bad_key"),
    "no JSON": (400, "no", None),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_errors_of_real_servers(name: str) -> None:
    status, body, meaning = BODIES[name]
    found = read_error(status, body if isinstance(body, str) else json.dumps(body))
    assert (found.status, found.meaning) == (status, meaning)
    assert found.message


@pytest.mark.parametrize(
    ("data", "status", "meaning"),
    [
        ({"error": {"code": 502, "message": "Provider returned error"}}, 502, None),
        ({"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}}, 400, "context_overflow"),
        ({"error": "Input validation error: `inputs` must have less than 5 tokens"}, 400, "context_overflow"),
        ({"choices": [{"error": {"code": 429, "message": "slow"}, "finish_reason": "error"}]}, 429, None),
        ([{"error": {"message": "no"}}], 400, None),
    ],
)
def test_an_error_in_a_reply_of_status_200(data: Any, status: int, meaning: str | None) -> None:
    found = error_in(data)
    assert found is not None
    assert (found.status, found.meaning) == (status, meaning)


@pytest.mark.parametrize(
    "data", [{"choices": [{"message": {"content": "x"}}], "error": None}, {"choices": []}, {"choices": {}}, [], None, 5]
)
def test_a_reply_without_an_error(data: Any) -> None:
    assert error_in(data) is None


def test_hostile_bodies_take_little_time_and_raise_nothing() -> None:
    deep = '{"error":' * 30_000 + "1" + "}" * 30_000
    wide = json.dumps({"error": {f"k{n}": {"code": "context_length_exceeded"} for n in range(20_000)}})
    for text in (deep, wide, "[" * 60_000, '{"error": {"message": "{' * 9000):
        assert read_error(400, text).message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["error", "code", "type", "message", "raw", "param", "choices", "detail"]), inner, max_size=4
    ),
    max_leaves=10,
)  # fmt: skip


@given(st.integers(200, 599), JSON)
def test_any_body_has_a_message(status: int, body: Any) -> None:
    assert isinstance(read_error(status, json.dumps(body)).message, str)
    found, meaning = error_in(body), named_meaning(body)
    assert found is None or found.message
    assert meaning in (None, "context_overflow", "content_filter", "bad_key", "no_credit")
