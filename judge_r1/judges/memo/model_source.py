"""The model of a judge of long documents, and how its texts are counted."""

from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.memo.config import MemoConfig
from judge_r1.judges.memo.prompts import summary_prompt
from judge_r1.judges.memo.scanner import WordCounter
from judge_r1.judges.memo.text_model import TextModel
from judge_r1.models.anthropic import PREFIX as ANTHROPIC
from judge_r1.models.open_model import OpenedModel, is_local, open_model
from judge_r1.models.shared_time import SharedTime, TimeSharingModel


class TokenCounter(WordCounter):
    """Counts and cuts by the tokens of a tokenizer, without special tokens."""

    unit = "tokens"

    def __init__(self, tokenizer: SafeTokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode_untrusted(text))

    def tail(self, text: str, tokens: int) -> str:
        return self._tokenizer.decode(self._tokenizer.encode_untrusted(text)[-tokens:]) if tokens else ""


def open_text_model(build: JudgeBuild, config: MemoConfig, kind: str) -> tuple[OpenedModel, TextModel, WordCounter]:
    """The model of the judge `kind`, as it is opened, as it is asked, and the counter of its texts.

    Raises: BadJudge for an option that the model does not have, and as `open_model`.
    """
    local = is_local(build.backend)
    if local and (given := sorted({"tokenizer", "timeout"} & config.model_fields_set)):
        raise BadJudge(f"{given[0]} is for endpoints, and {build.backend} is a local model: leave it out")
    if config.constrain and not local:
        raise BadJudge(f"constrain=true needs a local model, whose tokens can be restricted: {build.backend} is none")
    model = open_model(
        build.backend, kind, concurrency=build.batch_size, timeout_s=config.timeout, tokenizer=config.tokenizer,
        token_field=config.token_field,
    )  # fmt: skip
    tokenizer = SafeTokenizer(model.tokenizer) if model.tokenizer else None
    switched = _can_think(tokenizer) if model.takes_ids and tokenizer else not build.backend.startswith(ANTHROPIC)
    if config.thinking is not None and not switched:
        raise BadJudge(f"the chat template of {model.name} has no switch for thinking: leave out thinking")
    asked = TextModel(
        TimeSharingModel(model.model, SharedTime()), tokenizer if model.takes_ids else None, model.eos_ids,
        model.context_length, temperature=build.sampling.temperature, seed=build.sampling.seed, retries=config.retries,
        thinking=config.thinking, switch=config.switch,
    )  # fmt: skip
    return model, asked, TokenCounter(tokenizer) if tokenizer else WordCounter()


def _can_think(tokenizer: SafeTokenizer) -> bool:
    """Whether the chat template has a switch for thinking."""
    prompt = summary_prompt("text", whole=False)
    return tokenizer.rendered(prompt, thinking=True) != tokenizer.rendered(prompt, thinking=False)
