"""Episodes as environments of tinker-cookbook, from and to token ids: the tokens trained on are the tokens sampled.

builder = JudgeDatasetBuilder(data="data/pairs", model_name="Qwen/Qwen3-8B", batch_size=16, group_size=8)
config = tinker_cookbook.rl.train.Config(dataset_builder=builder, max_tokens=1000, …)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import chz
import tinker
from tinker_cookbook.completers import StopCondition
from tinker_cookbook.rl import types as rl
from tinker_cookbook.tokenizer_utils import get_tokenizer

from judge_r1.core.errors import JudgeError
from judge_r1.episode.config import EpisodeConfig, with_options
from judge_r1.episode.driver import act_into
from judge_r1.episode.machine import Finished, Sample
from judge_r1.episode.rollout import check_prompts, new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.integrations.episodes import reward_of, shared_episodes


@dataclass(frozen=True)
class JudgeGroup(rl.EnvGroupBuilder):  # type: ignore[misc]
    """The episodes of one pair. It can be pickled: a worker opens the data folder and the tokenizer once."""

    data: str
    pair_id: str
    model_name: str
    group_size: int
    config: EpisodeConfig

    async def make_envs(self) -> Sequence[rl.Env]:
        return [JudgeEnv(self) for _ in range(self.group_size)]


class JudgeEnv(rl.Env):  # type: ignore[misc]
    """One episode. Raises SearchFailed if a search failed: the rollout strategy decides about a retry."""

    def __init__(self, group: JudgeGroup) -> None:
        episodes, tokenizer = shared_episodes(group.data, group.config), tokenizer_of(group.model_name)
        self._pair, self._end = episodes.pair(group.pair_id), tokenizer.hf.eos_token_id
        self._search = episodes.search_of(self._pair)
        self._machine = new_episode(self._pair, episodes.data, group.config, tokenizer, (self._end,))

    async def initial_observation(self) -> tuple[tinker.ModelInput, StopCondition]:
        """All ids so far, and where to stop: by texts, since a stop condition cannot mix them with ids."""
        machine = self._machine
        end = machine.tokenizer.decode([self._end])
        return tinker.ModelInput.from_ints([*machine.prompt_ids, *machine.token_ids]), [*machine.stop_strings, end]

    async def step(self, action: rl.Action, *, extra: rl.ActionExtra | None = None) -> rl.StepResult:
        machine, turns = self._machine, len(self._machine.turns)
        if machine.feed(action, [0.0] * len(action)) < len(action):  # the trainer keeps the log-probabilities
            raise JudgeError(
                "a sample is longer than its turn, and the rest would be trained on: let the sampler stop at the given "
                f"texts, and set max_tokens to budget.response_tokens {machine.budget.response_tokens} or less"
            )
        # A sampler that reached its limit stops in the middle of a turn, and would not be asked to go on.
        cut = not action or (extra or {}).get("stop_reason") == "length"
        if cut and isinstance(machine.state, Sample) and len(machine.turns) == turns:
            machine.truncate()
        await act_into(machine, self._search)
        over = isinstance(machine.state, Finished)
        parts = reward_of(machine, self._pair) if over else {}
        return rl.StepResult(parts.get("r", 0.0), over, *await self.initial_observation(), metrics=parts)


@cache
def tokenizer_of(model_name: str) -> SafeTokenizer:
    return SafeTokenizer(get_tokenizer(model_name))


@dataclass(frozen=True)
class JudgeDataset(rl.RLDataset):  # type: ignore[misc]
    batches: Sequence[Sequence[JudgeGroup]]

    def get_batch(self, index: int) -> Sequence[JudgeGroup]:
        return self.batches[index]

    def __len__(self) -> int:
        return len(self.batches)


@chz.chz
class JudgeDatasetBuilder(rl.RLDatasetBuilder):  # type: ignore[misc]
    """The pairs of the folder `data`, in random order. `episode` has options such as `retriever=bm25`."""

    data: str
    model_name: str
    batch_size: int
    group_size: int
    episode: tuple[str, ...] = ()
    seed: int = 0

    async def __call__(self) -> tuple[JudgeDataset, None]:
        """Raises: PromptTooLong."""
        config = with_options(EpisodeConfig(), self.episode)
        data = shared_episodes(self.data, config).data
        check_prompts(data, config, tokenizer_of(self.model_name), None)
        order, size = Random(self.seed).sample(data.ids, len(data.ids)), self.batch_size
        groups = [JudgeGroup(self.data, pair_id, self.model_name, self.group_size, config) for pair_id in order]
        return JudgeDataset([groups[n : n + size] for n in range(0, len(groups), size)]), None
