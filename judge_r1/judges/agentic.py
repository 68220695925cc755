"""The agentic judge: episodes with search. With search off it is a plain single-turn judge.

Its model is local or behind an endpoint (`judge_r1.models.open_model`).
"""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig, recipe_episode, with_options
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.machine import Episode
from judge_r1.episode.rollout import PromptTooLong
from judge_r1.judges.backend_spec import LocalJudgeFactory, continuous_judge, judge_of_backend
from judge_r1.judges.base import JUDGES, Judge, JudgeBuild, JudgeKind, JudgeOutput, PromptFit
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings, overflow_output
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.hub import resolve
from judge_r1.models.open_model import open_model, own_server


class AgenticJudge:
    """`build.backend` is a model's name or folder (`judge_r1.models`). `kind` is the judge's name in the SPEC. A
    `prompted` judge also answers a benchmark's own prompts."""

    def __init__(
        self, build: JudgeBuild, config: EpisodeConfig, *, kind: str = "agentic", prompted: bool = False
    ) -> None:
        model = build.backend
        self.config, self.sampling, self.batch_size = config, build.sampling, build.batch_size
        self.settings = judge_settings(build, config)
        opened = open_model(model, concurrency=self.batch_size, background=False, persistent=False)
        self._factory = EpisodeFactory(f"{kind}@{model}", config, opened, build, prompted=prompted)
        self._driver = EpisodeDriver(opened.model, alternatives=self._factory.alternatives)
        self._searcher = (build.searcher or CaseSearcher)(build.texts, config)
        self._lengths: dict[Any, int] = {}  # of prompts that were checked and have not run yet

    @property
    def name(self) -> str:
        return self._factory.name

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit:
        """Raises BadJudge if no prompt fits. Single prompts that do not fit are counted."""
        lengths, fit = self._factory.prompt_lengths(requests)
        self._lengths |= {request.key: length for request, length in zip(requests, lengths, strict=True)}
        self._searcher.prepare([request.case_id for request in requests if request.case_id])
        return fit

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Runs batches of prompts of similar length, the longest first, so that running out of memory shows at once.
        Yields outputs as each batch ends."""
        lengths = [self._lengths.pop(request.key, None) for request in requests]
        # Those that no check has read. It has kept the length of the others: long prompts take seconds to encode.
        missing = [index for index, length in enumerate(lengths) if length is None]
        found, _ = self._factory.prompt_lengths((requests[index] for index in missing), one_must_fit=False)
        for index, length in zip(missing, found, strict=True):
            lengths[index] = length
        order = sorted(range(len(requests)), key=lambda index: -(lengths[index] or 0))
        for start in range(0, len(order), self.batch_size):
            batch = [
                (request, self._factory.make_episode(request))
                for request in (requests[index] for index in order[start : start + self.batch_size])
            ]
            for request, refused in batch:
                if isinstance(refused, PromptTooLong):
                    yield overflow_output(request, refused)
            started = [(request, episode) for request, episode in batch if isinstance(episode, Episode)]
            search = self._searcher.of_cases([request.case_id or "" for request, _ in started])
            await self._driver.run_together([episode for _, episode in started], search, self.sampling.temperature)
            for request, episode in started:
                yield self._factory.output(request, episode)


def episode_config(build: JudgeBuild) -> EpisodeConfig:
    """Returns the configuration of the given recipe, else of the recipe beside the model's folder, else the defaults.
    The benchmark's limits override it, and options override both."""
    found = build.recipe
    if found is None:
        name = own_server(build.backend) or build.backend
        folder = resolve(name) if name.startswith("bundled:") else name
        beside = Path(folder).parent / "recipe.yaml"
        found = beside if beside.exists() else None
    limits = [f"{name}={limit}" for name, limit in build.limits.options.items()]
    return with_options(recipe_episode(found) if found else EpisodeConfig(), [*limits, *build.options])


def _make(build: JudgeBuild, local: LocalJudgeFactory = AgenticJudge) -> Judge:
    return judge_of_backend(build, "agentic", episode_config, local, prompted=False)


JUDGES.register("agentic")(
    JudgeKind(
        "thinks and searches the case before it decides; a folder, a hub name, bundled:NAME, URL#MODEL (chat), "
        "vllm:URL#MODEL (token ids) or vllm:NAME (vLLM is started for it)",
        _make,
        served=partial(_make, local=continuous_judge),
    )
)
