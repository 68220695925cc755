"""The dataset of tinker-cookbook's training on our episodes.

builder = JudgeDatasetBuilder(data="data/pairs", model_name="Qwen/Qwen3-8B", batch_size=16, group_size=8)
config = tinker_cookbook.rl.train.Config(dataset_builder=builder, max_tokens=1000, …)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import chz
from tinker_cookbook.rl import types as rl

from judge_r1.episode.config import EpisodeConfig, with_options
from judge_r1.episode.rollout import check_prompts
from judge_r1.integrations.episodes import shared_episodes
from judge_r1.integrations.tinker_environment import JudgeGroup, tokenizer_of


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
