"""Episodes in shared batches of the local engine, compared with one full forward pass for each token."""

from time import monotonic

import pytest
from word_model import BUDGET, WordTokenizer, episodes, logprobs_of, model, search

from judge_r1.core.records import Trajectory
from judge_r1.episode import driver
from judge_r1.episode.driver import EpisodeDriver, log_lost
from judge_r1.models.engine import LocalModel


def run_in_batches(temperature: float, batch_size: int, seed: int = 0, count: int = 16) -> list[Trajectory]:
    running = episodes(seed)[:count]
    local = LocalModel(model(), WordTokenizer().decode, [1], pad_id=0, max_rows=batch_size)
    EpisodeDriver(local).run_episodes(running, search, temperature)
    return [episode.trajectory() for episode in running]


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_equal_those_of_a_plain_forward_pass(temperature: float) -> None:
    """At the sampling temperature, with the observations in the context."""
    trajectories = run_in_batches(temperature, 16, seed=3)
    assert sum(trajectory.searches for trajectory in trajectories) >= 6
    for trajectory in trajectories:
        ids = [*trajectory.prompt_ids, *trajectory.token_ids]
        table, first = logprobs_of(ids, temperature), len(trajectory.prompt_ids)
        for index, (token, mask) in enumerate(zip(trajectory.token_ids, trajectory.loss_mask, strict=True)):
            expected = float(table[first + index - 1, token]) if mask else 0.0
            assert trajectory.logprobs[index] == pytest.approx(expected, abs=1e-4)


def test_samples_depend_on_the_seed_and_not_on_the_batch() -> None:
    runs = [run_in_batches(1.0, size, seed, count=7) for size, seed in ((5, 1), (1, 1), (5, 2))]
    samples = [[trajectory.token_ids for trajectory in run] for run in runs]
    assert samples[0] == samples[1]
    assert all(one != other for one, other in zip(samples[0], samples[2], strict=True))


def test_every_episode_ends_and_the_training_mode_is_restored() -> None:
    model().train()
    try:
        trajectories = run_in_batches(1.5, 4, count=8)
        assert model().training
    finally:
        model().eval()
    assert all(trajectory.ended != "unfinished" for trajectory in trajectories)
    assert all(len(trajectory.token_ids) <= BUDGET.episode_tokens for trajectory in trajectories)


def test_equal_reasons_of_lost_episodes_are_counted(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(12):
        log_lost("(no_answer): a server of this test")
    monkeypatch.setattr(driver, "monotonic", lambda: monotonic() + 3600)  # another outage
    log_lost("(no_answer): a server of this test")
    assert [record.getMessage() for record in caplog.records] == [
        "an episode is lost (no_answer): a server of this test",
        "10 episodes are lost (no_answer): a server of this test",
        "an episode is lost (no_answer): a server of this test",
    ]
