"""The options of a HelloBench evaluation: the text of `--subset`, parts separated by commas.

A part is a task (`chat`) or a category (`book`), which judges these only, or an option `NAME=VALUE`.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from pydantic import Field, model_validator

from judge_r1.benchmarks.base import BadBenchmark, subset_options
from judge_r1.files.yaml_config import ConfigModel

Experiment = Literal["main_exp", "longcontext_exp", "length_constrained_exp"]
EXPERIMENTS: tuple[Experiment, ...] = get_args(Experiment)


class HelloBenchOptions(ConfigModel):
    """What is judged and how it is scored."""

    parts: tuple[str, ...] = Field((), description="tasks and categories; empty for all")
    responses: Path | None = Field(
        None, description="a folder: the responses to judge, of one system or, in subfolders, of several"
    )
    exp: Experiment | None = Field(
        None, description="the release's experiment, without `responses`; the first one by default"
    )
    system: str | None = Field(None, description="this system only")
    weights: str | None = Field(
        None, description="a file, or `average` for equal weights; the release's if the checkout has them"
    )
    human: Path | None = Field(None, description="human annotations, for the correlation with the overall score")
    gold: Path | None = Field(
        None, description="judgements in the release's format, or an evaluation, to compare the item scores with"
    )
    references: Path | None = Field(
        None, description="JSON Lines of `id` and `reference`, for BLEU, ROUGE-L and METEOR"
    )
    perplexity: str | None = Field(
        None, description="a causal language model, for the perplexity of the texts (the paper's is gpt2-large)"
    )
    refusals: Path | None = Field(None, description="the first words of a refusal, one phrase on each line")
    against: str | None = Field(None, description="the system that others are compared with, for their win rates")
    legacy_join: bool = Field(False, description="show responses to the judge as the release did, without their layout")

    @model_validator(mode="after")
    def _one_source(self) -> "HelloBenchOptions":
        if self.exp and self.responses:
            raise ValueError("exp chooses among the released results; with responses it has no meaning")
        return self


def parse_options(text: str | None, unused: Mapping[str, str] = MappingProxyType({})) -> HelloBenchOptions:
    """The options of the text. `unused` says why some have no effect. Raises: BadBenchmark for one of them, and
    ConfigError."""
    options = subset_options(HelloBenchOptions, text, "hellobench")
    if given := options.model_fields_set & unused.keys():
        raise BadBenchmark(f"hellobench: {min(given)} {unused[min(given)]}: leave it out")
    return options


def generation_options(text: str | None) -> HelloBenchOptions:
    """The options that choose instructions. Raises: BadBenchmark for an option that is for the responses."""
    others = HelloBenchOptions.model_fields.keys() - {"exp", "parts"}
    return parse_options(text, dict.fromkeys(others, "is for `judge-r1 eval`"))
