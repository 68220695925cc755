"""Lock-step generation against the plainest way there is: one episode at a time, the whole text anew for each token."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from toys import evidence

from judge_r1.episode import Budget, Episode, Finished, Search
from judge_r1.records import Evidence, Trajectory

WORDS = [
    "<search>", "</search>", "<think>", "</think>", "<answer>", "</answer>", "q", "{}", "x ", "y ", "</search>", "z ",
    "w", "<search>",
]  # fmt: skip
BUDGET = Budget(max_searches=3, response_tokens=24, observation_tokens=40)
SIZE = 97


class WordCodec:
    """Many ids share a word, so that an untrained model too writes tags, searches and answers now and then."""

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(WORDS[i % len(WORDS)] for i in ids)

    def encode_trusted(self, text: str) -> list[int]:
        return [3 + sum(word.encode()) % (SIZE - 3) for word in text.split()]

    encode_inserted = encode_trusted


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
        initializer_range=0.6,  # far from uniform: what comes before decides what comes next
    )
    return Qwen3ForCausalLM(config).eval()


def episodes(seed: int = 0) -> list[Episode]:
    """Prompts of 3 to 20 tokens; id 0 pads and id 1 ends."""
    prompts = [[2 + (7 * n + 3 * k * k) % (SIZE - 2) for k in range(3 + (5 * n) % 18)] for n in range(16)]
    return [Episode(p, BUDGET, WordCodec(), eos_ids=[1], seed=100 * seed + n) for n, p in enumerate(prompts)]


def passages(index: int, query: str) -> list[Evidence]:
    """Passages of different lengths for every episode, so that rows read their observations at different paces."""
    return evidence(*[f"p{index} " + "long " * ((3 * index + len(query)) % 7)] * (1 + index % 3), case_id=str(index))


def search(queries: Sequence[tuple[int, str]]) -> list[list[Evidence]]:
    return [passages(index, query) for index, query in queries]


def logprobs_of(ids: list[int], temperature: float = 1.0) -> Any:
    """Log-probabilities of the next token after each position, by one plain forward pass: [tokens, vocabulary]."""
    import torch

    with torch.no_grad():
        return torch.log_softmax(model()(torch.tensor([ids])).logits[0].float() / temperature, -1)


def greedy_one_by_one(index: int, episode: Episode) -> Trajectory:
    while not isinstance(episode.state, Finished):
        if isinstance(episode.state, Search):
            episode.observe(passages(index, episode.state.query))
            continue
        last = logprobs_of([*episode.prompt_ids, *episode.token_ids])[-1]
        token = int(last.argmax())
        episode.feed([token], [float(last[token])])
    return episode.trajectory()


def in_batches(temperature: float, batch_size: int, seed: int = 0) -> list[Trajectory]:
    from judge_r1.backends.transformers import TransformersBackend

    played = episodes(seed)
    TransformersBackend(model(), pad_id=0, batch_size=batch_size).play(played, search, temperature)
    return [episode.trajectory() for episode in played]


def test_batches_give_what_one_by_one_gives_token_for_token() -> None:
    expected = [greedy_one_by_one(index, episode) for index, episode in enumerate(episodes())]
    assert sum(trajectory.searches for trajectory in expected) >= 6, "this model must search, or nothing is tested"
    assert len({trajectory.ended for trajectory in expected}) >= 2
    assert any(turn.notice for trajectory in expected for turn in trajectory.turns)
    for batch_size in (5, 16):
        for one, other in zip(expected, in_batches(0.0, batch_size), strict=True):
            assert other.model_copy(update={"logprobs": ()}) == one.model_copy(update={"logprobs": ()})
            assert other.logprobs == pytest.approx(one.logprobs, abs=1e-4)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_are_those_of_a_plain_forward_pass(temperature: float) -> None:
    """Under the temperature that drew the ids, with every observation where it stands."""
    played = in_batches(temperature, 16, seed=3)
    assert sum(trajectory.searches for trajectory in played) >= 6
    for trajectory in played:
        ids = [*trajectory.prompt_ids, *trajectory.token_ids]
        table, first = logprobs_of(ids, temperature), len(trajectory.prompt_ids)
        for at, (token, mask) in enumerate(zip(trajectory.token_ids, trajectory.loss_mask, strict=True)):
            expected = float(table[first + at - 1, token]) if mask else 0.0
            assert trajectory.logprobs[at] == pytest.approx(expected, abs=1e-4)


def test_the_same_seed_draws_the_same_ids_in_any_batch_and_another_seed_does_not() -> None:
    draw = [
        [t.token_ids for t in in_batches(1.0, size, seed=seed)] for size, seed in ((16, 1), (5, 1), (1, 1), (16, 2))
    ]
    assert draw[0] == draw[1] == draw[2]
    assert all(one != other for one, other in zip(draw[0], draw[3], strict=True))


def test_ids_are_drawn_as_often_as_they_are_likely() -> None:
    import torch

    from judge_r1.backends.drawing import draw

    logits = torch.tensor([0.0, 1.0, -2.0, -float("inf")]).expand(20_000, 4)
    chances = torch.rand(20_000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ids, logprobs = draw(logits, 0.5, chances)
    expected = torch.softmax(logits[0] / 0.5, -1)
    assert torch.bincount(torch.tensor(ids), minlength=4) / 20_000 == pytest.approx(expected, abs=0.015)
    assert logprobs[0] == pytest.approx(float(expected[ids[0]].log()), abs=1e-5)
    edges = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    assert draw(logits[:2], 1.0, edges)[0] == [0, 2], "the first and the last id that can be drawn"


def test_every_episode_ends_and_the_model_is_put_back() -> None:
    model().train()
    try:
        played = in_batches(1.5, 4)
        assert model().training
    finally:
        model().eval()
    assert all(trajectory.ended != "unfinished" for trajectory in played)
    assert all(len(trajectory.token_ids) <= BUDGET.episode_tokens for trajectory in played)
