"""Episode configuration: the `episode` section of a recipe."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.episode.tools.base import TOOLS, ToolBudget
from judge_r1.files.yaml_config import ConfigModel, read, validated

AUTO = "auto"
"""The device that takes a GPU if there is one."""
MAX_SEARCHES, MAX_TOKENS = 10_000, 100_000_000
"""Larger numbers are typing errors."""


class Budget(BaseModel):
    """Limits of one episode. The defaults are the paper's (section 4.1 and its published scripts)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    max_searches: int = Field(3, ge=0, le=MAX_SEARCHES)
    query_words: int | None = Field(None, ge=1, le=MAX_TOKENS)
    """The longest query, in words as BM25 counts them. A longer one costs a search, and the judge reads a notice."""
    top_k: int = Field(3, ge=1, le=MAX_SEARCHES)
    passage_words: int = Field(100, ge=1, le=MAX_TOKENS)
    response_tokens: int = Field(1000, ge=1, le=MAX_TOKENS)
    """Sampled tokens in one turn."""
    observation_tokens: int = Field(1000, ge=16, le=MAX_TOKENS)
    """Tokens of one observation. Passages that do not fit are left out as a whole."""
    no_action: Literal["end", "notice"] = "end"
    """A turn without a search or an answer ends the episode. With `notice` it costs a search, and the judge reads a
    notice and continues, as in the paper's code; with no search left it ends the episode."""

    @property
    def tool_budgets(self) -> Mapping[str, ToolBudget]:
        """The limits of each tool."""
        return {}

    @property
    def turns(self) -> int:
        """Turns of an episode that uses all searches and calls."""
        return self.max_searches + sum(tool.max_calls for tool in self.tool_budgets.values()) + 1

    @property
    def episode_tokens(self) -> int:
        """Tokens of an episode whose turns and observations are all full."""
        results = sum(tool.max_calls * tool.output_tokens for tool in self.tool_budgets.values())
        return self.turns * self.response_tokens + self.max_searches * self.observation_tokens + results


class BudgetWithTools(Budget):
    """The budget of an episode with tools (`EpisodeConfig.effective_budget`)."""

    tools: dict[str, ToolBudget]

    @property
    def tool_budgets(self) -> Mapping[str, ToolBudget]:
        return self.tools


class BudgetTooSmall(JudgeError):
    """The budget has no space for the shortest observation, the notice that no passage fits."""


class EpisodeConfig(ConfigModel):
    """The context a judge sees, its prompt, its search and its budget."""

    context: Literal["full", "none"] = "full"
    search: bool = True
    prompt: str = "standard"
    retriever: str = "intfloat/e5-base-v2"
    """`bm25`, an embedder, or the address of a retrieval server (`http://HOST:8400`), which has its own embedder."""
    retriever_device: str | None = Field(None, pattern=r"^(auto|cpu|mps|cuda(:\d{1,3})?)$")
    """Where queries are embedded. By default the processor under verl, whose GPUs train and sample, else `auto`."""
    thinking: bool = False
    prompt_tokens: int = Field(12_500, ge=1, le=MAX_TOKENS)
    """The longest prompt. A longer one raises an error; prompts are never truncated."""
    budget: Budget = Budget()
    tools: dict[str, ToolBudget] = Field(default_factory=dict)
    """Tools that the judge may call, with their limits, such as `{calc: {max_calls: 3}}`. `calc+open` stands for the
    defaults."""

    @field_validator("tools", mode="before")
    @classmethod
    def _known_tools(cls, tools: Any) -> Any:
        if isinstance(tools, str):
            names = tools.split("+")
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise ValueError(f"the tool {twice} is there twice: name it once")
            tools = dict.fromkeys(names)
        if not isinstance(tools, dict):
            return tools
        if unknown := next((name for name in tools if name not in TOOLS), None):
            raise ValueError(f"no tool is named {unknown!r}{suggest(str(unknown), TOOLS.names())}")
        defaults = {name: {"max_calls": TOOLS.get(name).max_calls} for name in tools}
        return {
            name: defaults[name] | (given or {}) if given is None or isinstance(given, dict) else given
            for name, given in tools.items()
        }

    @model_validator(mode="after")
    def _prompt_describes_tools(self) -> "EpisodeConfig":
        from judge_r1.episode.prompts import describes_search

        if self.tools and not describes_search(self.prompt):
            raise ValueError(f"prompt {self.prompt} asks for one answer and describes no tools: remove tools")
        return self

    @model_serializer(mode="wrap")
    def _leave_out_no_tools(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # So that results and runs of before tools have the same settings.
        data: dict[str, Any] = handler(self)
        if not self.tools:
            data.pop("tools", None)
        return data

    @field_validator("prompt")
    @classmethod
    def _known_prompt(cls, prompt: str) -> str:
        from judge_r1.episode.prompts import file_template, is_file, pairwise_styles

        if is_file(prompt):
            try:
                file_template(prompt)
            except JudgeError as error:
                raise ValueError(str(error)) from None
            return prompt
        if prompt not in pairwise_styles():
            raise ValueError(f"no prompt is named {prompt!r}{suggest(prompt, pairwise_styles())}")
        return prompt

    @property
    def effective_budget(self) -> Budget:
        """The budget, without searches if search is off, and with the tools."""
        budget = self.budget if self.search else self.budget.model_copy(update={"max_searches": 0})
        return BudgetWithTools(**budget.model_dump(), tools=self.tools) if self.tools else budget


Stage = Literal["sft", "dpo", "grpo"]


class TrainedOn(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    train: Path


class RecipeHead(BaseModel):
    """What the readers of a run need of its recipe. `judge_r1.training.recipe.Recipe`, which extends it, has all of
    it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    stage: Stage
    start: "RecipeHead | None" = None
    model: str = Field(min_length=1, description="folder, hub name or bundled:NAME; with `start`, its trained model")
    data: TrainedOn
    episode: EpisodeConfig = EpisodeConfig()


def is_server(name: str) -> bool:
    """Whether the name of a retriever is the address of a server."""
    return name.startswith(("http://", "https://"))


def with_options(config: EpisodeConfig, options: Sequence[str]) -> EpisodeConfig:
    """Returns `config` with `key=value` options applied."""
    return validated(EpisodeConfig, config.model_dump(), options, "episode options")


def recipe_episode(path: Path) -> EpisodeConfig:
    """Returns the `episode` section of a recipe file and of the files it extends. Raises: ConfigError."""
    return validated(EpisodeConfig, read(path, files=("start",)).get("episode") or {}, (), f"{path}, section episode")
