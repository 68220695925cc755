"""Episodes as an environment of TRL's trainers, for models that search and answer by tool calls.

from judge_r1.integrations.trl_environment import environment_of, rows_of

rows = Dataset.from_list(rows_of(data))
trainer = GRPOTrainer(model=..., environment_factory=environment_of(data), train_dataset=rows)

The tools write the actions of the episode's grammar into its state machine, which has the budgets, the notices and the
strict parser. The reward is that of the paper (`judge_r1.episode.reward`).
"""

from collections.abc import Callable
from typing import Any

from judge_r1.core.event_loop import run_sync
from judge_r1.core.pair_set import PairSet
from judge_r1.episode.chat_driver import EOS, TextTokenizer, chat_budget
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import search_into
from judge_r1.episode.machine import Episode, Finished, Sample, Search
from judge_r1.episode.parsing import parse_strict
from judge_r1.episode.prompts import DIRECT, judge_prompt
from judge_r1.episode.reward import round_reward, with_reward
from judge_r1.judges.search import CaseSearcher

HOW = (
    "\n\nCall the tool `search` to read passages of the case; at most {searches} searches are answered. "
    "Then call the tool `submit` once, with the JSON object as its argument."
)
OVER = "the episode is over"


class JudgeEnvironment:
    """One episode at a time, about the pair of a row. A search sees the case of this pair alone."""

    def __init__(self, data: PairSet, config: EpisodeConfig, searcher: CaseSearcher) -> None:
        self._pairs, self._config, self._searcher = data.by_id(), config, searcher

    def reset(self, *, pair_id: str, **_: Any) -> str:
        """Starts an episode. The text that it returns ends the prompt."""
        self._pair = self._pairs[pair_id]
        budget = chat_budget(self._config.effective_budget)
        self._episode = Episode((), budget, TextTokenizer(), eos_ids=(EOS,), parse=parse_strict)
        return HOW.format(searches=budget.max_searches)

    def search(self, query: str) -> str:
        """Search the case.

        Args:
            query: The words to look for.

        Returns:
            The best passages.
        """
        return self._act(f"<search>{query}</search>")

    def submit(self, judgment: str) -> str:
        """Submit the judgment, which ends the episode.

        Args:
            judgment: The JSON object that the task asks for.

        Returns:
            A confirmation.
        """
        return self._act(f"<answer>{judgment}</answer>")

    def get_reward(self) -> float | None:
        """r of the paper; 0 without a valid judgment, None if a search failed."""
        trajectory = self._episode.trajectory()
        reward = with_reward(trajectory, self._pair).reward
        return None if trajectory.infrastructure_failed or reward is None else round_reward(reward["r"])

    def _act(self, text: str) -> str:
        episode = self._episode
        if not isinstance(episode.state, Sample):
            return OVER
        assert isinstance(episode.tokenizer, TextTokenizer)
        ids = episode.tokenizer.encode_reply(text)
        episode.feed(ids, [0.0] * len(ids))
        if isinstance(episode.state, Search):
            run_sync(search_into(episode, self._searcher.of_case(self._pair.case_id)))
        over = isinstance(episode.state, Finished)
        return OVER if over or not episode.turns else episode.turns[-1].observation or ""


def environment_of(data: PairSet, config: EpisodeConfig | None = None) -> Callable[[], JudgeEnvironment]:
    """An `environment_factory`. All its environments share one index of the cases."""
    config = config or EpisodeConfig()
    searcher = CaseSearcher(data.texts, config)
    return lambda: JudgeEnvironment(data, config, searcher)


def rows_of(data: PairSet, config: EpisodeConfig | None = None) -> list[dict[str, Any]]:
    """The rows of a dataset for `environment_of`: the prompt without search tags, and the id of the pair."""
    context = (config or EpisodeConfig()).context
    return [
        {
            "prompt": judge_prompt(pair, data.case_of(pair), context=context, searches=0, style=DIRECT).chat(),
            "pair_id": pair.pair_id,
        }
        for pair in data.pairs
    ]
