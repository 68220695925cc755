"""attack: how often texts that only argue for the worse candidate change a judge's verdict."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def register(app: typer.Typer) -> None:
    app.command()(attack)


def attack(
    judge: Annotated[str, typer.Argument(help="JUDGE[:option=value,...][@MODEL], as for `judge-r1 eval`.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    path: Annotated[
        Path | None,
        typer.Option(help="The benchmark's files (see `judge-r1 benchmarks`), if they are not in the package."),
    ] = None,
    attacks: Annotated[
        list[str] | None, typer.Option("--attack", help="Only this attack; may be repeated [default: all].")
    ] = None,
    benchmark: Annotated[str, typer.Option(help="One of pairs; `judge-r1 benchmarks` lists all.")] = "lrbench",
    subset: Annotated[str | None, typer.Option(help="A part of the benchmark, such as a domain.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="Recipe with the episode settings.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Attack only N pairs, spread over the cases.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Run only the requests that OUT lacks.")] = False,
) -> None:
    """Attack a judge: judge pairs as they are and with text that argues for the worse candidate.

    Writes the flip rate of each attack to OUT/attacks.json and attacks.html, all episodes to report.html, and the pairs
    that the judge then gets wrong to OUT/failures, with labels, to train on. Attacks: override, verdict, authority,
    praise, padding, format, opening, master-key, poison (docs/security.md), and a control that says nothing.

    Example: `judge-r1 attack agentic@runs/demo/grpo/model --path runs/demo/data/test --limit 50 --out runs/attack`
    """
    from judge_r1.evaluation.attacks.run import PAGE, attack_judge
    from judge_r1.evaluation.report.tables import print_grid
    from judge_r1.evaluation.selection import ItemSelection
    from judge_r1.judges.panel import check_models

    check_models(judge)
    selection = ItemSelection(benchmark, path, subset, limit=limit)
    grid, flips = attack_judge(judge, selection, out, attacks=attacks or (), recipe=recipe, resume=resume)
    print_grid(grid, Console())
    print(f"verdicts that changed from right to wrong: {flips}; report: {out / PAGE}")
