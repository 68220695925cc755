"""Where a judge's model is, by the backend of its SPEC: a local one, `URL#MODEL` of a chat endpoint, or
`vllm:URL#MODEL` of a server that takes and returns token ids.

Endpoints have options of their own beside the episode's: `timeout` (seconds for one request), `logprobs=true` (chat:
request for them, so that answers have a confidence), `token_field` (chat: the field with the limit of tokens) and
`tokenizer` (vllm: whose it is; MODEL's where it is left out).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from judge_r1.core.endpoint import address_and_model
from judge_r1.episode.config import EpisodeConfig
from judge_r1.judges.base import BadJudge, Judge, JudgeBuild
from judge_r1.models.endpoint import TOKEN_FIELDS, OpenAIEndpoint

KEY = "JUDGE_R1_JUDGE_KEY"
"""The environment variable with the key of a judge's endpoint."""
ENDPOINT_OPTIONS = ("timeout", "tokenizer", "logprobs", "token_field")
_VLLM = "vllm:"
_WEB = ("http:", "https:")


class LocalJudgeFactory(Protocol):
    """Makes the judge of a model that is loaded here."""

    def __call__(self, build: JudgeBuild, config: EpisodeConfig, *, kind: str, prompted: bool) -> Judge: ...


def judge_of_backend(
    build: JudgeBuild,
    kind: str,
    configure: Callable[[JudgeBuild], EpisodeConfig],
    local: LocalJudgeFactory,
    *,
    prompted: bool,
) -> Judge:
    """The judge `kind` where its backend is; `prompted` as for `EpisodeFactory`. Raises: BadJudge, EndpointError."""
    tokens = build.backend.startswith(_VLLM)
    address = build.backend.removeprefix(_VLLM)
    if is_local(build.backend):
        return local(build, configure(build), kind=kind, prompted=prompted)
    url, model = address_and_model(address, f"the SPEC of judge {kind}")
    # Options of the other kind of endpoint stay in the build, where the episode's configuration rejects them by name.
    build, own = split_options(build, ("timeout", "tokenizer") if tokens else ("timeout", "logprobs", "token_field"))
    timeout = own.get("timeout", "180")
    if not timeout.isdecimal() or not int(timeout):
        raise BadJudge(f"judge {kind}: timeout is a number of seconds from 1 on, not {timeout!r}")
    if own.get("logprobs") not in (None, "true", "false"):
        raise BadJudge(f"judge {kind}: logprobs is true or false, not {own['logprobs']!r}")
    if own.get("token_field") not in (None, *TOKEN_FIELDS):
        raise BadJudge(f"judge {kind}: token_field is {' or '.join(TOKEN_FIELDS)}, not {own['token_field']!r}")
    config = configure(build)
    if tokens:
        from judge_r1.judges.runners.token import vllm_judge

        endpoint = OpenAIEndpoint(url, model, KEY, "completions")
        return vllm_judge(
            build, config, endpoint, kind=kind, prompted=prompted, timeout_s=int(timeout),
            tokenizer=own.get("tokenizer", model),
        )  # fmt: skip
    from judge_r1.judges.runners.chat import chat_judge

    endpoint = OpenAIEndpoint(url, model, KEY, token_field=own.get("token_field"))
    return chat_judge(
        build, config, endpoint, kind=kind, prompted=prompted, timeout_s=int(timeout),
        logprobs=own.get("logprobs") == "true",
    )  # fmt: skip


def continuous_judge(build: JudgeBuild, config: EpisodeConfig, *, kind: str, prompted: bool) -> Judge:
    """A judge on a local model with continuous batching, for requests that arrive one by one."""
    from judge_r1.judges.runners.continuous import EngineJudge

    return EngineJudge(build, config, kind=kind, prompted=prompted)


def is_local(backend: str) -> bool:
    """Is the backend of a SPEC a model that is loaded here?"""
    return not backend.startswith((_VLLM, *_WEB))


def is_chat(backend: str) -> bool:
    """Is the backend of a SPEC a chat endpoint?"""
    return backend.startswith(_WEB)


def with_defaults(build: JudgeBuild, *usual: str) -> JudgeBuild:
    """The build with the options `usual` where it does not set them."""
    named = {option.partition("=")[0] for option in build.options}
    return replace(build, options=[*(text for text in usual if text.partition("=")[0] not in named), *build.options])


def split_options(build: JudgeBuild, names: tuple[str, ...]) -> tuple[JudgeBuild, dict[str, str]]:
    """The build without the options `names`, and those."""
    given = [option.partition("=") for option in build.options]
    own = {name: value for name, _, value in given if name in names}
    return replace(build, options=[name + mark + value for name, mark, value in given if name not in names]), own
