"""The agentic judge: episodes with search. With search off it is a plain one-turn judge.

Its model is local, or behind an endpoint: `judge_r1.judges.backend_spec` tells which.
"""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from judge_r1.episode.confidence import flips
from judge_r1.episode.config import EpisodeConfig, recipe_episode, with_options
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.machine import Episode
from judge_r1.episode.rollout import PromptTooLong, batch_search, new_retriever
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.backend_spec import Local, judge_at, on_engine
from judge_r1.judges.base import JUDGES, Judge, JudgeBuild, JudgeKind, JudgeOutput
from judge_r1.judges.episode_factory import Beginning, settings_of, unplayed
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.hub import context_length, eos_ids, load_model, load_tokenizer


class AgenticJudge:
    """`making.backend` is a model's name or folder (`judge_r1.models`); `kind` is how the SPEC calls the judge, which
    also answers prompts of a benchmark's own where it is `prompted`."""

    def __init__(
        self, making: JudgeBuild, config: EpisodeConfig, *, kind: str = "agentic", prompted: bool = False
    ) -> None:
        from judge_r1.models.engine import LocalModel

        model = making.backend
        loaded, tokenizer = load_model(model), load_tokenizer(model)
        self.config, self.sampling, self.batch_size = config, making.sampling, making.batch_size
        self.settings = settings_of(making, config)
        safe, ends = SafeTokenizer(tokenizer), eos_ids(model, tokenizer)
        self._beginning = Beginning(
            name=f"{kind}@{model}",
            config=config,
            codec=safe,
            eos_ids=ends,
            context_length=context_length(model),
            seed=self.sampling.seed,
            prompted=prompted,
        )
        local = LocalModel(loaded, safe.decode, ends, pad_id=tokenizer.pad_token_id, max_rows=self.batch_size)
        self._driver = EpisodeDriver(local, alternatives=flips(tokenizer.get_vocab()))
        self._retriever = new_retriever(making.texts, config)
        self._lengths: dict[Any, int] = {}  # of prompts that were checked and are not played yet

    @property
    def name(self) -> str:
        return self._beginning.name

    def check(self, asks: Sequence[JudgeRequest]) -> None:
        """Errors: BadJudge where not one prompt fits; those that do not are counted as invalid answers."""
        self._lengths |= self._measured(asks)

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """In batches of prompts of like lengths, out of all asks, the longest first: what does not fit into memory
        fails at once, and not after hours. Games come as each batch ends."""
        lengths = {ask.key: self._lengths.pop(ask.key) for ask in asks if ask.key in self._lengths}
        lengths |= self._measured([ask for ask in asks if ask.key not in lengths])
        asks = sorted(asks, key=lambda ask: -lengths[ask.key])
        for start in range(0, len(asks), self.batch_size):
            batch = [(ask, self._beginning.begin(ask)) for ask in asks[start : start + self.batch_size]]
            for ask, refused in batch:
                if isinstance(refused, PromptTooLong):
                    yield unplayed(ask, refused)
            begun = [(ask, episode) for ask, episode in batch if isinstance(episode, Episode)]
            search = batch_search(self._retriever, [ask.case_id or "" for ask, _ in begun], self.config.budget.top_k)
            await self._driver.run_together([episode for _, episode in begun], search, self.sampling.temperature)
            for ask, episode in begun:
                yield self._beginning.played(ask, episode)

    def _measured(self, asks: Sequence[JudgeRequest]) -> dict[Any, int]:
        return {ask.key: length for ask, length in zip(asks, self._beginning.lengths(asks), strict=True)}


def episode_config(making: JudgeBuild) -> EpisodeConfig:
    """As in the recipe given, or that of the run a model lies in, or the defaults; options win."""
    beside = Path(making.backend).parent / "recipe.yaml"
    found = making.recipe or (beside if beside.exists() else None)
    return with_options(recipe_episode(found) if found else EpisodeConfig(), making.options)


def _make(making: JudgeBuild, local: Local = AgenticJudge) -> Judge:
    return judge_at(making, "agentic", episode_config, local, prompted=False)


JUDGES.register("agentic")(
    JudgeKind(
        "thinks and searches the case before it decides; a folder, a hub name, bundled:NAME, URL#MODEL (chat) or "
        "vllm:URL#MODEL (token ids)",
        _make,
        served=partial(_make, local=on_engine),
    )
)
