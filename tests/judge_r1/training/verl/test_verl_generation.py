"""The CPU server's batch: whatever joins or leaves, each request gets what it would get alone."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from judge_r1.models import load_tokenizer

pytest.importorskip("verl", reason="verl is not installed: pip install 'judge-r1[verl]'")
from judge_r1.training.verl.cpu.generation import Batch
from judge_r1.training.verl.cpu.request import Request


@pytest.fixture(scope="module")
def model(model_folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()


def batch_of(model: Any, eos: Sequence[int] = (), text: dict[int, str] | None = None) -> Batch:
    return Batch(model, lambda ids: "".join((text or {}).get(i, ".") for i in ids), eos, pad_id=0)


def play(batch: Batch, arrivals: dict[int, list[Request]]) -> list[Request]:
    """Step until all is done; `arrivals[n]` join before step n. Returns the requests in the order they finished."""
    finished: list[Request] = []
    for step in range(200):
        batch.admit(arrivals.get(step, []))
        if not batch.busy and step > max(arrivals):
            return finished
        if batch.busy:
            finished += batch.step()
    raise AssertionError("the batch does not end")


def prompts(count: int) -> list[list[int]]:
    rng = Random(0)
    return [[rng.randrange(10, 500) for _ in range(rng.randint(3, 30))] for _ in range(count)]


def test_joining_and_leaving_change_nothing(model: Any) -> None:
    def requests() -> list[Request]:
        return [Request(p, max_tokens=5 + 3 * n, seed=n) for n, p in enumerate(prompts(5))]

    alone = [play(batch_of(model), {0: [request]})[0] for request in requests()]
    together = requests()
    play(batch_of(model), {0: together[3:], 4: together[1:2], 6: together[:1], 9: together[2:3]})
    for one, other in zip(alone, together, strict=True):
        assert one.ids == other.ids
        assert other.logprobs == pytest.approx(one.logprobs, abs=1e-5)


def test_logprobs_are_exact(model: Any) -> None:
    request = Request(prompts(1)[0], max_tokens=12, temperature=0.7, seed=1)
    play(batch_of(model), {0: [Request(p, max_tokens=4, seed=9) for p in prompts(3)], 2: [request]})
    ids = torch.tensor([[*request.prompt, *request.ids]])
    with torch.no_grad():
        log_probs = torch.log_softmax(model(ids).logits[0] / 0.7, -1)
    wanted = [float(log_probs[len(request.prompt) - 1 + n, token]) for n, token in enumerate(request.ids)]
    assert request.logprobs == pytest.approx(wanted, abs=1e-5)


def test_greedy_takes_the_likeliest(model: Any) -> None:
    request = Request(prompts(1)[0], max_tokens=3, temperature=0.0)
    play(batch_of(model), {0: [request]})
    with torch.no_grad():
        logits = model(torch.tensor([[*request.prompt, *request.ids]])).logits[0]
    assert request.ids == logits[len(request.prompt) - 1 : -1].argmax(-1).tolist()


def test_stops_at_eos_and_keeps_it(model: Any) -> None:
    free = Request(prompts(1)[0], max_tokens=20, seed=3)
    play(batch_of(model), {0: [free]})
    stopped = Request(free.prompt, max_tokens=20, seed=3)
    play(batch_of(model, eos=[free.ids[4]]), {0: [stopped]})
    assert stopped.ids == free.ids[: free.ids.index(free.ids[4]) + 1]


def test_stops_at_a_string_that_spans_ids(model: Any) -> None:
    free = Request(prompts(1)[0], max_tokens=20, seed=5)
    play(batch_of(model), {0: [free]})
    text = {free.ids[5]: "x</sea", free.ids[6]: "rch>y"}
    stopped = Request(free.prompt, max_tokens=20, seed=5, stop=("</search>", "</answer>"))
    play(batch_of(model, text=text), {0: [stopped]})
    assert stopped.ids == free.ids[:7]


@pytest.mark.parametrize("param", [{"top_p": 0.9}, {"top_k": 5}, {"min_p": 0.1}, {"include_stop_str_in_output": False}])
def test_what_it_cannot_do_it_refuses(param: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(param))):
        Request.of([1], {"max_tokens": 3, **param})


def test_tail_is_enough_for_a_real_tokenizer() -> None:
    """The last ids of a text that ends in a stop string decode to it, whatever stands before."""
    tokenizer = load_tokenizer("bundled:tiny")
    for before in ("", "kara paid ", "é→日本", "</", "<search>a"):
        ids = tokenizer.encode(before + "</sea" + "rch>", add_special_tokens=False)
        assert "</search>" in tokenizer.decode(ids[-9:], skip_special_tokens=False)
