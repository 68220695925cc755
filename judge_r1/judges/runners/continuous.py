"""A local model for a server: the episodes of all its callers share one batch."""

from contextlib import nullcontext

from judge_r1.episode.confidence import opposite_tokens
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.episode_factory import EpisodeFactory, judge_settings
from judge_r1.judges.runners.token import TokenJudge
from judge_r1.models.engine import BackgroundModel, LocalModel
from judge_r1.models.hub import context_length, eos_ids, load_model, load_tokenizer

GENERATION_S = 600.0
"""Deadline of one turn, the wait for a row of the batch included."""


class EngineJudge(TokenJudge):
    """Runs up to `build.batch_size` episodes concurrently across all calls. Call `close` when done."""

    def __init__(
        self, build: JudgeBuild, config: EpisodeConfig, *, kind: str = "agentic", prompted: bool = False
    ) -> None:
        model = build.backend
        loaded, hf_tokenizer = load_model(model), load_tokenizer(model)
        tokenizer, ends = SafeTokenizer(hf_tokenizer), eos_ids(model, hf_tokenizer)
        local = LocalModel(
            loaded, tokenizer.decode, ends, pad_id=hf_tokenizer.pad_token_id, max_rows=build.batch_size, persistent=True
        )
        self._engine = BackgroundModel(local, deadline_s=GENERATION_S)
        driver = EpisodeDriver(
            self._engine, temperature=build.sampling.temperature, alternatives=opposite_tokens(hf_tokenizer.get_vocab())
        )
        name = f"{kind}@{model}"
        factory = EpisodeFactory(name, config, tokenizer, ends, context_length(model), build.sampling.seed, prompted)
        super().__init__(build, config, factory, judge_settings(build, config), lambda: nullcontext(driver))

    def close(self) -> None:
        self._engine.close()
