"""The agentic judge: episodes with search, played by a local model. With search off it is a plain one-turn judge."""

from collections.abc import Iterator, Sequence
from typing import Any

from judge_r1.backends import Sampling
from judge_r1.config import EpisodeConfig
from judge_r1.models import context_length, eos_ids, load_model, load_tokenizer
from judge_r1.pairs import PairSet
from judge_r1.play import Player, check_prompts
from judge_r1.records import ReasoningPair, Trajectory
from judge_r1.tokens import Codec


class AgenticJudge:
    """`model` is a name or folder (`judge_r1.models`); pairs come from `data`, whose cases the judge may search."""

    def __init__(
        self,
        model: str,
        data: PairSet,
        config: EpisodeConfig,
        *,
        sampling: Sampling | None = None,
        batch_size: int = 64,
    ) -> None:
        from judge_r1.backends.transformers import TransformersBackend

        loaded, tokenizer = load_model(model), load_tokenizer(model)
        codec = Codec(tokenizer)
        check_prompts(data, config, codec, context_length(model))
        backend = TransformersBackend(loaded, pad_id=tokenizer.pad_token_id, batch_size=batch_size)
        self.name = f"agentic@{model}"
        self.sampling = sampling or Sampling()
        self.batch_size = batch_size
        self._player = Player(data, config, codec, backend, eos_ids(model, tokenizer))

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that a result depends on besides the weights."""
        return {
            "temperature": self.sampling.temperature,
            "seed": self.sampling.seed,
            "parser": "strict",
            **self._player.config.model_dump(mode="json"),
        }

    def judge(self, pairs: Sequence[ReasoningPair]) -> Iterator[tuple[ReasoningPair, Trajectory]]:
        """Judge in batches; results come as each batch ends."""
        for start in range(0, len(pairs), self.batch_size):
            batch = pairs[start : start + self.batch_size]
            yield from zip(batch, self._player.play(batch, self.sampling), strict=True)
