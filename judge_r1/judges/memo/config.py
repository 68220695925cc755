"""The options of the judges of long documents, and the family of their prompts that rate a text."""

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from judge_r1.files.yaml_config import ConfigModel
from judge_r1.judges.memo.aggregate import FINAL, Aggregate
from judge_r1.judges.memo.metrics import DEFAULT


class PromptForm(ConfigModel):
    """One form of the prompt.

    `problems` are not asked for, explained in prose, or listed as bullets: plain, with the aspect that they concern, or
    with a tag. `which` of them: all, a summary, or the most serious ones. The memory holds the problems with tags.
    `criteria` define each metric in one sentence or in detail, and with `own_criteria` the model derives finer ones
    first. `anchors` describe every score, behind the definition of each metric or in a block of their own. `layout`
    numbers the procedure and fixes the form of the answer, `half_points` allows 3.5, and `one_metric` asks for one
    metric per call.
    """

    problems: Literal["none", "explained", "listed", "by_aspect", "tagged"] = "tagged"
    which: Literal["all", "summary", "serious"] = "serious"
    criteria: Literal["definition", "details"] = "details"
    own_criteria: bool = False
    anchors: Literal["none", "with_criteria", "apart"] = "with_criteria"
    layout: bool = True
    half_points: bool = True
    one_metric: bool = False


_START = PromptForm(
    problems="explained", which="all", criteria="definition", anchors="none", layout=False, half_points=False
)
_V3 = _START.model_copy(update={"problems": "listed", "criteria": "details"})
_V5 = _START.model_copy(update={"layout": True, "criteria": "details"})
_V5_3 = _V5.model_copy(update={"problems": "tagged"})
_V5_4 = _V5_3.model_copy(update={"anchors": "apart"})
_V5_7 = PromptForm(which="summary", criteria="definition")
_V6_1 = PromptForm(criteria="definition")
FORMS: dict[str, PromptForm] = {
    "v1": _START,
    "v2": _V3.model_copy(update={"problems": "tagged"}),
    "v3": _V3,
    "v4-1": _V3.model_copy(update={"problems": "none", "own_criteria": True}),
    "v4-2": _V3.model_copy(update={"problems": "by_aspect"}),
    "v5-1": _V5,
    "v5-2": _V5.model_copy(update={"problems": "listed"}),
    "v5-3": _V5_3,
    "v5-4": _V5_4,
    "v5-5": _V5_4.model_copy(update={"anchors": "with_criteria"}),
    "v5-6": _V5_4.model_copy(update={"which": "summary"}),
    "v5-7": _V5_7,
    "v5-8": _V5_7.model_copy(update={"one_metric": True}),
    "v6-1": _V6_1,
    "v6-2": _V6_1.model_copy(update={"one_metric": True}),
    "v6-3": PromptForm(),
    "v6-4": PromptForm(one_metric=True),
}
"""The structure of the thesis' prompts, by their names there; the wording is this project's. Problems are asked for
metric by metric in every form, because they are read by the name of the metric."""


class MemoConfig(ConfigModel):
    """Every switch of the pipeline. The defaults are the best setting of the released outputs, without the final call
    as the verdict: sections of 2,000 tokens, a tenth of context, the report alone, no summaries, no sentence about
    excerpts."""

    metrics: str = DEFAULT
    """Names joined by `+`, `principles`, or a YAML file."""
    form: str = "v6-3"
    """The prompt form, one of `FORMS`."""
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
