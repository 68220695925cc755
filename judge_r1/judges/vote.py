"""A panel as one judge, with another rule than the majority.

`vote:weights=2/1(A|B)` gives the members weights. `vote:rule=all(A|B)` prefers a candidate if every vote does, `any` if
one vote does and none prefers the other one, else both tie. `min` compares the lowest score of each candidate: for
judges whose scores have one scale.
"""

from dataclasses import replace
from typing import cast, get_args

from judge_r1.core.spec import split_members
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, whole_number
from judge_r1.judges.panel import served_judge
from judge_r1.judges.panel_judge import PanelJudge, Rule


def _make(build: JudgeBuild) -> Judge:
    given = dict(option.partition("=")[::2] for option in build.options)
    members = split_members(build.backend)
    rule, weights = given.pop("rule", None), given.pop("weights", None)
    orders, samples = (whole_number("vote", given, name) for name in ("orders", "samples"))
    if given.keys() - {"orders", "samples"} or orders not in (None, 1, 2) or (rule is None) == (weights is None):
        raise BadJudge(
            "a vote has a rule or weights, as in vote:rule=all(SPEC|SPEC) or vote:weights=2/1(SPEC|SPEC), and may have "
            "orders=1|2 and samples=N"
        )
    if rule is not None and rule not in get_args(Rule)[1:]:
        raise BadJudge(f"vote: rule is {', '.join(get_args(Rule)[1:])}, not {rule!r}; panel(SPEC|SPEC) is the majority")
    try:
        each = [float(weight) for weight in weights.split("/")] if weights is not None else [1.0] * len(members)
    except ValueError:
        each = []
    if len(each) != len(members) or not all(0 < weight < float("inf") for weight in each):
        raise BadJudge(
            f"vote: weights are {len(members)} numbers above 0, one for each judge, as in 2/1, not {weights!r}"
        )
    inner = replace(build, backend="", options=())
    judges = [served_judge(member, inner) for member in members]
    return PanelJudge(
        f"vote({'|'.join(members)})", judges, orders=orders, samples=samples or 1, at_a_time=build.batch_size,
        rule=cast("Rule", rule or "majority"), weights=each,
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
