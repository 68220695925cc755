"""The model of a judge of long documents, and its tokenizer."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.core.endpoint import address_and_model, find_key
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.backend_spec import KEY, is_local
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.memo.config import MemoConfig
from judge_r1.judges.memo.prompts import summary_prompt
from judge_r1.judges.memo.scanner import WordCounter
from judge_r1.judges.memo.text_model import TextModel
from judge_r1.judges.runners.concurrency import judge_policy
from judge_r1.models.base import LanguageModel
from judge_r1.models.endpoint import OpenAIEndpoint
from judge_r1.models.shared_time import SharedTime, TimeSharingModel

if TYPE_CHECKING:
    from judge_r1.models.engine import BackgroundModel

_VLLM = "vllm:"


class TokenCounter(WordCounter):
    """Counts and cuts by the tokens of a tokenizer, without special tokens."""

    unit = "tokens"

    def __init__(self, tokenizer: SafeTokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode_untrusted(text))

    def tail(self, text: str, tokens: int) -> str:
        return self._tokenizer.decode(self._tokenizer.encode_untrusted(text)[-tokens:]) if tokens else ""


def _can_think(tokenizer: SafeTokenizer) -> bool:
    """Whether the chat template has a switch for thinking."""
    prompt = summary_prompt("text", whole=False)
    return tokenizer.rendered(prompt, thinking=True) != tokenizer.rendered(prompt, thinking=False)


def _served(endpoint: OpenAIEndpoint, seconds: int, concurrency: int, *, tokens: bool) -> LanguageModel:
    from judge_r1.models.openai_chat import ChatModel
    from judge_r1.models.openai_completions import CompletionsModel

    kind = CompletionsModel if tokens else ChatModel
    return kind(endpoint, find_key(endpoint), judge_policy(concurrency, seconds))


class ModelSource:
    """The `model` of a judge's SPEC: a local one, `URL#MODEL` or `vllm:URL#MODEL`. A local model runs in a thread until
    `close`."""

    def __init__(self, build: JudgeBuild, config: MemoConfig) -> None:
        backend, tokens = build.backend, build.backend.startswith(_VLLM)
        self.tokenizer: SafeTokenizer | None = None
        self._concurrency = build.batch_size
        self._local: BackgroundModel | None = None
        served: LanguageModel | None = None
        self.name = backend
        if is_local(backend):
            if given := sorted({"tokenizer", "timeout"} & config.model_fields_set):
                raise BadJudge(f"{given[0]} is for endpoints, and {backend} is a local model: leave it out")
        else:
            if config.constrain:
                raise BadJudge(f"constrain=true needs a local model, whose tokens can be restricted: {backend} is none")
            url, model = address_and_model(backend.removeprefix(_VLLM), "the SPEC of the judge")
            path = "completions" if tokens else OpenAIEndpoint.path
            endpoint = OpenAIEndpoint(url, model, KEY, path, config.token_field)
            self.name = (_VLLM if tokens else "") + endpoint.name
            served = _served(endpoint, config.timeout, build.batch_size, tokens=tokens)
        sampling = build.sampling
        wrap = partial(
            TextModel, temperature=sampling.temperature, seed=sampling.seed, retries=config.retries,
            thinking=config.thinking, switch=config.switch,
        )  # fmt: skip
        name = backend if served is None else config.tokenizer or (model if tokens else None)
        if name is not None:
            from judge_r1.models import hub

            hf = hub.load_tokenizer(name)
            self.tokenizer = SafeTokenizer(hf)
            if served is None or tokens:
                if config.thinking is not None and not _can_think(self.tokenizer):
                    raise BadJudge(f"the chat template of {name} has no switch for thinking: leave out thinking")
                ends, length = hub.eos_ids(name, hf), hub.context_length(name)
                wrap = partial(wrap, tokenizer=self.tokenizer, eos_ids=ends, context_length=length)
            if served is None:
                served = self._local = self._start(name, hf.pad_token_id, ends)
        assert served is not None
        self.model = wrap(TimeSharingModel(served, SharedTime()))

    @property
    def identity(self) -> str:
        """The model, for stored memories: two checkpoints in one folder differ."""
        from judge_r1.models.hub import folder_digest

        is_folder = self._local is not None and not self.name.startswith("bundled:") and Path(self.name).is_dir()
        return f"{self.name}@{folder_digest(Path(self.name))}" if is_folder else self.name

    @property
    def counter(self) -> WordCounter:
        return WordCounter() if self.tokenizer is None else TokenCounter(self.tokenizer)

    def close(self) -> None:
        if self._local is not None:
            self._local.close()

    def _start(self, name: str, pad_id: int, ends: frozenset[int]) -> "BackgroundModel":
        from judge_r1.models.engine import BackgroundModel, LocalModel
        from judge_r1.models.hub import load_model

        assert self.tokenizer is not None
        decode = self.tokenizer.decode
        return BackgroundModel(
            LocalModel(load_model(name), decode, ends, pad_id=pad_id, max_rows=self._concurrency, persistent=True)
        )
