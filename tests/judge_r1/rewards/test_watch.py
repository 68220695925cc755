"""A second judge beside the one that gives the rewards: what agrees, what is drawn, what is refused."""

import asyncio
import threading
from typing import Any

import pytest
from failing_judge import FailsOn
from serving_fixture import LiveServer, service

from judge_r1.core.errors import JudgeError
from judge_r1.judges.base import BadJudge
from judge_r1.rewards.group import Comparison, Watched
from judge_r1.rewards.group_judge import Group, GroupJudge
from judge_r1.rewards.pair_judge import Question
from judge_r1.rewards.trl import GroupReward
from judge_r1.rewards.watch import Watch, winners


def group(*answers: str) -> Group:
    return Group(Question("q"), answers)


def look(watch: Watch, *groups: Group) -> Watched:
    judge = GroupJudge("longer", schedule="all_pairs")
    try:
        return asyncio.run(watch.look(groups, judge.score_sync(groups)))
    finally:
        judge.close()
        watch.close()


def test_a_pair_is_decided_by_the_mean_of_its_orders() -> None:
    """(0, 1): .9 and 1 - .6 are .65 for 0. (1, 2): .3 and 1 - .7 are .3 for 1. (0, 2) ties, and (2, 3) failed."""
    shown = [
        Comparison(0, 1, 0.9), Comparison(1, 0, 0.6), Comparison(1, 2, 0.3), Comparison(2, 1, 0.7),
        Comparison(0, 2, 1.0), Comparison(2, 0, 1.0), Comparison(2, 3, None, "lost"),
    ]  # fmt: skip
    assert winners(shown) == {(0, 1): 0, (1, 2): 2}


def test_ties_and_order_are_no_agreement() -> None:
    """`longer` ties "a" with "b" and prefers "c c" to both; `always-a` ties with itself in both orders."""
    assert look(Watch("always-a", beside="longer", share=1), group("a", "b", "c c")) == Watched()
    assert look(Watch("random", beside="longer", share=1), group("a")) == Watched()
    twin = Watch("twin=vote:rule=any(longer|longer)", beside="longer", share=1)
    assert look(twin, group("a", "b", "c c")) == Watched(compared=2, same=2)


def test_a_share_of_the_groups_is_drawn_by_the_seed() -> None:
    groups = [group(f"{number}", "b b") for number in range(2000)]
    for share in (0.05, 0.5):
        watch, other = (Watch("random", beside="longer", share=share, seed=seed) for seed in (0, 1))
        drawn = [watch.draws(one) for one in groups]
        assert drawn == [watch.draws(one) for one in groups]
        assert abs(sum(drawn) - share * 2000) < 4 * (share * (1 - share) * 2000) ** 0.5
        assert drawn != [other.draws(one) for one in groups]
        watch.close()
        other.close()


def test_failures_of_the_second_judge_are_counted_apart() -> None:
    with LiveServer(service(FailsOn("broken"))) as server:
        watch = Watch(server.url, beside="longer", share=1)
        for client in watch._judge._judge._clients:  # type: ignore[attr-defined]
            client._attempts = 1
        found = look(watch, group("one", "one two", "broken three words"))
    assert (found.compared, found.failed) == (1, 4)


@pytest.mark.parametrize("fails", [RuntimeError("out of memory"), None])
def test_whatever_the_second_judge_does_stops_nothing(
    fails: Exception | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It raises what is no JudgeError, or gives no answer by the deadline."""

    async def compare(*_: Any) -> Any:
        if fails:
            raise fails
        await asyncio.sleep(60)

    if fails is None:
        monkeypatch.setattr("judge_r1.rewards.watch.DEADLINE_S", 0.2)
    rewards, logged = GroupReward("longer", watch="random", watch_share=1), dict[str, Any]()
    monkeypatch.setattr(rewards._watch._judge._judge, "compare", compare)  # type: ignore[union-attr]
    found = asyncio.run(rewards(["p", "p", "q", "q"], ["a b", "x", "c", "d e"], log_metric=logged.__setitem__))
    rewards.close()
    assert found[0] > found[1]  # type: ignore[operator]
    assert (logged["judge/watch_n"], logged["judge/watch_failed"]) == (0, 4)
    assert f"the judge that watches failed: {fails or 'TimeoutError'}" in caplog.text
    assert logged["judge/length"] == 1.5, "words: there are no completion_ids"


def test_where_the_first_judge_cannot_be_opened_nothing_stays_open() -> None:
    def loops() -> int:
        return sum(thread.name == "judge-r1-rewards" for thread in threading.enumerate())

    before = loops()
    with pytest.raises(JudgeError):
        GroupReward("no-such-judge", watch="random")
    assert loops() == before


def test_the_watch_changes_no_reward_and_logs_apart() -> None:
    def call(reward: GroupReward) -> tuple[list[float | None], dict[str, Any]]:
        logged: dict[str, Any] = {}
        answers = ["a b", "x", "a b c", "y z w v"]
        columns = {"completion_ids": [[1, 2], [1], [1, 2, 3], [1, 2, 3, 4]]}
        found = asyncio.run(reward(["p"] * 4, answers, log_metric=logged.__setitem__, **columns))
        reward.close()
        return found, logged

    alone, logged = call(GroupReward("longer", schedule="all_pairs"))
    assert not any("watch" in name for name in logged)
    watched, logged = call(
        GroupReward("longer", schedule="all_pairs", watch="vote:weights=1/1(longer|longer)", watch_share=1)
    )
    assert watched == alone
    assert logged["judge/watch_n"] == 6
    assert (logged["judge/watch_agreement"], logged["judge/watch_failed"]) == (1, 0)
    assert (logged["judge/proxy_reward"], logged["judge/length"]) == (pytest.approx(0.5), 2.5)
    _, logged = call(GroupReward("longer", watch="random", watch_share=1e-9))
    assert logged["judge/watch_n"] == 0
    assert "judge/watch_agreement" not in logged


@pytest.mark.parametrize(
    ("judge", "watch", "share", "says"),
    [
        ("longer", "longer", 0.05, "cannot check itself"),
        ("longer", "other name=longer", 0.05, "cannot check itself"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1/", 0.05, "cannot check itself"),
        ("longer", "random", 0.0, "watch_share is above 0 and at most 1, not 0"),
        ("longer", "random", 1.5, "watch_share is above 0 and at most 1, not 1.5"),
        ("longer", "random", float("nan"), "watch_share is above 0"),
    ],
)
def test_a_watch_that_means_nothing_is_refused(judge: str, watch: str, share: float, says: str) -> None:
    with pytest.raises((ValueError, BadJudge), match=says):
        GroupReward(judge, watch=watch, watch_share=share)


def test_judges_of_one_model_are_a_note(caplog: pytest.LogCaptureFixture) -> None:
    Watch("direct@http://127.0.0.1:9/v1#m", beside="agentic@http://127.0.0.1:9/v1#m").close()
    assert "both judges use http://127.0.0.1:9/v1#m: they share its blind spots" in caplog.text
