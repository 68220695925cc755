"""Where a judge's model is, by the backend of its SPEC: a local one, `URL#MODEL` of a chat endpoint, or
`vllm:URL#MODEL` of a server that takes and returns token ids.

Endpoints have options of their own beside the episode's: `timeout` (seconds for one request), `logprobs=true` (chat:
ask for them, so that answers have a confidence) and `tokenizer` (vllm: whose it is; MODEL's where it is left out).
"""

from collections.abc import Callable
from dataclasses import replace

from judge_r1.backends.endpoints import OpenAIEndpoint, address_and_model
from judge_r1.config import EpisodeConfig
from judge_r1.judges import BadJudge, Judge, Making

KEY = "JUDGE_R1_JUDGE_KEY"
"""The environment variable with the key of a judge's endpoint."""
_VLLM = "vllm:"
_WEB = ("http:", "https:")


def judge_at(
    making: Making,
    kind: str,
    configure: Callable[[Making], EpisodeConfig],
    local: Callable[[Making, EpisodeConfig], Judge],
) -> Judge:
    """The judge `kind` where its backend is. Errors: BadJudge, EndpointError."""
    tokens = making.backend.startswith(_VLLM)
    address = making.backend.removeprefix(_VLLM)
    if not tokens and not address.startswith(_WEB):
        return local(making, configure(making))
    url, model = address_and_model(address, f"the SPEC of judge {kind}")
    making, own = _own_options(making, ("timeout", "tokenizer") if tokens else ("timeout", "logprobs"))
    timeout = own.get("timeout", "180")
    if not timeout.isdecimal() or not int(timeout):
        raise BadJudge(f"judge {kind}: timeout is a number of seconds from 1 on, not {timeout!r}")
    if own.get("logprobs") not in (None, "true", "false"):
        raise BadJudge(f"judge {kind}: logprobs is true or false, not {own['logprobs']!r}")
    config, prompted = configure(making), kind == "direct"
    if tokens:
        from judge_r1.judges.served.tokens import TokenJudge

        endpoint = OpenAIEndpoint(url, model, KEY, "completions")
        return TokenJudge(
            making, config, endpoint, kind=kind, prompted=prompted, timeout_s=int(timeout),
            tokenizer=own.get("tokenizer", model),
        )  # fmt: skip
    from judge_r1.judges.served.chat import ChatJudge

    endpoint = OpenAIEndpoint(url, model, KEY)
    return ChatJudge(
        making, config, endpoint, kind=kind, prompted=prompted, timeout_s=int(timeout),
        logprobs=own.get("logprobs") == "true",
    )  # fmt: skip


def _own_options(making: Making, names: tuple[str, ...]) -> tuple[Making, dict[str, str]]:
    """The making without the endpoint's own options, and those."""
    given = [option.partition("=") for option in making.options]
    own = {name: value for name, _, value in given if name in names}
    return replace(making, options=[name + mark + value for name, mark, value in given if name not in names]), own
