"""A fake of vLLM's /v1/completions around a real small model: one token at a time, the whole text
anew for each. Fields and their meaning are those of vLLM 0.11's OpenAI server.

    with serving(model, tokenizer.decode) as server: ...    # token ids in, token ids out
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from fake_judge_endpoint import Answer, JudgeServer, error_response

Decode = Callable[[Sequence[int]], str]


def serving(model: Any, decode: Decode, *, longest: int = 10**6, part: int = 10**6, faults: float = 0.0) -> JudgeServer:
    """`longest` is the context length; `part` limits the ids per response."""
    return JudgeServer(answering(model, decode, longest=longest, part=part), faults=faults)


def answering(model: Any, decode: Decode, *, longest: int = 10**6, part: int = 10**6) -> Answer:
    """The answers of `serving`."""
    lock = threading.Lock()

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        assert path == "/v1/completions"
        prompt = body["prompt"]
        assert all(isinstance(token, int) for token in prompt)
        if len(prompt) + body["max_tokens"] > longest:
            return error_response(400, f"This model's maximum context length is {longest} tokens")
        with lock:  # one model on one PyTorch thread
            ids, logprobs, tops, finish = draw(model, decode, body, min(part, body["max_tokens"]))
        returned = {
            "tokens": [f"token_id:{token}" for token in ids],
            "token_logprobs": logprobs,
            "top_logprobs": tops,
            "text_offset": [0] * len(ids),
        }
        choice = {"index": 0, "text": decode(ids), "logprobs": returned, "finish_reason": finish}
        return 200, {"choices": [choice], "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(ids)}}

    return answer


def draw(model: Any, decode: Decode, body: dict[str, Any], count: int) -> tuple[list[int], list[float], list[Any], str]:
    import torch

    assert body["return_tokens_as_token_ids"]
    assert body["include_stop_str_in_output"]
    assert body["skip_special_tokens"] is False
    ids: list[int] = []
    logprobs: list[float] = []
    tops: list[dict[str, float]] = []
    generator = torch.Generator().manual_seed(body.get("seed", 0))
    while len(ids) < count:
        with torch.no_grad():
            last = model(torch.tensor([[*body["prompt"], *ids]])).logits[0, -1].float()
        table = torch.log_softmax(last, -1)
        if body["temperature"]:
            token = int(torch.multinomial(torch.softmax(last / body["temperature"], -1), 1, generator=generator))
        else:
            token = int(table.argmax())
        values, best = table.topk(body["logprobs"])
        ids.append(token)
        logprobs.append(float(table[token]))
        tops.append({f"token_id:{i}": float(v) for i, v in zip(best.tolist(), values, strict=True)})
        if token in body["stop_token_ids"] or any(stop in decode(ids) for stop in body["stop"]):
            return ids, logprobs, tops, "stop"
    return ids, logprobs, tops, "length"
