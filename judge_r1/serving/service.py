"""A SPEC made into what the app serves."""

from dataclasses import replace
from pathlib import Path

from judge_r1.backends import Sampling
from judge_r1.judges import Judge, Making
from judge_r1.judges.agentic import episode_config
from judge_r1.judges.direct import direct_config
from judge_r1.judges.places import is_local
from judge_r1.judges.spec import make_judge, parts
from judge_r1.serving.app import Service
from judge_r1.serving.desk import Desk
from judge_r1.shelf import CaseShelf


def open_service(
    spec: str,
    *,
    recipe: Path | None = None,
    running: int = 16,
    waiting: int = 256,
    seconds: float = 300.0,
    sampling: Sampling | None = None,
) -> Service:
    """Load the judge of a SPEC. Errors: JudgeError."""
    shelf = CaseShelf()
    making = Making("", texts=shelf, sampling=sampling or Sampling(), batch_size=running, recipe=recipe)
    judge = served_judge(spec, making)
    return Service(judge, shelf, Desk(judge, running, waiting, seconds))


def served_judge(spec: str, making: Making) -> Judge:
    """A judge that may be asked by many at once: a local model plays all games in one batch."""
    _, kind, options, backend = parts(spec)
    if kind not in ("agentic", "direct") or not is_local(backend):
        return make_judge(spec, making)
    from judge_r1.judges.served.engine import EngineJudge

    making = replace(making, backend=backend, options=options)
    config = direct_config(making) if kind == "direct" else episode_config(making)
    return EngineJudge(making, config, kind=kind, prompted=kind == "direct")
