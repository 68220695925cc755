"""Opens the model of a SPEC, for judges, teachers and rollouts alike: `open_model("https://host/v1#model")`.

The backend, which stands behind the `@` of a SPEC, is one of
* a folder, a hub name or `bundled:NAME`: a model that is loaded here
* `URL#MODEL`: a chat endpoint
* `vllm:URL#MODEL`: a server that takes and returns token ids
* `vllm:NAME`: such a server of a folder or hub name, which is started here
* `anthropic:MODEL`: Anthropic's API
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from judge_r1.core.endpoint import EndpointError, RetryPolicy, address_and_model, find_key
from judge_r1.models import hub
from judge_r1.models.anthropic import PREFIX, AnthropicEndpoint, MessagesModel
from judge_r1.models.base import GenerateRequest, Generation, Messages
from judge_r1.models.endpoint_model import EndpointModel
from judge_r1.models.openai_chat import ChatModel
from judge_r1.models.openai_completions import CompletionsModel
from judge_r1.models.pretrained import ModelUnavailable
from judge_r1.models.vllm_server import VllmServer

KEY = "JUDGE_R1_JUDGE_KEY"
"""The environment variable with the key of a judge's endpoint."""
_VLLM = "vllm:"
_CHAT = ("http:", "https:", PREFIX)


TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class OpenAIEndpoint:
    """`base` is the address up to and including `/v1`, `path` the route below it. `variable` names the environment
    variable with the key: judges and teachers have different ones. `token_field` is the field with the limit of tokens
    (one of `TOKEN_FIELDS`); None for that of the host."""

    base: str
    model: str
    variable: str
    path: str = "chat/completions"
    token_field: str | None = None

    @property
    def name(self) -> str:
        return f"{self.base}#{self.model}"

    @property
    def url(self) -> str:
        return f"{self.base}/{self.path}"

    @property
    def key_variables(self) -> tuple[str, ...]:
        """`OPENAI_API_KEY` is read for OpenAI's hosts only."""
        return (self.variable, "OPENAI_API_KEY") if self.is_openai else (self.variable,)

    @property
    def needs_key(self) -> bool:
        return self.is_openai

    @property
    def is_openai(self) -> bool:
        """Whether it is a host of OpenAI."""
        host = urlsplit(self.base).hostname or ""
        return host == "openai.com" or host.endswith(".openai.com")

    def headers(self, key: str | None) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def chat(self, messages: Messages, *, max_tokens: int, temperature: float, **more: Any) -> dict[str, Any]:
        """The body of a chat request. OpenAI's reasoning models need `max_completion_tokens` and accept no temperature
        other than 1; other servers know `max_tokens` only, and have other default temperatures. A gateway to OpenAI's
        models needs `token_field`."""
        older, newer = TOKEN_FIELDS
        field = self.token_field or (newer if self.is_openai else older)
        body: dict[str, Any] = {"model": self.model, "messages": list(messages), field: max_tokens}
        if not ((self.is_openai or field == newer) and temperature == 1):
            body["temperature"] = temperature
        return body | more


def is_local(backend: str) -> bool:
    """Is the backend of a SPEC a model that is loaded here?"""
    return not backend.startswith((_VLLM, *_CHAT))


def own_server(backend: str) -> str | None:
    """The name of the model for which the backend of a SPEC starts a server here; None if it starts none."""
    name = backend.removeprefix(_VLLM)
    return None if name == backend or "://" in name or "#" in name else name


def is_chat(backend: str) -> bool:
    """Is the backend of a SPEC an API that takes messages?"""
    return backend.startswith(_CHAT)


Endpoint = OpenAIEndpoint | AnthropicEndpoint


def endpoint_of(backend: str, kind: str, *, key: str = KEY, token_field: str | None = None) -> Endpoint:
    """The endpoint of a backend that is not local, as for `open_model`; `key` is the variable with its key. Raises:
    EndpointError."""
    if backend.startswith(PREFIX):
        return AnthropicEndpoint.of_backend(backend)
    if backend == _VLLM:
        raise EndpointError(f"the SPEC of {kind} names no model: write vllm:NAME or vllm:URL#MODEL")
    url, model = address_and_model(backend.removeprefix(_VLLM), f"the SPEC of {kind}")
    return OpenAIEndpoint(url, model, key, OpenAIEndpoint.path if is_chat(backend) else "completions", token_field)


def client_of(endpoint: Endpoint, key: SecretStr | None, policy: RetryPolicy, **options: Any) -> EndpointModel:
    """The `LanguageModel` at an endpoint. `options` are those of `EndpointModel`."""
    if isinstance(endpoint, AnthropicEndpoint):
        return MessagesModel(endpoint, key, policy, **options)
    return (ChatModel if endpoint.path == OpenAIEndpoint.path else CompletionsModel)(endpoint, key, policy, **options)


@dataclass
class OpenedModel:
    """A `LanguageModel`, with what its callers need to write prompts for it.

    `tokenizer` is that of transformers, or None at a chat endpoint without one. A model that `takes_ids` has one, the
    ids that end its turns, and a `context_length` in tokens (None if it is unknown). `close` it when done.
    """

    name: str
    takes_ids: bool
    _load: Callable[[], Any]
    tokenizer: Any = None
    eos_ids: frozenset[int] = frozenset()
    context_length: int | None = None

    @cached_property
    def model(self) -> Any:
        """The client of an endpoint, or the engine of a local model, whose weights are loaded the first time."""
        return self._load()

    @property
    def identity(self) -> str:
        """The name; that of a local folder with a digest of its files, because two checkpoints in one differ."""
        name = own_server(self.name) or self.name
        is_folder = is_local(name) and not name.startswith(hub.BUNDLED) and Path(name).is_dir()
        return f"{self.name}@{hub.folder_digest(Path(name))}" if is_folder else self.name

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """As `LanguageModel.generate`."""
        generations: list[Generation] = await self.model.generate(requests)
        return generations

    def close(self) -> None:
        """Ends a local model or a server that was started. The connections to an endpoint end with their event loop."""
        if "model" in vars(self) and hasattr(self.model, "close"):
            self.model.close()


def open_model(
    backend: str,
    kind: str = "NAME",
    *,
    concurrency: int,
    timeout_s: int = 180,
    tokenizer: str | None = None,
    token_field: str | None = None,
    advice: str = "raise the timeout, or ask for less at a time",
    background: bool = True,
    **engine: Any,
) -> OpenedModel:
    """The model of a backend, with up to `concurrency` requests at a time. `kind` is the name in its SPEC, for errors.

    `timeout_s` (for one request) and `token_field` (the field with the limit of tokens) are for endpoints. `tokenizer`
    is the name of the tokenizer of an endpoint, by default that of the model for `vllm:`. `advice` ends the message
    about an endpoint that takes too long. A local model runs in a thread, or without `background` in the event loop of
    its callers; `engine` is for `LocalModel` and, as `deadline_s`, for `BackgroundModel`.

    Raises:
        EndpointError: The address is not valid, or a key is needed and none is set.
        ModelUnavailable: There is no such model or tokenizer. Weights are loaded later, by `OpenedModel.model`.
        TypeError: `engine` is given for a server.
    """
    if is_local(backend):
        hf = hub.load_tokenizer(backend)
        ends, length = hub.eos_ids(backend, hf), hub.context_length(backend)

        def load() -> Any:
            return _engine(backend, hf, ends, concurrency, background=background, **engine)

        return OpenedModel(backend, True, load, hf, ends, length)
    if engine:
        raise TypeError(f"{', '.join(engine)}: for a local model, and {backend} is a server")
    policy = RetryPolicy(concurrency, timeout_s, 5 * timeout_s, options=advice)
    if name := own_server(backend):
        hf, folder = hub.load_tokenizer(tokenizer or name), hub.resolve(name)

        def start() -> VllmServer:
            at = partial(OpenAIEndpoint, model=folder, variable=KEY, path="completions")
            return VllmServer(folder, lambda url: CompletionsModel(at(url), None, policy))

        return OpenedModel(backend, True, start, hf, hub.eos_ids(tokenizer or name, hf), hub.context_length(name))
    endpoint = endpoint_of(backend, kind, token_field=token_field)
    client, name = client_of(endpoint, find_key(endpoint), policy), endpoint.name
    if is_chat(backend):
        return OpenedModel(name, False, lambda: client, hub.text_tokenizer(tokenizer) if tokenizer else None)
    known, name = tokenizer or endpoint.model, _VLLM + name
    try:
        hf = hub.text_tokenizer(known)
        return OpenedModel(name, True, lambda: client, hf, hub.eos_ids(known, hf), hub.context_length(known))
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{error}; name it by {kind}:tokenizer=NAME@{name}") from None


def _engine(
    name: str,
    tokenizer: Any,
    eos_ids: frozenset[int],
    max_rows: int,
    *,
    background: bool,
    weights: Any = None,
    persistent: bool = True,
    deadline_s: float | None = None,
    min_shared: int | None = None,
) -> Any:
    from judge_r1.models.base import text_decoder
    from judge_r1.models.engine import BackgroundModel, LocalModel

    model = hub.load_model(name, sampling=True) if weights is None else weights
    decode, pad_id = text_decoder(tokenizer), tokenizer.pad_token_id
    local = LocalModel(
        model, decode, eos_ids, pad_id=pad_id, max_rows=max_rows, persistent=persistent, min_shared=min_shared
    )
    return BackgroundModel(local, deadline_s=deadline_s) if background else local
