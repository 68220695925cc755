"""`judge-r1 build`: builds labelled pairs from a corpus, or runs another registered generator."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judge_r1.cli.key_help import Keys, KeysCommand
from judge_r1.cli.options import refuse
from judge_r1.cli.rationales import rationales_writer
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from pydantic import BaseModel


class _Build(KeysCommand):
    def panels(self) -> "dict[str, type[BaseModel]]":
        from data_builders.build_recipe import BuildRecipe
        from data_builders.generators import GENERATORS
        from data_builders.generators.base import BuildPlan, NoOptions
        from data_builders.teacher_session import SessionOptions

        generators = (GENERATORS.get(name) for name in GENERATORS.names())
        own = {f"options.… of {one.name}": one.options for one in generators if one.options is not NoOptions}
        return {"Cases and flaws": BuildPlan, "Teacher": BuildRecipe, "Calls to a teacher": SessionOptions, **own}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        next(one for one in self.params if one.name == "source").help = _sources()  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _sources() -> str:
    from data_builders.generators import GENERATORS
    from data_builders.sources import SOURCES

    corpora = [f"* {name}: {SOURCES.get(name).help}" for name in SOURCES.names()]
    generators = {name: GENERATORS.get(name) for name in GENERATORS.names()}
    return "\n".join(
        ["A recipe, such as recipes/data/lrbench.yaml, or what to build:"]
        + corpora
        + [f"* {name}: {one.summary()}" for name, one in generators.items() if not one.reads_corpus]
    )


def register(app: typer.Typer) -> None:
    app.command(cls=_Build)(build)


def build(
    source: Annotated[str, typer.Argument(help="A recipe, a corpus or a generator: see `judge-r1 build --help`.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    overrides: Keys = None,
    preview: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Build N cases first, show their pairs and what all cases take, and ask."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Build all cases after --preview without asking.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a build with other options in OUT.")] = False,
) -> None:
    """Insert flaws into reference reasonings and write labelled pairs. Run a stopped build again to resume it.

    Examples: `judge-r1 build medrbench path=data/medical_medrbench --out runs/medical`

    `judge-r1 build recipes/data/lrbench.yaml path=data/medical_medrbench budget=20 prices=prices.yaml
    --out runs/medical`
    """
    from data_builders.build import build_by_rules
    from data_builders.build_recipe import build as build_by_teacher
    from data_builders.build_recipe import load_build, refuse_other_build
    from data_builders.generators import generator_for
    from data_builders.sources import SOURCES
    from data_builders.teachers.spec import parse_spec

    plan = load_build(source, overrides or []).in_folder(out)
    if not plan.by_rules:  # a wrong SPEC is found before a generator is imported
        parse_spec(plan.teacher)
    make = generator_for(plan.source, with_teacher=not plan.by_rules)
    make.check(plan)
    if not overwrite:
        refuse_other_build(out, plan)
    write_rationales = None
    if plan.rationales:
        from data_builders.preview import first_cases  # imports NumPy

        write_rationales = rationales_writer(plan.rationales.recipe, plan.rationales.count, first_cases(plan, 20))
    refuse("answers the question of --preview: add --preview N, or", yes=yes and preview is None)
    if preview is not None:
        from data_builders.preview import preview_by_rules, preview_by_teacher
        from judge_r1.cli.build_preview import confirmed, show_limits, show_preview, show_question

        if plan.source not in SOURCES:
            refuse(f"is for sources of cases, not for {plan.source!r}", preview=preview)
        refuse("shows pairs, and batch_export writes requests instead", preview=plan.batch_export)
        if plan.by_rules:
            show_question(plan)
            found = preview_by_rules(plan, preview)
        else:
            found = preview_by_teacher(plan, preview)
        show_preview(found, plan)
        show_limits(found, plan)
        if not confirmed(found.total, yes=yes):
            return
        plan = plan.model_copy(update={"batch_import": None})  # its results are in the cache
    if plan.by_rules:
        counts = build_by_rules(make(plan), out)
    else:
        done = build_by_teacher(plan, out)
        Console(soft_wrap=True).print(done.message, markup=False)
        if done.value is None:
            return
        counts = done.value
    _print_counts(counts, out)
    if write_rationales is not None:
        try:
            write_rationales(out, plan.teacher, out / "rationales", plan)
        except JudgeError as error:
            raise JudgeError(f"the pairs in {out} are complete, and no rationales are written: {error}") from error


def _print_counts(counts: dict[str, Any], out: Path) -> None:
    from data_builders.generators import dataset_of

    dataset = dataset_of(out)
    lead, main = dataset.files[0], dataset.main
    made = counted(counts[main.plural], main.noun)
    of = f" of {counted(counts[lead.plural], lead.noun)}" if lead != main else ""
    table = Table("", main.plural, title=f"{made}{of} in {out}")
    for group, labels in counts.items():
        if group.startswith("by_") and group not in ("by_operator", "by_set"):
            for name, count in labels.items():
                table.add_row(name, str(count))
            table.add_section()
    console = Console()
    console.print(table)
    asked = "candidates" if "candidates" in counts else "variants"
    missing = f"{asked} missing" if "teacher" in counts else "operators abstained"
    skipped = counts[f"skipped_{lead.plural}"]
    by_set = "wanted" in counts.get("teacher", {})  # then the missing ones have a table below
    lines = {f"{lead.plural} skipped": skipped} | ({} if by_set else {missing: counts["abstained"]})
    for title, found in lines.items():
        console.print(f"{title}: {sum(found.values())}" + (f" ({_most(found)})" if found else ""), markup=False)
    if "yield" in counts:
        console.print(_yield(counts["yield"]))
    if "cascade" in counts:
        console.print(_cascade(counts["cascade"]))
    if by_set:
        console.print(f"{asked} wanted: {sum(counts['teacher']['wanted'].values())}")
        for name, found in ((missing, counts["abstained"]), ("rejections", counts["teacher"]["rejected"])):
            console.print(_by_set(found, f"{name}: {sum(found.values())}") if found else f"{name}: 0")
        console.print(_labels(counts), markup=False)
    if "verifier" in counts:
        console.print(_agreement(counts["verifier"]))
    if "short" in counts:
        console.print(_short(counts["per_principle"], **counts["short"]), markup=False)
    if "leaks" in counts:
        console.print(_leaks(counts["leaks"]))


def _yield(found: dict[str, dict[str, int]]) -> Table:
    """How many variants have a natural place in the references, by principle."""
    table = Table(
        "rules", *found, title="Rules make a flaw only where it has a natural place; a teacher makes the rest"
    )
    for row in ("wanted", "made"):
        table.add_row(row, *(str(counts[row]) for counts in found.values()))
    return table


def _by_set(counts: dict[str, int], title: str) -> Table:
    """One row per reason and one column per set, from counts with keys such as `P1: the reason`."""
    sets = [*(f"P{number}" for number in range(1, 7)), "multi"]
    table = Table("reason", *sets, "all", title=title)
    reasons: dict[str, dict[str, int]] = {}
    for key, count in counts.items():
        name, _, reason = key.partition(": ")
        reasons.setdefault(reason or name, {})[name] = count
    for reason, found in sorted(reasons.items(), key=lambda item: -sum(item[1].values())):
        table.add_row(reason, *(str(found.get(name, "")) for name in sets), str(sum(found.values())))
    return table


def _labels(counts: dict[str, Any]) -> str:
    """Which labels of flaws rules confirmed, and what is left to a verifier."""
    from data_builders.perturb.teacher.label_checks import NOT_CHECKED

    found = counts["teacher"]["labels"]
    checked = ", ".join(f"{name} in {n}" for name, n in found.items() if not name.endswith(NOT_CHECKED))
    said = f"labels checked by rules: {checked or 'none'}."
    if "verifier" in counts:
        return f"{said} The verifier read all {counted(sum(found.values()), 'flaw')}"
    left = counted(sum(n for name, n in found.items() if name.endswith(NOT_CHECKED)), "flaw")
    return f"{said} Give verify=SPEC: nobody checked the {'other ' if checked else ''}{left}"


def _cascade(cascade: dict[str, Any]) -> Table:
    """The candidates of each failure type, and how many failed first at each layer of the verifier."""
    table = Table("candidates", *cascade["all"], title="Verifier: where candidates fail first")
    for name, row in {**cascade["by_failure"], "all": cascade["all"]}.items():
        table.add_row(name, *map(str, row.values()))
    return table


def _agreement(verifier: dict[str, Any]) -> Table:
    table = Table(
        "verifier", "pairs", "agrees", "on the principles too", "neither", "unreadable", title=verifier["name"]
    )
    for name, share in verifier["agreement"].items():
        agreed = (f"{share[key]:.1%}" for key in ("worse_agreed", "principles_agreed"))
        table.add_row(name, str(share["pairs"]), *agreed, str(share["neither"]), str(share["unreadable"]))
    return table


def _short(wanted: int, sets: dict[str, int], because: str) -> str:
    """Which sets have fewer pairs than per_principle, and why."""
    if not sets:
        return f"every set has its {counted(wanted, 'pair')}"
    missing = ", ".join(f"{name} {wanted - count} of {wanted}" for name, count in sets.items())
    return f"fewer pairs than per_principle, because {because}: {missing}"


def _leaks(leaks: dict[str, Any]) -> Table | str:
    """How often the strongest reader of each kind is right without the case, before and after the choice."""
    from data_builders.audit.shortcut_report import interval

    if not leaks["before"]:
        return f"too few cases to measure what the candidates reveal: {leaks['cases']}"
    kinds = ("length", "words")
    table = Table(
        "", "choice", "pairs", *kinds, title=f"Strongest readers without the case ({counted(leaks['cases'], 'case')})"
    )
    for name in leaks["before"]:
        for time in ("before", "after"):
            if found := leaks[time].get(name):
                cells = (
                    interval(found[kind]["accuracy"], found[kind]["ci95"]) if kind in found else "" for kind in kinds
                )
                table.add_row(name, time, str(found["pairs"]), *cells)
    return table


def _most(counts: dict[str, int]) -> str:
    """The six most frequent reasons, and how many more there are."""
    most = [f"{name}: {n}" for name, n in sorted(counts.items(), key=lambda item: -item[1])]
    return ", ".join(most[:6]) + (f", and {len(most) - 6} more in build.json" if len(most) > 6 else "")
