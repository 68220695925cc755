"""Parses a judge's SPEC, `[ROW=]NAME[:option=value,...][@BACKEND]`, and builds the panel that it describes.

`panel[:orders=2,samples=3,temperature=0.7]@SPEC|SPEC` combines the votes of several judges, orders and samples.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from judge_r1.judges.backend_spec import is_local
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind, whole_number
from judge_r1.judges.panel_judge import PanelJudge
from judge_r1.judges.runners.thread import ThreadJudge
from judge_r1.models.hub import check_hub, check_name

_SPEC = re.compile(r"(?:(?P<row>[\w .+-]+)=)?(?P<name>[a-z][a-z0-9-]*)(?::(?P<options>[^@]*))?(?:@(?P<backend>.+))?")


@dataclass(frozen=True)
class JudgePanel:
    """Judges whose votes are aggregated together. `orders` None: the benchmark's presentation orders."""

    name: str
    members: tuple[Judge, ...]
    orders: int | None = None
    samples: int = 1


@dataclass(frozen=True)
class PanelSpec:
    """A parsed SPEC, before any judge is built: the SPECs of the members, orders, samples and their temperature (None:
    that of the evaluation)."""

    name: str
    members: Sequence[str]
    orders: int | None = None
    samples: int = 1
    temperature: float | None = None


def parse_panel(text: str) -> PanelSpec:
    """Parses and checks a SPEC without loading a model. Raises: BadJudge, UnknownName."""
    name, kind, options, backend = parse_spec(text)
    if kind != "panel":
        _entry(text)
        return PanelSpec(name or text, [text])
    given = dict(option.partition("=")[::2] for option in options)
    if unknown := given.keys() - {"orders", "samples", "temperature"}:
        raise BadJudge(f"judge {text!r}: a panel has no option {min(unknown)!r}; it has orders, samples, temperature")
    orders, samples = whole_number(text, given, "orders"), whole_number(text, given, "samples")
    if orders not in (None, 1, 2):
        raise BadJudge(f"judge {text!r}: orders is 1 or 2, not {orders}")
    if not backend:
        raise BadJudge(f"judge {text!r} has no members: write panel@SPEC, or panel@SPEC|SPEC for several")
    members = backend.split("|")
    for member in members:
        if parse_spec(member)[1] == "panel":
            raise BadJudge(f"judge {text!r}: a panel cannot be a member of a panel: name its judges one by one")
        _entry(member)
    return PanelSpec(name or text, members, orders, samples or 1, _temperature(text, given))


def make_panel(text: str, build: JudgeBuild) -> JudgePanel:
    """Builds the panel of a SPEC. Raises: BadJudge, UnknownName, and what the judge raises."""
    planned = parse_panel(text)
    members = tuple(make_member(planned, index, build) for index in range(len(planned.members)))
    return JudgePanel(planned.name, members, planned.orders, planned.samples)


def make_member(planned: PanelSpec, index: int, build: JudgeBuild) -> Judge:
    """Builds one member of a panel. Raises: BadJudge, UnknownName, and what the judge raises."""
    return make_judge(planned.members[index], _of_panel(planned, build))


def _of_panel(planned: PanelSpec, build: JudgeBuild) -> JudgeBuild:
    if planned.temperature is None:
        return build
    return replace(build, sampling=replace(build.sampling, temperature=planned.temperature))


def check_models(text: str) -> None:
    """Checks that the models of a SPEC that this process would load exist. Raises: as for `make_panel`."""
    for member in parse_panel(text).members:
        entry, build = _chosen(member, JudgeBuild(""))
        if entry.of_judge:
            check_models(build.backend)
        elif entry.needs_backend and is_local(build.backend):
            check_hub(build.backend)


def loads_model(member: str) -> bool:
    """Whether the judge of a SPEC loads a model in its process."""
    _, _, _, backend = parse_spec(member)
    return bool(backend) and is_local(backend)


def make_judge(text: str, build: JudgeBuild) -> Judge:
    """Builds one judge; a row name in the SPEC is ignored. Raises: BadJudge, UnknownName."""
    if parse_spec(text)[1] == "panel":
        return _panel_judge(text, build, make_judge)
    entry, build = _chosen(text, build)
    return entry.make(build)


def served_judge(text: str, build: JudgeBuild) -> Judge:
    """A judge for concurrent callers in one event loop. A local model batches all requests; other local judges run in a
    thread. Raises: as for `make_judge`."""
    if parse_spec(text)[1] == "panel":
        return _panel_judge(text, build, served_judge)
    entry, build = _chosen(text, build)
    if entry.served:
        return entry.served(build)
    judge = entry.make(build)
    return ThreadJudge(judge) if is_local(build.backend) else judge


def _panel_judge(text: str, build: JudgeBuild, make: Callable[[str, JudgeBuild], Judge]) -> Judge:
    planned = parse_panel(text)
    members = [make(member, _of_panel(planned, build)) for member in planned.members]
    return PanelJudge(planned.name, members, orders=planned.orders, samples=planned.samples, at_a_time=build.batch_size)


def _chosen(text: str, build: JudgeBuild) -> tuple[JudgeKind, JudgeBuild]:
    _, _, options, backend = parse_spec(text)
    entry = _entry(text)
    if entry.needs_backend and not entry.of_judge and is_local(backend):
        check_name(backend)  # before the judge imports torch
    return entry, replace(build, backend=backend, options=options)


def _entry(text: str) -> JudgeKind:
    _, kind, options, backend = parse_spec(text)
    if kind == "bundled":
        raise BadJudge(f"judge {text!r} is a model: write agentic@{text}")
    entry = JUDGES.get(kind)
    if entry.needs_backend and not backend:
        raise BadJudge(f"judge {text!r} names no model: write {kind}@MODEL")
    if not entry.needs_backend and (backend or options):
        raise BadJudge(f"judge {text!r}: {kind} takes no model and no options")
    return entry


def parse_spec(text: str) -> tuple[str | None, str, Sequence[str], str]:
    """Row name, kind, options and backend of a SPEC. Raises: BadJudge."""
    if not (match := _SPEC.fullmatch(text)):
        raise BadJudge(
            f"judge {text!r} must read [ROW=]NAME[:option=value,...][@MODEL], ROW with letters, digits, spaces and "
            "_ . + - alone"
        )
    options = [option for option in (match["options"] or "").split(",") if option]
    # The same option twice is harmless. Two values of one option are not: the second would win in silence.
    names = [option.partition("=")[0] for option in dict.fromkeys(options)]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise BadJudge(f"judge {text!r} has two values of {repeated[0]}: give one of them")
    return match["row"], match["name"], options, match["backend"] or ""


def _temperature(text: str, given: Mapping[str, str]) -> float | None:
    value = given.get("temperature")
    if value is None:
        return None
    if not re.fullmatch(r"\d+(\.\d+)?", value):  # `float` would also read "nan" and "inf"
        raise BadJudge(f"judge {text!r}: temperature must be a number from 0 on, not {value!r}")
    return float(value)
