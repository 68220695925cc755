"""Episode configuration: the part of a recipe that says how an episode runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from judge_r1.core.yaml_config import ConfigModel, read, validated
from judge_r1.episode.budget import Budget


class EpisodeConfig(ConfigModel):
    """How an episode runs: what the judge sees, what it may search, what it may spend."""

    context: Literal["full", "none"] = "full"
    search: bool = True
    prompt: str = "standard"
    retriever: str = "intfloat/e5-base-v2"
    thinking: bool = False
    prompt_tokens: int = Field(12_500, ge=1)
    """A longer prompt is refused, never cut."""
    budget: Budget = Budget()

    @property
    def effective_budget(self) -> Budget:
        """The budget in force: no searches where search is off."""
        return self.budget if self.search else self.budget.model_copy(update={"max_searches": 0})


def with_options(config: EpisodeConfig, options: Sequence[str]) -> EpisodeConfig:
    """An episode configuration with `key=value` options put over it."""
    return validated(EpisodeConfig, config.model_dump(), options, "episode options")


def recipe_episode(path: Path) -> EpisodeConfig:
    """The `episode` section of a recipe file and of those it extends. Raises: ConfigError."""
    return validated(EpisodeConfig, read(path, files=("start",)).get("episode") or {}, (), f"{path}, section episode")
