"""A small untrained model whose tokens are words, so that it sometimes searches and answers; and its episodes."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from factories import evidence

from judge_r1.core.verdicts import Evidence
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode

WORDS = [
    "<search>", "</search>", "<think>", "</think>", "<answer>", "</answer>", "q", "{}", "x ", "y ", "</search>", "z ",
    "w", "<search>",
]  # fmt: skip
BUDGET = Budget(max_searches=3, response_tokens=24, observation_tokens=40)
SIZE = 97


class WordTokenizer:
    """Many ids share a word, so that an untrained model sometimes writes tags, searches and answers."""

    bytewise = True

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(WORDS[i % len(WORDS)] for i in ids)

    def encode_trusted(self, text: str) -> list[int]:
        return [3 + sum(word.encode()) % (SIZE - 3) for word in text.split()]

    encode_untrusted = encode_trusted


@cache
def model() -> Any:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = Qwen3Config(
        vocab_size=SIZE,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=512,
        tie_word_embeddings=False,
        initializer_range=0.6,  # far from uniform, so that the context matters
    )
    return Qwen3ForCausalLM(config).eval()


def episodes(seed: int = 0) -> list[Episode]:
    """Prompts of 3 to 20 tokens; id 0 pads and id 1 ends."""
    prompts = [[2 + (7 * n + 3 * k * k) % (SIZE - 2) for k in range(3 + (5 * n) % 18)] for n in range(16)]
    return [Episode(p, BUDGET, WordTokenizer(), eos_ids=[1], seed=100 * seed + n) for n, p in enumerate(prompts)]


def passages(index: int, query: str) -> list[Evidence]:
    """Passages of different lengths per episode, so that observations differ in length."""
    return evidence(*[f"p{index} " + "long " * ((3 * index + len(query)) % 7)] * (1 + index % 3), case_id=str(index))


def search(queries: Sequence[tuple[int, str]]) -> list[list[Evidence]]:
    return [passages(index, query) for index, query in queries]


def logprobs_of(ids: list[int], temperature: float = 1.0) -> Any:
    """Next-token log-probabilities from one plain forward pass: [tokens, vocabulary]."""
    import torch

    with torch.no_grad():
        return torch.log_softmax(model()(torch.tensor([ids])).logits[0].float() / temperature, -1)
