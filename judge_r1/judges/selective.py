"""The selective judge abstains below the confidence threshold that `judge-r1 calibrate` has certified.

`selective:calibration=FILE(SPEC)`, FILE being the calibration.json of SPEC made with --alpha. An answer below
the threshold, or without a confidence, becomes invalid with the reason `abstained`; the valid rate is the coverage.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, JudgeOutput, JudgeWrapper, PromptFit
from judge_r1.judges.panel import make_judge, served_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.statistics.selective_risk import Selective

ABSTAINED = "abstained"


class _Certificate(BaseModel):
    """The part of calibration.json that a selective judge needs; other keys are ignored."""

    schema_: Literal[1] = Field(alias="schema")
    selective: Selective | None


class SelectiveJudge(JudgeWrapper):
    """Wraps `judge` with a certified threshold; `selective.guarantee` states the guarantee."""

    def __init__(self, judge: Judge, selective: Selective) -> None:
        rule = {"alpha": selective.alpha, "delta": selective.delta, "threshold": selective.threshold}
        super().__init__(judge, {"selective": rule})
        self._selective = selective
        self.name = f"selective({judge.name})"

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        return self._judge.check(requests)

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        """Passes on all requests unchanged, so that the other judge reads them one by one. The wrapper's own `judge`
        would hold a list of them."""
        async with aclosing(self._judge.judge(requests)) as outputs:  # type: ignore[type-var]
            async for output in outputs:
                yield self.given(output)

    def given(self, output: JudgeOutput) -> JudgeOutput:
        """The text of an answer that is not certain enough stays in the trajectory; its judgment is removed."""
        # A failure stays one: as an abstention it would count, and not be asked again.
        if output.trajectory.infrastructure_failed or self._selective.answers(output.confidence):
            return output
        trajectory = output.trajectory.model_copy(update={"judgment": None, "ended": ABSTAINED})
        return output._replace(trajectory=trajectory, verdict=InvalidVerdict(reason=ABSTAINED))


def _make(build: JudgeBuild, maker: Callable[[str, JudgeBuild], Judge] = make_judge) -> Judge:
    given = dict(option.partition("=")[::2] for option in build.options)
    if set(given) != {"calibration"}:
        raise BadJudge("a selective judge has one option: selective:calibration=FILE(SPEC)")
    path = Path(given["calibration"])
    try:
        found = _Certificate.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadJudge(
            f"{path} cannot be read ({error.strerror}): give the calibration.json of judge-r1 calibrate"
        ) from None
    except ValidationError as error:
        raise BadJudge(
            f"{path} is no calibration.json of judge-r1 calibrate (fields that differ: {error.error_count()})"
        ) from None
    if found.selective is None:
        raise BadJudge(f"{path} certifies no threshold: make it with judge-r1 calibrate … --alpha A --delta D")
    return SelectiveJudge(maker(build.backend, replace(build, backend="", options=())), found.selective)


JUDGES.register("selective")(
    JudgeKind(
        "another judge, silent below the confidence that a calibration has certified: calibration=FILE",
        _make,
        served=partial(_make, maker=served_judge),
        of_judge=True,
    )
)
