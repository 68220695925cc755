"""Episodes as an environment of SkyRL, for models that write the tags of the episode.

from judge_r1.integrations.skyrl_environment import register_judge, rows_of

register_judge("data/pairs")  # in the entry point of the training, before the trainer starts
Dataset.from_list(rows_of(load_pairs(Path("data/pairs")))).to_parquet("train.parquet")

The generator samples up to `</search>` and `</answer>` (`sampling_params.stop`), and `generator.max_turns` is at least
`max_searches` + 1.
"""

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType
from skyrl_gym.envs.registration import register

from judge_r1.core.event_loop import run_sync
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.pair_set import PairSet
from judge_r1.integrations.episodes import shared_episodes, tag_prompt

JUDGE = "judge_r1"


class JudgeTextEnv(BaseTextEnv):  # type: ignore[misc]
    """The episode of one row. `extras` has its `pair_id`, and may have SkyRL's `max_turns`.

    Args:
        folder: The data folder. All environments of a process share one index of its cases.
        episode: Fields of `judge_r1.episode.config.EpisodeConfig` that are not its defaults.
    """

    def __init__(
        self, extras: dict[str, Any], folder: str, episode: dict[str, Any] | None = None, env_config: Any = None
    ) -> None:
        super().__init__()
        self._episode = shared_episodes(folder, EpisodeConfig.model_validate(episode or {})).start(
            extras["pair_id"], tools=False
        )
        self.max_turns = extras.get("max_turns")

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Write one sample. The last step has the reward; raises SearchFailed if a search failed."""
        self.turns += 1
        observation = run_sync(self._episode.write(action))
        if not self._episode.over and self.max_turns is not None and self.turns >= self.max_turns:
            self._episode.machine.end("max_turns")
        over = self._episode.over
        shown = [] if observation is None or over else [{"role": "user", "content": observation}]
        reward = self._episode.reward()["r"] if over else 0.0
        return BaseTextEnvStepOutput(observations=shown, reward=reward, done=over, metadata={})

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        return prompt, {}

    def get_metrics(self) -> dict[str, float]:
        """The parts of the reward."""
        return self._episode.reward()


def register_judge(folder: str, episode: dict[str, Any] | None = None, *, name: str = JUDGE) -> None:
    """Register the environment under a name, which the column `env_class` of the rows has."""
    register(
        id=name,
        entry_point=f"{__name__}:{JudgeTextEnv.__name__}",
        kwargs={"folder": folder, "episode": episode},
    )


def rows_of(data: PairSet, config: EpisodeConfig | None = None, *, name: str = JUDGE) -> list[dict[str, Any]]:
    """The rows of a dataset: the prompt, the environment's name, and the id of the pair."""
    config = config or EpisodeConfig()
    return [
        {"prompt": tag_prompt(pair, data, config), "env_class": name, "pair_id": pair.pair_id} for pair in data.pairs
    ]
