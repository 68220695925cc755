"""Builds the panel that a judge's SPEC describes (`judge_r1.core.spec`).

`SPEC|SPEC`, and `panel:orders=2,samples=3,temperature=0.7(SPEC|SPEC)`, combine the votes of several judges, orders and
samples.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import Field

from judge_r1.core.registry import UnknownName, suggest
from judge_r1.core.spec import PANEL, BadSpec, Spec, parse_spec
from judge_r1.files.yaml_config import ConfigModel, read_options
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind
from judge_r1.judges.panel_judge import PanelJudge
from judge_r1.judges.runners import ThreadJudge
from judge_r1.models.hub import check_hub, check_name
from judge_r1.models.open_model import is_local, own_server


@dataclass(frozen=True)
class JudgePanel:
    """Judges whose votes are aggregated together. `orders` None: the benchmark's presentation orders."""

    name: str
    members: tuple[Judge, ...]
    orders: int | None = None
    samples: int = 1


class PanelOptions(ConfigModel):
    """The options of a panel; without a temperature, the samples have that of the evaluation."""

    orders: int | None = Field(None, ge=1, le=2)
    samples: int = Field(1, ge=1)
    temperature: float | None = Field(None, ge=0)


class PanelSpec(PanelOptions):
    """A parsed SPEC, before any judge is built, with the SPECs of the members."""

    name: str
    members: tuple[str, ...]


def parse_panel(text: str) -> PanelSpec:
    """Parses and checks a SPEC without loading a model. Raises: BadJudge, ConfigError, UnknownName."""
    spec = judge_spec(text)
    if spec.name != PANEL:
        _entry(text)
        return PanelSpec(name=spec.row or text, members=(text,))
    options = read_options(PanelOptions, spec.options, f"judge {text!r}")
    if not spec.members:
        raise BadJudge(f"judge {text!r} has no members: write panel(SPEC), or panel(SPEC|SPEC) for several")
    for member in spec.members:
        if judge_spec(member).name == PANEL:
            raise BadJudge(f"judge {text!r}: a panel cannot be a member of a panel: name its judges one by one")
        _entry(member)
    return PanelSpec(name=spec.row or text, members=spec.members, **dict(options))


def make_panel(text: str, build: JudgeBuild) -> JudgePanel:
    """Builds the panel of a SPEC. Raises: BadJudge, ConfigError, UnknownName, and what the judge raises."""
    planned = parse_panel(text)
    members = tuple(make_member(planned, index, build) for index in range(len(planned.members)))
    return JudgePanel(planned.name, members, planned.orders, planned.samples)


def make_member(planned: PanelSpec, index: int, build: JudgeBuild) -> Judge:
    """Builds one member of a panel. Raises: BadJudge, ConfigError, UnknownName, and what the judge raises."""
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
        elif entry.needs_backend and (name := _loaded(build.backend)):
            check_hub(name)


def backends(text: str) -> list[str]:
    """The backends of a SPEC and of its members. Raises: BadJudge."""
    spec = judge_spec(text)
    own = [spec.backend] if spec.backend else []
    return own + [backend for member in spec.members for backend in backends(member)]


def check_second(judge: str, first: str) -> str | None:
    """A note if two judges, of which one checks the other, use one model. Raises: BadJudge if they are one judge."""
    if replace(judge_spec(judge), row=None) == replace(judge_spec(first), row=None):
        raise BadJudge(f"the judge {judge!r} cannot check itself: take one of another model family")
    shared = set(backends(judge)) & set(backends(first))
    return f"both judges use {min(shared)}: they share its blind spots" if shared else None


def loads_model(member: str) -> bool:
    """Whether the judge of a SPEC loads a model in its process, or starts a server for one."""
    return any(map(_loaded, backends(member)))


def _loaded(backend: str) -> str | None:
    """The name of the model that a backend loads, here or in a server that it starts."""
    return backend if is_local(backend) else own_server(backend)


def make_judge(text: str, build: JudgeBuild) -> Judge:
    """Builds one judge; a row name in the SPEC is ignored. Raises: BadJudge, ConfigError, UnknownName."""
    if judge_spec(text).name == PANEL:
        return _panel_judge(text, build, make_judge)
    entry, build = _chosen(text, build)
    return entry.make(build)


def served_judge(text: str, build: JudgeBuild) -> Judge:
    """A judge for concurrent callers in one event loop. A local model batches all requests; other local judges run in a
    thread. Raises: as for `make_judge`."""
    if judge_spec(text).name == PANEL:
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
    spec, entry = judge_spec(text), _entry(text)
    if entry.needs_backend and not entry.of_judge and (name := _loaded(spec.backend)):
        check_name(name)  # before the judge imports torch
    return entry, replace(
        build, backend="|".join(spec.members) if entry.of_judge else spec.backend, options=spec.options
    )


def _entry(text: str) -> JudgeKind:
    spec = judge_spec(text)
    if spec.name == "bundled":
        raise BadJudge(f"judge {text!r} is a model: write agentic@{text}")
    if spec.name not in JUDGES:
        raise UnknownName(f"no judge is named {spec.name!r}{suggest(spec.name, [*JUDGES.names(), PANEL])}")
    entry = JUDGES.get(spec.name)
    if entry.several and (len(spec.members) < 2 or spec.backend):
        raise BadJudge(f"judge {text!r}: write two judges or more in brackets, as in {spec.name}:…(SPEC|SPEC)")
    if entry.of_judge and not entry.several and (len(spec.members) != 1 or spec.backend):
        raise BadJudge(f"judge {text!r}: write one judge in brackets, as in {spec.name}:…(SPEC)")
    if spec.members and not entry.of_judge:
        raise BadJudge(f"judge {text!r}: {spec.name} holds no other judges: write {spec.name}@MODEL")
    if entry.needs_backend and not entry.of_judge and not spec.backend:
        raise BadJudge(f"judge {text!r} names no model: write {spec.name}@MODEL")
    if not entry.needs_backend and (spec.backend or spec.options):
        raise BadJudge(f"judge {text!r}: {spec.name} takes no model and no options")
    return entry


def judge_spec(text: str) -> Spec:
    """The parsed SPEC of a judge. Raises: BadJudge."""
    try:
        return parse_spec(text)
    except BadSpec as error:
        raise BadJudge(f"judge {error}") from None
