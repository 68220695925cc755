"""The numbers in the refusals of many servers, and the answer that fits."""

import pytest

from judge_r1.models.error_reply import fitting_answer, read_lengths

ASKED = 16384
TOO_LONG_AN_ANSWER = {
    "vLLM 0.6": (
        "This model's maximum context length is 8192 tokens. However, you requested 18192 tokens (1808 in the "
        "messages, 16384 in the completion). Please reduce the length of the messages or completion.",
        6383,
    ),
    "vLLM 0.10": (
        "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 "
        "tokens and your request has 1808 input tokens (16384 > 8192 - 1808). (parameter=max_tokens, value=16384)",
        6383,
    ),
    "vLLM 0.19, a larger answer than the window": (
        "max_tokens=16384cannot be greater than max_model_len=max_total_tokens=8192. Please request fewer output "
        "tokens. (parameter=max_tokens, value=16384)",
        4096,
    ),
    "vLLM 0.19, an unknown length": (
        "This model's maximum context length is 20000 tokens. However, you requested 16384 output tokens and your "
        "prompt contains at least 3617 input tokens, for a total of at least 20001 tokens. Please reduce the length "
        "of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=3617)",
        8192,
    ),
    "SGLang": (
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of "
        "18192 tokens: 1808 tokens from the input messages and 16384 tokens for the completion. Please reduce the "
        "number of tokens in the input messages or the completion to fit within the limit.",
        6383,
    ),
    "TGI": (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1808 `inputs` tokens and "
        "16384 `max_new_tokens`",
        2287,
    ),
    "OpenAI": (
        "max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided "
        "16384.",
        4096,
    ),
    "Anthropic, the sum": (
        "input length and `max_tokens` exceed context limit: 195000 + 16384 > 200000, decrease input length or "
        "`max_tokens` and try again",
        4999,
    ),
    "Anthropic, the answer": (
        "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet",
        8192,
    ),
    "OpenRouter": (
        "This endpoint's maximum context length is 8192 tokens. However, you requested about 18192 tokens (1808 of "
        "text input, 16384 in the output). Please reduce the length of either one.",
        6383,
    ),
    "DeepSeek": ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
    "DashScope": ("Range of max_tokens should be [1, 8192]", 8192),
    "Groq": (
        "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the "
        "`context_window` for this model",
        8192,
    ),
    "Cloudflare": (
        "The estimated number of input and maximum output tokens (18192) exceeded this model context window limit "
        "(8192).",
        4096,
    ),
}  # fmt: skip


@pytest.mark.parametrize("server", TOO_LONG_AN_ANSWER)
def test_the_answer_that_fits_is_found_in_a_refusal(server: str) -> None:
    message, fits = TOO_LONG_AN_ANSWER[server]
    assert fitting_answer(read_lengths(message), ASKED) == fits


TOO_LONG_A_PROMPT = {
    "vLLM 0.10": (
        "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens. Please "
        "reduce the length of the input messages.",
        (9000, 8192),
    ),
    "vLLM's engine": (
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that "
        "`max_model_len` is no smaller than the number of text tokens.",
        (9000, 8192),
    ),
    "SGLang": ("The input (9000 tokens) is longer than the model's context length (8192 tokens).", (9000, 8192)),
    "llama.cpp": (
        '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it",'
        '"type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}',
        (9000, 8192),
    ),
    "llama.cpp's words": ("request (9000 tokens) exceeds the available context size (8192 tokens)", (9000, 8192)),
    "OpenAI": (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please "
        "reduce the length of the messages.",
        (9000, 8192),
    ),
    "TGI": ("Input validation error: `inputs` must have less than 8192 tokens. Given: 9000", (9000, 8192)),
    "Anthropic": ("prompt is too long: 210000 tokens > 200000 maximum", (210000, 200000)),
    "Mistral": (
        "Prompt contains 9000 tokens and 0 draft tokens, too large for model with 8192 maximum context length",
        (9000, 8192),
    ),
    "Gemini": (
        "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        (2000000, 1048576),
    ),
    "xAI": ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", (537812, 131072)),
    "Fireworks": ("The prompt is too long: 140000, model maximum context length: 131071", (140000, 131071)),
    "Cohere": (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
        (5000, 4081),
    ),
}  # fmt: skip


@pytest.mark.parametrize("server", TOO_LONG_A_PROMPT)
def test_a_prompt_that_does_not_fit_is_not_asked_again_with_a_shorter_answer(server: str) -> None:
    message, lengths = TOO_LONG_A_PROMPT[server]
    stated = read_lengths(message)
    assert (stated.prompt, stated.window) == lengths
    assert fitting_answer(stated, ASKED) is None


@pytest.mark.parametrize(
    "message", ["top_logprobs cannot exceed 5", "the seed 12345 is odd", "model 7b-16384 has no template", ""]
)
def test_other_refusals_are_not_about_the_length_of_an_answer(message: str) -> None:
    assert fitting_answer(read_lengths(message), ASKED) is None


def test_a_room_of_few_tokens_is_no_answer() -> None:
    message = "This model's maximum context length is 8192 tokens and your request has 8000 input tokens"
    assert fitting_answer(read_lengths(message), ASKED) is None
    assert fitting_answer(read_lengths(message), 250) is None
