"""What one episode may use: searches, tokens and passages."""

from pydantic import BaseModel, ConfigDict, Field

from judge_r1.core.errors import JudgeError


class Budget(BaseModel):
    """What an episode may spend; recipe fields. Defaults are the paper's (section 4.1 and its public scripts)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_searches: int = Field(3, ge=0)
    top_k: int = Field(3, ge=1)
    passage_words: int = Field(100, ge=1)
    response_tokens: int = Field(1000, ge=1)
    """Sampled tokens in one turn."""
    observation_tokens: int = Field(1000, ge=16)
    """Tokens of one observation; whole passages are left out beyond it."""

    @property
    def episode_tokens(self) -> int:
        """Every turn and every observation full."""
        return (self.max_searches + 1) * self.response_tokens + self.max_searches * self.observation_tokens


class BudgetTooSmall(JudgeError):
    """A budget under which an observation could not even say that nothing fits."""
