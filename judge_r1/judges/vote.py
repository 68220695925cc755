"""A panel as one judge, with another rule than the majority.

`vote:weights=2/1(A|B)` gives the members weights. `vote:rule=all(A|B)` prefers a candidate if every vote does, `any` if
one vote does and none prefers the other one, else both tie. `min` compares the lowest score of each candidate: for
judges whose scores have one scale.
"""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from judge_r1.core.spec import split_members
from judge_r1.files.yaml_config import ConfigModel, read_options
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind
from judge_r1.judges.panel import served_judge
from judge_r1.judges.panel_judge import PanelJudge


class VoteOptions(ConfigModel):
    rule: Literal["all", "any", "min"] | None = None
    weights: Annotated[
        tuple[Annotated[float, Field(gt=0)], ...] | None, BeforeValidator(lambda text: str(text).split("/"))
    ] = None
    orders: int | None = Field(None, ge=1, le=2)
    samples: int = Field(1, ge=1)


def _make(build: JudgeBuild) -> Judge:
    own, members = read_options(VoteOptions, build.options, "judge vote"), split_members(build.backend)
    if (own.rule is None) == (own.weights is None):
        raise BadJudge(
            "a vote has a rule or weights, as in vote:rule=all(SPEC|SPEC) or vote:weights=2/1(SPEC|SPEC); "
            "panel(SPEC|SPEC) is the majority"
        )
    if own.weights and len(own.weights) != len(members):
        raise BadJudge(f"vote: weights are {len(members)} numbers above 0, one for each judge, as in 2/1")
    inner = replace(build, backend="", options=())
    judges = [served_judge(member, inner) for member in members]
    return PanelJudge(
        f"vote({'|'.join(members)})", judges, orders=own.orders, samples=own.samples, at_a_time=build.batch_size,
        rule=own.rule or "majority", weights=own.weights or [1.0] * len(members),
    )  # fmt: skip


JUDGES.register("vote")(
    JudgeKind(
        "several judges as one: votes with weights=2/1, or rule=all, any or min",
        _make,
        served=_make,
        of_judge=True,
        several=True,
    )
)
