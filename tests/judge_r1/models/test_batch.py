"""The batch: whatever joins or leaves, each request gets what it would get alone."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from judge_r1.models.base import GenerateRequest
from judge_r1.models.batch import ContinuousBatch, RunningRequest, _beginnings
from judge_r1.models.hub import load_tokenizer
from judge_r1.models.kv_cache import CACHE_ARGUMENT, PrefixCache, States
from judge_r1.training.verl.sampling_params import generate_request


@pytest.fixture(scope="module")
def model(model_folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()


def batch_of(model: Any, eos: Sequence[int] = (), text: dict[int, str] | None = None) -> ContinuousBatch:
    return ContinuousBatch(model, lambda ids: "".join((text or {}).get(i, ".") for i in ids), eos, pad_id=0)


def Request(prompt: Sequence[int], **fields: Any) -> RunningRequest:
    return RunningRequest(GenerateRequest(prompt_ids=prompt, **{"temperature": 1.0, **fields}))


def play(batch: ContinuousBatch, arrivals: dict[int, list[Request]]) -> list[Request]:
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


def test_the_next_turn_reads_what_is_new_only(model: Any) -> None:
    """Two turns with an observation between, beside others: the ids and log-probabilities of a fresh batch, and the
    model has read no id twice but the last."""
    first, observation = prompts(1)[0], [7, 8, 9, 10, 11]
    seen: list[int] = []

    def turns(batch: ContinuousBatch, fresh: Callable[[], ContinuousBatch]) -> list[Request]:
        one = Request(first, max_tokens=6, seed=1)
        play(batch, {0: [one], 2: [Request(p, max_tokens=9, seed=4) for p in prompts(3)[1:]]})
        two = Request([*first, *one.ids, *observation], max_tokens=6, seed=2)
        batch = fresh()
        forward = batch._forward

        def counted(ids: torch.Tensor, *rest: Any) -> torch.Tensor:
            seen.append(ids.shape[1])
            return forward(ids, *rest)

        batch._forward = counted  # type: ignore[method-assign]
        play(batch, {0: [two], 1: [Request(prompts(4)[3], max_tokens=3, seed=5)]})
        return [one, two]

    batch = batch_of(model)
    kept = turns(batch, lambda: batch)
    assert seen[0] == 1 + len(observation)
    seen.clear()
    anew = turns(batch_of(model), lambda: batch_of(model))
    assert seen[0] == len(first) + 6 + len(observation)
    for one, other in zip(kept, anew, strict=True):
        assert one.ids == other.ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)


def test_a_group_reads_its_prompt_once(model: Any) -> None:
    batch, read = batch_of(model), []
    forward = batch._forward

    def counted(ids: torch.Tensor, *rest: Any) -> torch.Tensor:
        read.append(tuple(ids.shape))
        return forward(ids, *rest)

    batch._forward = counted  # type: ignore[method-assign]
    prompt = prompts(1)[0]
    together = [Request(prompt, max_tokens=4, seed=n) for n in range(6)]
    later = Request(prompt, max_tokens=4, seed=6)
    play(batch, {0: together, 2: [later]})
    assert read[0] == (1, len(prompt))
    assert (1, 1) in read[1:], "one that comes later reads the last id of its prompt"
    for request in [*together, later]:
        alone = Request(prompt, max_tokens=4, seed=request.request.seed)
        play(batch_of(model), {0: [alone]})
        assert request.ids == alone.ids
        assert request.logprobs == pytest.approx(alone.logprobs, abs=1e-5)
    assert len({tuple(request.ids) for request in together}) > 1


def test_every_input_is_on_the_device_of_the_model(model: Any) -> None:
    """Tensors made without a device land on `meta` here, as they would on the CPU beside a model on a GPU."""
    seen: list[torch.device] = []

    class OnDevice(torch.nn.Module):
        config, device = model.config, model.device

        def forward(self, **inputs: Any) -> Any:
            cache = inputs[CACHE_ARGUMENT]
            states = [layer.keys for layer in cache.layers if layer.keys is not None]
            seen.extend(t.device for t in [*inputs.values(), *states] if isinstance(t, torch.Tensor))
            with torch.device("cpu"):
                return model(**inputs)

    batch, requests = batch_of(OnDevice()), [Request(p, max_tokens=5 + n, seed=n) for n, p in enumerate(prompts(5))]
    with torch.device("meta"):
        play(batch, {0: requests[:2], 3: requests[2:]})
        following = Request([*requests[0].prompt, *requests[0].ids, 7, 8], max_tokens=3, seed=9)
        play(batch, {0: [following]})
    assert set(seen) == {model.device}
    assert len(following.ids) == 3


def test_what_is_kept_is_bounded_and_belongs_to_its_ids() -> None:
    def states(tokens: int) -> States:
        return [(torch.ones(2, tokens, 4), torch.zeros(2, tokens, 4))]

    kept = PrefixCache(max_bytes=4 * 2 * 2 * 4 * 10)  # ten tokens
    kept.put([1, 2, 3], states(3))
    kept.put([1, 2, 3, 4, 5], states(5))
    assert kept.longest([1, 2, 3, 4, 5, 6])[0] == 5
    assert kept.longest([1, 2, 3, 4, 5])[0] == 3, "the last id is always read"
    assert kept.longest([2, 2, 3, 4]) == (0, None)
    kept.put([9, 9, 9, 9], states(4))  # twelve: the one used longest ago goes
    assert kept.longest([1, 2, 3, 4, 5, 6])[0] == 3
    kept.clear()
    assert kept.longest([9, 9, 9, 9, 9]) == (0, None)


def with_windows() -> Any:
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    return Gemma3ForCausalLM(Gemma3TextConfig(
        vocab_size=500, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, sliding_window=8, layer_types=["sliding_attention", "full_attention"],
    ))  # fmt: skip


def with_linear_attention() -> Any:
    from transformers import Qwen3NextConfig, Qwen3NextForCausalLM

    return Qwen3NextForCausalLM(Qwen3NextConfig(
        vocab_size=500, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, linear_num_value_heads=2, linear_num_key_heads=2, linear_key_head_dim=8,
        linear_value_head_dim=8, num_experts=2, num_experts_per_tok=1, moe_intermediate_size=16,
        shared_expert_intermediate_size=16, layer_types=["linear_attention", "full_attention"],
    ))  # fmt: skip


@pytest.mark.parametrize("made", [with_windows, with_linear_attention])
def test_a_model_of_other_layers_is_batched_statically(made: Callable[[], Any]) -> None:
    """Its layers cannot exchange rows: later requests wait until the batch is empty, and get what they get alone."""
    torch.manual_seed(0)
    model = made().eval()
    batch, waiting = batch_of(model), [Request(p, max_tokens=4 + 3 * n, seed=n) for n, p in enumerate(prompts(5))]
    waiting.append(Request(waiting[0].prompt, max_tokens=9, seed=0))
    wanted, arrivals = list(waiting), [3, 2, 1]
    while waiting or batch.busy:
        if batch.accepting:
            batch.admit([waiting.pop(0) for _ in range(arrivals.pop(0))])
        batch.step()
    assert not arrivals
    for request in wanted:
        ids = torch.tensor([[*request.prompt, *request.ids]])
        with torch.no_grad():
            log_probs = torch.log_softmax(model(ids).logits[0].float(), -1)
        expected = [float(log_probs[len(request.prompt) - 1 + n, token]) for n, token in enumerate(request.ids)]
        assert request.logprobs == pytest.approx(expected, abs=1e-4)
    assert wanted[5].ids[:4] == wanted[0].ids


@pytest.mark.parametrize("param", [{"top_p": 0.9}, {"top_k": 5}, {"min_p": 0.1}, {"include_stop_str_in_output": False}])
def test_what_it_cannot_do_it_refuses(param: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(param))):
        generate_request([1], {"max_tokens": 3, **param})


def test_tail_is_enough_for_a_real_tokenizer() -> None:
    """The last ids of a text that ends in a stop string decode to it, whatever stands before."""
    tokenizer = load_tokenizer("bundled:tiny")
    for before in ("", "kara paid ", "é→日本", "</", "<search>a"):
        ids = tokenizer.encode(before + "</sea" + "rch>", add_special_tokens=False)
        assert "</search>" in tokenizer.decode(ids[-9:], skip_special_tokens=False)


def test_a_request_samples_only_allowed_ids(model: Any) -> None:
    """Requests beside it sample as they do alone, and its log-probabilities are those of the allowed ids."""
    allowed = frozenset({11, 12, 13})
    free = Request([5, 6, 7], max_tokens=8, seed=1)
    restricted = Request([8, 9], max_tokens=30, seed=2, allowed_ids=allowed)
    greedy = Request([8, 9], max_tokens=30, temperature=0.0, allowed_ids=frozenset({14}))
    play(batch_of(model), {0: [free, restricted, greedy]})
    alone = Request([5, 6, 7], max_tokens=8, seed=1)
    play(batch_of(model), {0: [alone]})
    assert free.ids == alone.ids
    assert set(restricted.ids) == allowed
    assert set(greedy.ids) == {14}
    assert greedy.logprobs == [0.0] * 30
    with pytest.raises(ValueError, match="at least one id"):
        GenerateRequest(prompt_ids=[1], max_tokens=1, allowed_ids=frozenset())


def test_prompts_that_begin_alike_share_states(model: Any) -> None:
    """What they begin with is read and held once, and each samples what it samples alone."""
    beginnings = [list(range(10, 40)), list(range(50, 75))]
    texts = [[*beginnings[n % 2], *end] for n, end in enumerate(prompts(10))]
    sharing = ContinuousBatch(model, lambda ids: "." * len(ids), (), pad_id=0, min_shared=20)
    reads: list[int] = []
    forward = sharing._forward

    def counting(ids: torch.Tensor, *rest: Any) -> torch.Tensor:
        reads.append(ids.shape[1])
        return forward(ids, *rest)

    sharing._forward = counting  # type: ignore[method-assign]
    together = [Request(text, max_tokens=6, seed=n) for n, text in enumerate(texts)]
    held = list[tuple[int, ...]]()
    sharing.admit(together[:5])
    assert sharing._shared is not None
    held += sharing._shared.texts
    assert max(layer.keys.shape[2] for layer in sharing._cache.layers) <= 30
    play(sharing, {2: together[5:]})
    assert held == [tuple(beginning) for beginning in beginnings]
    for n, request in enumerate(together):
        alone = Request(texts[n], max_tokens=6, seed=n)
        play(batch_of(model), {0: [alone]})
        assert request.ids == alone.ids
        assert request.logprobs == pytest.approx(alone.logprobs, abs=1e-4)
    ends = [len(text) - len(beginnings[n % 2]) for n, text in enumerate(texts)]
    assert sorted(n for n in reads if n > 1) == sorted([*ends, *map(len, beginnings)])


@pytest.mark.parametrize("kept", [32, 40, 50, 1000])
def test_beginnings_are_used_where_the_prefix_cache_keeps_one_of_them(model: Any, kept: int) -> None:
    beginnings = [list(range(10, 40)), list(range(50, 80))]
    texts = [[*beginnings[n % 2], *range(90, 93 + n)] for n in range(4)]
    sharing = ContinuousBatch(model, lambda ids: "." * len(ids), (), pad_id=0, min_shared=20)
    config = model.config.get_text_config()
    size = config.head_dim if getattr(config, "head_dim", None) else config.hidden_size // config.num_attention_heads
    sharing.prefixes.max_bytes = kept * 2 * 4 * config.num_hidden_layers * config.num_key_value_heads * size
    together = [Request(text, max_tokens=6, seed=n) for n, text in enumerate(texts)]
    play(sharing, {0: together})
    for n, request in enumerate(together):
        alone = Request(texts[n], max_tokens=6, seed=n)
        play(batch_of(model), {0: [alone]})
        assert request.ids == alone.ids


def test_a_beginning_is_a_third_of_each_of_its_prompts() -> None:
    long = tuple(range(1000))
    assert _beginnings([(*long, 1000), (*long, 1001), (*long[:70], 2000, 8)], 20) == [long]
    assert _beginnings([(*long[:70], 2000, 8), (*long[:70], 2001, 8)], 20) == [long[:70]]


def test_requests_share_a_row_until_they_go_on_differently(small_model: Any) -> None:
    """Through ids that differ, ends at different lengths and strings, a cancelled twin, and next turns."""

    def played(*, alone: bool) -> tuple[list[RunningRequest], list[int]]:
        batch, rows = batch_of(small_model, text=dict.fromkeys(range(0, 500, 9), "!")), list[int]()
        made = [
            Request(prompt, max_tokens=length, temperature=temperature, seed=seed, **fields)
            for prompt in prompts(2)
            for length, temperature, seed, fields in (
                (9, 1.0, 0, {}), (9, 1.0, 0, {}), (5, 1.0, 0, {}), (12, 1.0, 1, {}), (9, 0.0, 0, {}),
                (20, 1.0, 0, {"stop": ("!",)}), (9, 0.0, 5, {"allowed_ids": frozenset(range(20, 60))}),
            )
        ]  # fmt: skip

        def run(requests: list[RunningRequest], cancelled: RunningRequest) -> None:
            for part in [[request] for request in requests] if alone else [requests]:
                batch.admit(part)
                while batch.busy:
                    rows.append(sum(map(bool, batch.rows)))
                    assert rows[-1] <= len({(r.prompt, *r.ids) for sharing in batch.rows for r in sharing})
                    batch.step()
                    if len(cancelled.ids) == 2:
                        batch.drop([cancelled])

        run(made, made[1])
        turns = [
            Request([*r.prompt, *r.ids, 7, 8], max_tokens=6, seed=n % 2)
            for n, r in enumerate(made)
            if r is not made[1] and r.prompt == made[0].prompt
        ]
        run(turns, turns[0])
        return made + turns, rows

    (found, rows), (expected, _) = played(alone=False), played(alone=True)
    assert [request.ids for request in found] == [request.ids for request in expected]
    assert len(found[1].ids) == 2
    assert rows[0] == 2
    assert max(rows) > 6
    for one, other in zip(found, expected, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)


def test_requests_that_end_alike_go_on_one_after_the_other(small_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The states that they share stay for the second."""
    batch, [prompt] = batch_of(small_model), prompts(1)
    twins = [Request(prompt, max_tokens=20, seed=0) for _ in range(2)]
    play(batch, {0: twins})
    assert twins[0].ids == twins[1].ids
    read, forward = [], batch._forward
    monkeypatch.setattr(batch, "_forward", lambda ids, *rest: read.append(ids.shape[1]) or forward(ids, *rest))
    for observation in ([7, 8, 9], [5, 6]):
        batch.admit([Request([*prompt, *twins[0].ids, *observation], max_tokens=3)])
        batch.step()
    assert read == [4, 1, 3, 1]


def test_a_request_that_ends_at_eos_needs_no_row_of_its_own(small_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    [prompt] = prompts(1)
    alone = [Request(prompt, max_tokens=9, seed=seed) for seed in (0, 1)]
    for request in alone:
        play(batch_of(small_model), {0: [request]})
    assert alone[0].ids[0] != alone[1].ids[0]
    batch = batch_of(small_model, eos=alone[1].ids[:1])
    monkeypatch.setattr(batch, "_make_room", lambda *_: pytest.fail("a row was made"))
    together = [Request(prompt, max_tokens=9, seed=seed) for seed in (0, 1)]
    play(batch, {0: together})
    assert together[0].ids == alone[0].ids
    assert together[1].ids == alone[1].ids[:1]


@pytest.fixture(scope="module")
def small_model() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=500, initializer_range=0.3, **shape, **heads)).eval()


@pytest.mark.parametrize("seed", range(20, 28))
def test_random_traffic_of_groups_is_what_transformers_attention_samples(small_model: Any, seed: int) -> None:
    """Groups, next turns and cancellations at random times, with states forgotten and released in between."""

    def played(batch: ContinuousBatch) -> list[RunningRequest]:
        rng, made, done = Random(seed), [], []
        texts = prompts(5)
        texts += [texts[0][: len(texts[0]) // 2], [*texts[1], 5, 6, 7]]

        def admit(*admitted: Sequence[int]) -> None:
            new = [
                Request(p, max_tokens=rng.randint(1, 14), temperature=rng.choice([0.0, 1.0]), seed=rng.randrange(3))
                for p in admitted
            ]
            made.extend(new)
            batch.admit(new)

        admit(*(p for p in rng.sample(texts, rng.randint(1, 3)) for _ in range(rng.randint(1, 4))))
        for _ in range(40):
            for request in batch.step() if batch.busy else ():
                done.append(request)
                if rng.random() < 0.5 and len(made) < 30:
                    observation = [rng.randrange(10, 500) for _ in range(rng.randint(1, 8))]
                    admit([*request.prompt, *request.ids, *observation])
            event = rng.random()
            if event < 0.06:
                batch.prefixes.clear()
            elif event < 0.09:
                batch.forget()
            elif event < 0.12 and not batch.busy:
                batch.release()
            elif event < 0.25 and len(made) < 30:
                group = rng.choice(texts)
                admit(*(group if rng.random() < 0.7 else rng.choice(texts) for _ in range(rng.randint(1, 3))))
            elif event < 0.3 and batch.busy:
                batch.drop([rng.choice([request for sharing in batch.rows for request in sharing])])
        return done

    plain = batch_of(small_model)
    plain._by_steps = False
    expected, found = played(plain), played(batch_of(small_model))
    assert found
    assert [(request.prompt, request.ids) for request in found] == [(one.prompt, one.ids) for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)


def test_a_model_in_bfloat16_reads_what_one_in_float32_samples(small_model: Any) -> None:
    """A group, whose rows share a text, and a row of its own: the same log-probabilities, up to rounding."""

    def played(model: Any) -> list[Request]:
        group = [*[prompts(2)[0]] * 4, prompts(2)[1]]
        return play(batch_of(model), {0: [Request(prompt, max_tokens=6, seed=n) for n, prompt in enumerate(group)]})

    exact = played(small_model)
    rounded = played(copy.deepcopy(small_model).bfloat16())
    assert [len(one.ids) for one in rounded] == [6] * 5
    first = {(one.prompt, one.ids[0]): one.logprobs[0] for one in exact}
    shared = [(one.logprobs[0], first[key]) for one in rounded if (key := (one.prompt, one.ids[0])) in first]
    assert len(shared) > 2
    assert all(value == pytest.approx(other, abs=0.2) for value, other in shared)


ROTARY: list[dict[str, Any]] = [
    {"rope_type": "dynamic", "factor": 2.0},
    {"rope_type": "longrope", "factor": 2.0, "short_factor": [1.0] * 4, "long_factor": [2.0] * 4},
]


@pytest.mark.parametrize("rotary", ROTARY, ids=lambda rotary: rotary["rope_type"])
def test_a_model_that_has_sampled_can_be_trained(rotary: dict[str, Any]) -> None:
    """These models replace a buffer of theirs once a text is long: here in the batch's inference mode."""
    from transformers import LlamaConfig, LlamaForCausalLM

    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4}
    rope = {"rope_theta": 1e4, "original_max_position_embeddings": 8, **rotary}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=64, max_position_embeddings=16, rope_parameters=rope, **shape))
    before = model.model.rotary_emb.inv_freq.clone()
    batch = batch_of(model.eval())
    play(batch, {0: [Request(list(range(1, 12)), max_tokens=12)]})
    batch.release()
    assert not torch.equal(before, model.model.rotary_emb.inv_freq)
    ids = torch.arange(1, 30)[None]
    model.train()(input_ids=ids, labels=ids).loss.backward()
    assert all(weight.grad is not None for weight in model.parameters())
