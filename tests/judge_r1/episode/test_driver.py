"""Episodes that share batches of the local engine, against one forward pass over the whole text for each token."""

import pytest
from word_model import BUDGET, WordTokenizer, episodes, logprobs_of, model, passages, search

from judge_r1.core.records import Trajectory
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.machine import Episode, Finished, Search


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
    from judge_r1.models.engine import LocalModel

    played = episodes(seed)
    local = LocalModel(model(), WordTokenizer().decode, [1], pad_id=0, max_rows=batch_size)
    EpisodeDriver(local).run_episodes(played, search, temperature)
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

    from judge_r1.models.sampling import sample_tokens

    logits = torch.tensor([0.0, 1.0, -2.0, -float("inf")]).expand(20_000, 4)
    chances = torch.rand(20_000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ids, logprobs = sample_tokens(logits, 0.5, chances)
    expected = torch.softmax(logits[0] / 0.5, -1)
    assert torch.bincount(torch.tensor(ids), minlength=4) / 20_000 == pytest.approx(expected, abs=0.015)
    assert logprobs[0] == pytest.approx(float(expected[ids[0]].log()), abs=1e-5)
    edges = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    assert sample_tokens(logits[:2], 1.0, edges)[0] == [0, 2], "the first and the last id that can be drawn"


def test_every_episode_ends_and_the_model_is_put_back() -> None:
    model().train()
    try:
        played = in_batches(1.5, 4)
        assert model().training
    finally:
        model().eval()
    assert all(trajectory.ended != "unfinished" for trajectory in played)
    assert all(len(trajectory.token_ids) <= BUDGET.episode_tokens for trajectory in played)
