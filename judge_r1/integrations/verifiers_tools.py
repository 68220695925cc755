"""The tool server of the taskset for verifiers, a process of its own (`python -m` this module).

One server serves all rollouts of a worker. The state of a rollout names its session, and gets the reward at the end.
"""

import verifiers.v1 as vf
from pydantic import Field

from judge_r1.episode.config import EpisodeConfig, with_options
from judge_r1.integrations.episodes import SearchFailed, Sessions, TextEpisode, shared_episodes


class JudgeState(vf.State):  # type: ignore[misc]
    """What the tool server and the task share. `reward` has `r` and its parts, `failure` says which search failed."""

    session: str = ""
    pair_id: str = ""
    reward: dict[str, float] = Field(default_factory=dict)
    failure: str | None = None


class JudgeToolsConfig(vf.SharedToolsetConfig):  # type: ignore[misc]
    data: str = ""
    episode: list[str] = Field(default_factory=list)


class JudgeTools(vf.Toolset[JudgeToolsConfig, JudgeState]):  # type: ignore[misc]
    TOOL_PREFIX = None

    async def setup(self) -> None:
        config = with_options(EpisodeConfig(), self.config.episode)
        self._sessions = Sessions(shared_episodes(self.config.data, config))

    @vf.tool  # type: ignore[untyped-decorator]
    async def search(self, query: str) -> str:
        """Search the case. `query` has the words to look for."""
        episode = self._episode()
        return self._ended(episode, episode.over, await episode.search(query))

    @vf.tool  # type: ignore[untyped-decorator]
    async def submit(self, judgment: str) -> str:
        """Submit the judgment, which ends the episode. `judgment` is the JSON object that the task asks for."""
        episode = self._episode()
        return self._ended(episode, episode.over, await episode.submit(judgment))

    def _episode(self) -> TextEpisode:
        return self._sessions.open(self.state.session, self.state.pair_id)

    def _ended(self, episode: TextEpisode, before: bool, answer: str) -> str:
        """Notes the end in the state. Other actions leave it alone: of calls at a time, the last one writes it."""
        if episode.over and not before:
            try:
                self.state.reward = episode.reward()
            except SearchFailed as error:
                self.state.failure = str(error)
        return answer


if __name__ == "__main__":
    JudgeTools.run()
