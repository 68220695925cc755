"""The options of a LongJudgeBench evaluation, such as `--subset surge,dimensions=content,search=true`."""

from typing import Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from judge_r1.benchmarks.base import subset_options
from judge_r1.core.registry import suggest
from judge_r1.files.yaml_config import ConfigModel
from judge_r1.judges.request import TokenLimits

Setting = Literal["vanilla", "rubric", "reference", "rubric_reference"]
Dimension = Literal["structure", "content"]
SETS = ("deepresearch_bench", "realdr", "surge", "wp_bench", "verify_bench_hard", "ma")
SETTINGS: tuple[Setting, ...] = get_args(Setting)
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
_WITHOUT_TASK = ("realdr", "surge", "ma")
"""The sets whose prompts leave the task out."""
LIMITS = TokenLimits(prompt_tokens=131_072, response_tokens=24_576)
"""The limits of the paper's runs, from the release's configuration."""
ALL = "all"


class SubsetOptions(ConfigModel):
    """Which data sets are judged, and how."""

    parts: tuple[str, ...] = Field((ALL,), description=f"{ALL}, or one of {', '.join(SETS)}")
    setting: Setting = Field("vanilla", description="what the prompt shows beside the text")
    dimensions: tuple[Dimension, ...] = Field(DIMENSIONS, description="of surge: one of them, or both")
    search: bool = Field(
        False, description="texts go into the case to be searched, and candidates are compared in pairs"
    )
    paper: bool = Field(False, description="prompts, gold and order as released, including their errors")
    topic: bool = Field(False, description="adds the task to prompts that leave it out")
    tables: bool = Field(False, description="of realdr: documents with their tables, which the release drops")
    stripped: bool = Field(False, description="of ma: reports without the header that names their system")
    tokens: str | None = Field(
        None, description="a tokenizer, such as tiktoken:cl100k_base: adds accuracy in the paper's bins of length"
    )
    key_insights: bool = Field(
        False, description="of ma: the reference is the list of key insights that its annotators saw"
    )

    @field_validator("parts")
    @classmethod
    def _known(cls, parts: tuple[str, ...]) -> tuple[str, ...]:
        for name in parts:
            if name not in (ALL, *SETS):
                raise ValueError(f"longjudgebench has no set {name!r}{suggest(name, (ALL, *SETS))}")
        if len(parts) > 1:
            raise ValueError(f"name one set, or {ALL}, not {', '.join(parts)}")
        return parts

    @field_validator("dimensions", mode="before")
    @classmethod
    def _split(cls, dimensions: Any) -> Any:
        return tuple(dimensions.split("/")) if isinstance(dimensions, str) else dimensions

    @model_validator(mode="after")
    def _consistent(self) -> "SubsetOptions":
        if self.dimensions != DIMENSIONS and self.sets != ("surge",):
            raise ValueError("only surge has dimensions")
        if self.sets == ("wp_bench",) and self.reference:
            raise ValueError("wp_bench has no references; it has vanilla and rubric")
        if self.search and self.rubric:
            raise ValueError("search does not support rubrics: use setting vanilla or reference")
        if self.search and self.paper:
            raise ValueError("the paper has no search: use either search or paper")
        if self.key_insights and (self.sets != ("ma",) or not self.reference):
            raise ValueError("key_insights is a reference of ma: use it as ma,setting=reference,key_insights=true")
        of_sets = {"topic": _WITHOUT_TASK, "tables": ("realdr",), "stripped": ("ma",)}
        for flag, sets in of_sets.items():
            if getattr(self, flag) and not set(sets) & set(self.sets):
                raise ValueError(f"{flag} has no effect on {', '.join(self.sets)}: it is for {', '.join(sets)}")
        if self.topic and self.search:
            raise ValueError("topic has no effect on search, whose question has the task: leave it out")
        if self.key_insights and self.paper:
            raise ValueError("the paper's reference is the conclusion: use either key_insights or paper")
        return self

    @property
    def sets(self) -> tuple[str, ...]:
        return SETS if self.parts == (ALL,) else self.parts

    @property
    def rubric(self) -> bool:
        return "rubric" in self.setting

    @property
    def reference(self) -> bool:
        return "reference" in self.setting

    @property
    def limits(self) -> TokenLimits:
        """The token limits of a judge. A judge with search does not see the texts and keeps its own."""
        return TokenLimits() if self.search else LIMITS

    @property
    def mode(self) -> str:
        """The setting as the release's prompt files name it."""
        return "vanilla" if self.setting == "vanilla" else f"vanilla_{self.setting}"


def parse_subset(subset: str | None) -> SubsetOptions:
    """The options of a subset text; all sets without one. Raises: ConfigError."""
    return subset_options(SubsetOptions, subset, f"subset {subset!r}")
