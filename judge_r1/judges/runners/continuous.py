"""A local model whose games share the steps of one batch, whoever asks them: the judge that is served."""

from judge_r1.episode.confidence import flips
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.episode_factory import Beginning, settings_of
from judge_r1.judges.runners.token import TokenJudge
from judge_r1.models.continuous.driver import LocalBackend
from judge_r1.models.continuous.engine import Engine
from judge_r1.models.hub import context_length, eos_ids, load_model, load_tokenizer


class EngineJudge(TokenJudge):
    """`making.batch_size` episodes run at a time, of all plays together. Close it when no more is asked."""

    def __init__(
        self, making: JudgeBuild, config: EpisodeConfig, *, kind: str = "agentic", prompted: bool = False
    ) -> None:
        model = making.backend
        loaded, tokenizer = load_model(model), load_tokenizer(model)
        codec, ends = SafeTokenizer(tokenizer), eos_ids(model, tokenizer)
        self._engine = Engine(
            loaded.eval(), codec.decode, ends, pad_id=tokenizer.pad_token_id, max_rows=making.batch_size
        )
        backend = _Shared(self._engine, temperature=making.sampling.temperature, flips=flips(tokenizer.get_vocab()))
        name = f"{kind}@{model}"
        beginning = Beginning(name, config, codec, ends, context_length(model), making.sampling.seed, prompted)
        super().__init__(making, config, beginning, settings_of(making, config), lambda: backend)

    def close(self) -> None:
        self._engine.close()


class _Shared(LocalBackend):
    """Open as long as its judge is."""

    async def aclose(self) -> None: ...
