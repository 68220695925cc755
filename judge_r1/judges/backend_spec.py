"""The judge of a SPEC by where its model is (`judge_r1.models.open_model`), and the options of its SPEC.

Endpoints have options of their own beside the episode's: `timeout` (seconds for one request), `logprobs=true` (chat:
request for them, so that answers have a confidence), `token_field` (chat: the field with the limit of tokens) and
`tokenizer` (vllm: whose it is; MODEL's where it is left out).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from judge_r1.core.registry import nearest
from judge_r1.episode.config import EpisodeConfig
from judge_r1.judges.base import SLOW_ENDPOINT, BadJudge, Judge, JudgeBuild
from judge_r1.judges.runners import ChatJudge, TokenJudge
from judge_r1.models.anthropic import PREFIX as ANTHROPIC
from judge_r1.models.open_model import TOKEN_FIELDS, is_chat, is_local, open_model, own_server

ENDPOINT_OPTIONS = ("timeout", "tokenizer", "logprobs", "token_field")
GENERATION_S = 600.0
"""Deadline of one turn of a local model in a server, the wait for a row of the batch included."""


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
    if is_local(build.backend):
        return local(build, configure(build), kind=kind, prompted=prompted)
    chat = is_chat(build.backend)
    # Options of the other kinds of endpoint stay in the build, where the episode's configuration rejects them by name.
    ours = () if build.backend.startswith(ANTHROPIC) else ("logprobs", "token_field") if chat else ("tokenizer",)
    build, own = split_options(build, ("timeout", *ours))
    timeout = own.pop("timeout", "180")
    if not timeout.isdecimal() or not int(timeout):
        raise BadJudge(f"judge {kind}: timeout is a number of seconds from 1 on, not {timeout!r}")
    if (logprobs := own.pop("logprobs", "false")) not in ("true", "false"):
        raise BadJudge(f"judge {kind}: logprobs is true or false, not {logprobs!r}")
    if own.get("token_field") not in (None, *TOKEN_FIELDS):
        raise BadJudge(f"judge {kind}: token_field is {' or '.join(TOKEN_FIELDS)}, not {own['token_field']!r}")
    config = configure(build)
    tokenizer, field = own.get("tokenizer"), own.get("token_field")
    model = open_model(
        build.backend, kind, concurrency=build.batch_size, timeout_s=int(timeout), tokenizer=tokenizer,
        token_field=field, advice=SLOW_ENDPOINT,
    )  # fmt: skip
    if chat:
        asked = logprobs == "true"
        return ChatJudge(f"{kind}@{model.name}", model, build, config, prompted=prompted, logprobs=asked)
    tokenizer = tokenizer or own_server(model.name) or model.name.partition("#")[2]
    return TokenJudge(build, config, model, kind=kind, prompted=prompted, backend="token ids", tokenizer=tokenizer)


def continuous_judge(build: JudgeBuild, config: EpisodeConfig, *, kind: str, prompted: bool) -> Judge:
    """A judge on a local model with continuous batching, for requests that arrive one by one."""
    model = open_model(build.backend, concurrency=build.batch_size, deadline_s=GENERATION_S)
    return TokenJudge(build, config, model, kind=kind, prompted=prompted)


def with_defaults(build: JudgeBuild, *usual: str) -> JudgeBuild:
    """The build with the options `usual` where it does not set them."""
    named = {option.partition("=")[0] for option in build.options}
    return replace(build, options=[*(text for text in usual if text.partition("=")[0] not in named), *build.options])


def split_options(build: JudgeBuild, names: tuple[str, ...]) -> tuple[JudgeBuild, dict[str, str]]:
    """The build without the options `names`, and those. Raises: BadJudge for an option that resembles one of them."""
    given = [option.partition("=") for option in build.options]
    known = {*names, *ENDPOINT_OPTIONS, *EpisodeConfig.model_fields}
    for name, _, _ in given:
        if name.partition(".")[0] not in known and (near := nearest(name, known)) in names:
            raise BadJudge(f"a judge has no option {name}; did you mean {near!r}?")
    own = {name: value for name, _, value in given if name in names}
    return replace(build, options=[name + mark + value for name, mark, value in given if name not in names]), own
