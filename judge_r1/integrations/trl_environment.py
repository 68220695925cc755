"""Episodes as an environment of TRL's trainers, for models that search and answer by tool calls.

from judge_r1.integrations.trl_environment import environment_of, rows_of

rows = Dataset.from_list(rows_of(data))
trainer = GRPOTrainer(model=..., environment_factory=environment_of(data), train_dataset=rows)
"""

from collections.abc import Callable
from typing import Any

from judge_r1.core.event_loop import run_sync
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.pair_set import PairSet
from judge_r1.integrations.episodes import SearchFailed, TextEpisodes, how_to_call, tool_prompt


class JudgeEnvironment:
    """One episode at a time, about the pair of a row. A search sees the case of this pair alone."""

    def __init__(self, episodes: TextEpisodes) -> None:
        self._episodes = episodes

    def reset(self, *, pair_id: str, **_: Any) -> str:
        """Starts an episode. The text that it returns ends the prompt."""
        self._episode = self._episodes.start(pair_id, tools=True)
        return how_to_call(self._episodes.config)

    def search(self, query: str) -> str:
        """Search the case.

        Args:
            query: The words to look for.

        Returns:
            The best passages.
        """
        return run_sync(self._episode.search(query))

    def submit(self, judgment: str) -> str:
        """Submit the judgment, which ends the episode.

        Args:
            judgment: The JSON object that the task asks for.

        Returns:
            A confirmation.
        """
        return run_sync(self._episode.submit(judgment))

    def get_reward(self) -> float | None:
        """r of the paper; 0 without a valid judgment, None if a search failed."""
        try:
            return self._episode.reward()["r"]
        except SearchFailed:
            return None


class ToolEnvironment(JudgeEnvironment):
    """The environment of episodes with `episode.tools`: TRL offers a model the methods of the class."""

    def call_tool(self, name: str, text: str) -> str:
        """Call one of the tools that the task names.

        Args:
            name: The name of the tool.
            text: Its input.

        Returns:
            Its result.
        """
        return run_sync(self._episode.call_tool(name, text))


def environment_of(data: PairSet, config: EpisodeConfig | None = None) -> Callable[[], JudgeEnvironment]:
    """An `environment_factory`. All its environments share one index of the cases."""
    episodes = TextEpisodes(data, config)
    kind = ToolEnvironment if episodes.config.tools else JudgeEnvironment
    return lambda: kind(episodes)


def rows_of(data: PairSet, config: EpisodeConfig | None = None) -> list[dict[str, Any]]:
    """The rows of a dataset for `environment_of`: the prompt without search tags, and the id of the pair."""
    config = config or EpisodeConfig()
    return [{"prompt": tool_prompt(pair, data, config), "pair_id": pair.pair_id} for pair in data.pairs]
