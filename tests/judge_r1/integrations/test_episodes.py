"""Episodes as texts: what a sample may end with, texts that cannot be encoded, calls at a time, and sessions."""

import asyncio
import json
from threading import Event

import pytest
from recorded_rollouts import gold_answer, rollouts, write_pairs

from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.tags import TagScanner
from judge_r1.files.pair_set import PairSet
from judge_r1.integrations.episodes import (
    OVER,
    SearchFailed,
    Sessions,
    TextEpisodes,
    shared_episodes,
    tag_prompt,
    tool_prompt,
)

CONFIG = EpisodeConfig(context="none", retriever="bm25", budget=Budget(max_searches=2, top_k=2))


@pytest.fixture(scope="module")
def episodes(data: PairSet) -> TextEpisodes:
    return TextEpisodes(data, CONFIG)


def test_a_tag_inside_an_open_thought_is_text(episodes: TextEpisodes, data: PairSet) -> None:
    pair = data.pairs[0]
    episode = episodes.start(pair.pair_id, tools=False)
    assert asyncio.run(episode.write("<think>shall I <search>ana</search>")) is None  # sampling stopped there
    assert not episode.over
    answer = json.dumps(gold_answer(data, pair.pair_id))
    assert asyncio.run(episode.write(f" no.</think><answer>{answer}</answer>")) is None
    assert (episode.over, episode.reward()["r"], episode.reward()["searches"]) == (True, 1.0, 0.0)


@pytest.mark.parametrize("text", ["", "A>B", "<search>ana", "<think>", "<answer>{}"])
def test_a_sample_that_ends_without_an_action_ends_the_episode(
    episodes: TextEpisodes, data: PairSet, text: str
) -> None:
    episode = episodes.start(data.pairs[0].pair_id, tools=False)
    assert asyncio.run(episode.write(text)) is None
    assert (episode.over, episode.reward()["r"]) == (True, 0.0)


def test_tool_calls_come_to_the_rewards_of_recorded_episodes(data: PairSet) -> None:
    """TRL, verifiers and NeMo-Gym call `search` and `submit`: here with what recorded episodes wrote between tags."""
    config = CONFIG.model_copy(update={"budget": Budget(max_searches=2, top_k=2, response_tokens=100)})
    episodes, replayed = TextEpisodes(data, config), []
    for one in rollouts(data, config):
        actions = [TagScanner().push(turn.text) for turn in one.turns]
        if None in actions:  # it ended without an action, which is no tool call
            continue
        episode, shown = episodes.start(one.pair_id, tools=True), []
        for kind, text in filter(None, actions):
            shown.append(asyncio.run(episode.search(text) if kind == "search" else episode.submit(text)))
        assert (shown, episode.reward()) == ([*one.searched, OVER], one.reward)
        replayed.append(one)
    assert {True, False} == {one.reward["valid"] == 1 for one in replayed}
    assert len({one.reward["r"] for one in replayed}) > 2
    assert any(one.searched for one in replayed)


def test_half_of_a_surrogate_pair_is_no_failed_search(episodes: TextEpisodes, data: PairSet) -> None:
    episode = episodes.start(data.pairs[0].pair_id, tools=True)
    assert "1 searches left" in asyncio.run(episode.search(json.loads('"who \\ud800 paid"')))
    assert asyncio.run(episode.submit(json.loads('"{\\udfff}"'))) == OVER
    assert episode.reward()["r"] == 0.0


def test_calls_at_a_time_share_the_budget(episodes: TextEpisodes, data: PairSet) -> None:
    episode = episodes.start(data.pairs[0].pair_id, tools=True)

    async def together() -> list[str]:
        query = data.case_of(episode.pair).context
        return await asyncio.gather(*(episode.search(query) for _ in range(4)))

    shown = asyncio.run(together())
    assert [("[1]" in text, "no searches left" in text) for text in shown] == [(True, False)] * 2 + [(False, True)] * 2


def test_a_cancelled_search_ends_the_episode_without_a_reward(data: PairSet, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes, released = TextEpisodes(data, CONFIG), Event()

    def slow(query: str) -> list[Evidence]:
        released.wait(10)
        return []

    monkeypatch.setattr(episodes, "search_of", lambda pair: slow)
    episode = episodes.start(data.pairs[0].pair_id, tools=True)

    async def cancelled() -> str:
        try:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(episode.search("who paid"), 0.05)
            return await episode.submit(json.dumps(gold_answer(data, episode.pair.pair_id)))
        finally:
            released.set()

    assert asyncio.run(cancelled()) == OVER
    assert episode.over
    with pytest.raises(SearchFailed, match="infrastructure_search_cancelled"):
        episode.reward()


def test_the_least_recently_used_session_is_dropped(episodes: TextEpisodes, data: PairSet) -> None:
    sessions = Sessions(episodes, limit=2)
    first, second = (sessions.open(name, data.pairs[0].pair_id) for name in ("first", "second"))
    assert sessions.open("first", data.pairs[0].pair_id) is first
    sessions.open("third", data.pairs[1].pair_id)
    assert (sessions.get("second"), sessions.get("first")) == (None, first)
    sessions.open("fourth", data.pairs[1].pair_id)
    assert (sessions.get("third"), sessions.get("first")) == (None, first), "a look-up uses the session"
    sessions.close("first")
    assert sessions.get("first") is None
    assert second.pair.pair_id == data.pairs[0].pair_id


def test_an_unknown_pair_is_an_error(episodes: TextEpisodes) -> None:
    with pytest.raises(JudgeError, match="there is no pair 'none'"):
        episodes.start("none", tools=True)


def test_a_process_opens_a_folder_once(data: PairSet, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = write_pairs(tmp_path_factory.mktemp("pairs"), data)
    assert shared_episodes(folder, CONFIG) is shared_episodes(f"{folder}/.", CONFIG)
    assert shared_episodes(folder, CONFIG) is not shared_episodes(folder, EpisodeConfig(retriever="bm25"))


def test_only_the_prompt_of_tags_names_tags(data: PairSet) -> None:
    pair = data.pairs[0]
    tags, tools = ("\n".join(m["content"] for m in f(pair, data, CONFIG)) for f in (tag_prompt, tool_prompt))
    assert ("<search>" in tags, "<search>" in tools, "<answer>" in tools) == (True, False, False)
