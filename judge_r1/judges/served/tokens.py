"""A judge behind a server that takes and returns token ids: the same episodes as with a local model."""

from collections.abc import AsyncIterator, Sequence
from functools import partial

from judge_r1.asks import Ask
from judge_r1.backends.completions import CompletionsBackend
from judge_r1.backends.endpoints import OpenAIEndpoint, find_key
from judge_r1.backends.http import Limits
from judge_r1.backends.serving import Usage
from judge_r1.config import EpisodeConfig
from judge_r1.decision import flips
from judge_r1.judges import Making, Played
from judge_r1.judges.beginning import Beginning, settings_of, unplayed
from judge_r1.judges.served.pool import as_finished
from judge_r1.models import ModelUnavailable, context_length, eos_ids, load_tokenizer
from judge_r1.play import case_search, new_retriever
from judge_r1.tokens import Codec


class TokenJudge:
    """`tokenizer` is a model's name or folder (`judge_r1.models`): its tokenizer, its EOS and what it reads must be
    those of the served model. `making.batch_size` games are played at a time."""

    def __init__(
        self,
        making: Making,
        config: EpisodeConfig,
        endpoint: OpenAIEndpoint,
        *,
        kind: str,
        prompted: bool,
        tokenizer: str,
        timeout_s: int = 180,
    ) -> None:
        try:
            loaded = load_tokenizer(tokenizer)
            ends, length = eos_ids(tokenizer, loaded), context_length(tokenizer)
        except ModelUnavailable as error:
            raise ModelUnavailable(f"{error}; name it by {kind}:tokenizer=NAME@vllm:{endpoint.name}") from None
        self.name = f"{kind}@vllm:{endpoint.name}"
        self.settings = settings_of(making, config, backend="token ids", tokenizer=tokenizer)
        self._config, self._sampling = config, making.sampling
        self._limits = Limits(concurrency=making.batch_size, request_s=timeout_s, total_s=5 * timeout_s)
        self._endpoint, self._key = endpoint, find_key(endpoint)
        self._beginning = Beginning(self.name, config, Codec(loaded), ends, length, making.sampling.seed, prompted)
        self._flips = flips(loaded.get_vocab())
        self._retriever = new_retriever(making.texts, config)

    def check(self, asks: Sequence[Ask]) -> None:
        """Errors: BadJudge where not one prompt fits; those that do not are counted as invalid answers."""
        self._beginning.lengths(asks)

    async def play(self, asks: Sequence[Ask]) -> AsyncIterator[Played]:
        backend = CompletionsBackend(
            self._endpoint,
            self._key,
            self._limits,
            eos_ids=self._beginning.eos_ids,
            temperature=self._sampling.temperature,
            flips=self._flips,
        )
        try:
            async for played in as_finished(self.name, asks, partial(self._one, backend), self._limits.concurrency):
                yield played
        finally:
            await backend.aclose()

    async def _one(self, backend: CompletionsBackend, ask: Ask) -> Played:
        episode = self._beginning.begin(ask)
        if isinstance(episode, str):
            return unplayed(ask)
        usage, top_k, case_id = Usage(), self._config.budget.top_k, ask.case_id or ""
        await backend.play(episode, lambda query: case_search(self._retriever, case_id, query, top_k), usage)
        return self._beginning.played(ask, episode, usage.as_dict())
