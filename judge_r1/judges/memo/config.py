"""The options of the judges of long documents."""

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from judge_r1.core.yaml_config import ConfigModel
from judge_r1.judges.memo.aggregate import FINAL, Aggregate
from judge_r1.judges.memo.forms import FORMS
from judge_r1.judges.memo.metrics import DEFAULT


class MemoConfig(ConfigModel):
    """Every switch of the pipeline. The defaults are the best setting of the released outputs, without the final call
    as the verdict: sections of 2,000 tokens, a tenth of context, the report alone, no summaries, no sentence about
    excerpts."""

    metrics: str = DEFAULT
    """Names joined by `+`, `principles`, or a YAML file."""
    form: str = "v6-3"
    """The prompt form (`judge_r1.judges.memo.forms`)."""
    scan: int = Field(2000, ge=1)
    """Tokens of a section."""
    overlap: float = Field(0.1, ge=0, lt=1)
    """0: hard mode. More: the part of `scan` that a section sees of the one before it, in addition to its own."""
    summaries: bool = False
    """Summarise each section, and show each summary to the next section."""
    report: Literal["report_only", "report_summary", "report_original"] = "report_only"
    """What the final call sees."""
    by_tag: bool = False
    """The report goes by tag instead of by section."""
    context_aware: bool = False
    """Tell the judge of a section that it is an excerpt."""
    aggregate: Aggregate = "char_mean"
    """Which scores are the verdict."""
    final: bool = True
    """Make the final call, also where another aggregation is the verdict."""
    max_tokens: int = Field(1024, ge=1)
    retries: int = Field(2, ge=0, le=10)
    """How often an answer that was cut off is asked for again, each time with twice the tokens."""
    constrain: bool = False
    """Token models: where an answer has no score, continue it and sample one of the allowed scores."""
    thinking: bool | None = None
    """The thinking switch of the model's chat template; None is off, and the server's default for a chat endpoint."""
    switch: str = Field("", max_length=200)
    """A line at the start of each system message, for models that turn thinking on or off by text."""
    memory: Path | None = None
    """A folder that keeps memories, so that other runs and aggregations reuse them."""
    tokenizer: str | None = None
    """The tokenizer that counts tokens for a chat endpoint; words are counted without one."""
    token_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    """Chat endpoints: the field with the limit of tokens; None for that of the host."""
    timeout: int = Field(180, ge=1)
    """Seconds for one request to an endpoint."""

    @field_validator("form")
    @classmethod
    def _known_form(cls, form: str) -> str:
        if form not in FORMS:
            raise ValueError(f"no prompt form is named {form!r}; available: {', '.join(FORMS)}")
        return form

    @model_validator(mode="after")
    def _final_call(self) -> "MemoConfig":
        if self.aggregate == FINAL and not self.final:
            raise ValueError(f"aggregate={FINAL} needs the final call: leave out final=false")
        if not self.final and (self.by_tag or self.report != "report_only"):
            raise ValueError("by_tag and report are for the final call: leave them out, or final=false")
        return self
