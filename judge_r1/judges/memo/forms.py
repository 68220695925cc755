"""The family of prompts that rate a text: what each form asks for."""

from typing import Literal

from judge_r1.core.yaml_config import ConfigModel


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
