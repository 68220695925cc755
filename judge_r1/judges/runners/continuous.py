"""A local model for a server: the episodes of all its callers share one batch."""

from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings
from judge_r1.judges.runners.token import TokenJudge
from judge_r1.models.engine import BackgroundModel

GENERATION_S = 600.0
"""Deadline of one turn, the wait for a row of the batch included."""


class EngineJudge(TokenJudge):
    """Runs up to `build.batch_size` episodes concurrently across all calls. Call `close` when done."""

    def __init__(
        self, build: JudgeBuild, config: EpisodeConfig, *, kind: str = "agentic", prompted: bool = False
    ) -> None:
        factory = EpisodeFactory.load(f"{kind}@{build.backend}", config, build.backend, build, prompted=prompted)
        factory.check_window(case=True)  # before the weights: a server learns of its prompts only when they come
        local = factory.local_model(build.backend, max_rows=build.batch_size, persistent=True)
        self._engine = BackgroundModel(local, deadline_s=GENERATION_S)
        driver = EpisodeDriver(self._engine, temperature=build.sampling.temperature, alternatives=factory.alternatives)
        super().__init__(build, config, factory, judge_settings(build, config), driver)

    def close(self) -> None:
        self._engine.close()
