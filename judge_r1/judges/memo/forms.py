"""The family of prompts that rate a text: what each form asks for."""

from typing import Literal

from judge_r1.core.yaml_config import ConfigModel


class PromptForm(ConfigModel):
    """One form of the prompt.

    `problems` are explained in prose or listed as tagged bullets. `criteria`: none, one sentence, one sentence with
    details, or the model writes its own first. `anchors` describes every score, `steps` numbers the procedure and fixes
    the layout of the answer, `brief` asks for the most serious problems only, `half_points` allows 3.5, and
    `one_metric` asks for one metric per call.
    """

    problems: Literal["explained", "tagged"] = "tagged"
    criteria: Literal["none", "definition", "details", "own"] = "details"
    anchors: bool = True
    steps: bool = True
    brief: bool = True
    half_points: bool = True
    one_metric: bool = False


_START = PromptForm(
    problems="explained", criteria="none", anchors=False, steps=False, brief=False, half_points=False
)  # fmt: skip
_V5 = _START.model_copy(update={"steps": True, "criteria": "definition"})
_V5_4 = _V5.model_copy(update={"problems": "tagged", "anchors": True})
_V5_7 = _V5_4.model_copy(update={"brief": True, "half_points": True})
FORMS: dict[str, PromptForm] = {
    "v1": _START,
    "v2": _START.model_copy(update={"problems": "tagged", "criteria": "details"}),
    "v4-2": _START.model_copy(update={"criteria": "own"}),
    "v5-1": _V5,
    "v5-2": _V5.model_copy(update={"problems": "tagged"}),
    "v5-4": _V5_4,
    "v5-6": _V5_4.model_copy(update={"brief": True}),
    "v5-7": _V5_7,
    "v5-8": _V5_7.model_copy(update={"one_metric": True}),
    "v6-1": _V5_7,
    "v6-2": _V5_7.model_copy(update={"one_metric": True}),
    "v6-3": PromptForm(),
    "v6-4": PromptForm(one_metric=True),
}
"""The structure of the thesis' prompts, by their names there; the wording is this project's. The thesis describes no
difference of structure for v3, v4-1, v5-3 and v5-5, which are left out."""
