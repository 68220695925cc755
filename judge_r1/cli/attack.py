"""attack: how often texts that only argue for the worse candidate change a judge's verdict."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from judge_r1.core.errors import JudgeError

PAGE = """{% extends "plain.html" %}{% from "table.html" import table %}{% block body %}
<p>{{ grid.note }}</p>
{{ table(grid.title, grid.columns, grid.rows) }}
<h2>Attacks</h2>
<dl>{% for name, about in attacks.items() %}<dt>{{ name }}</dt><dd>{{ about }}</dd>{% endfor %}</dl>
<p><a href="report.html">All episodes</a>, by attack.</p>
{% endblock %}"""


def register(app: typer.Typer) -> None:
    app.command()(attack)


def attack(
    judge: Annotated[str, typer.Argument(help="JUDGE[:option=value,...][@MODEL], as for `judge-r1 eval`.")],
    path: Annotated[Path, typer.Option(help="The benchmark's files (see `judge-r1 benchmarks`).")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
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
    from judge_r1.core.jsonl import AtomicFiles, dump_json, write_jsonl
    from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE, open_pairs
    from judge_r1.evaluation.attacks.benchmark import attacked
    from judge_r1.evaluation.attacks.failures import failures
    from judge_r1.evaluation.attacks.kinds import ATTACKS, CONTROL
    from judge_r1.evaluation.attacks.rates import flipped, rates, rates_grid
    from judge_r1.evaluation.pipeline import Evaluation
    from judge_r1.evaluation.report.plain_page import plain_page
    from judge_r1.evaluation.report.tables import print_grid
    from judge_r1.evaluation.selection import ItemSelection, spread
    from judge_r1.judges.base import JudgeBuild
    from judge_r1.judges.panel import check_models, make_panel

    if unknown := set(attacks or ()) - ATTACKS.keys():
        raise JudgeError(f"there is no attack {min(unknown)!r}: choose among {', '.join(ATTACKS)}")
    check_models(judge)
    chosen = [name for name in ATTACKS if not attacks or name in (CONTROL, *attacks)]
    whole = ItemSelection(benchmark, path, subset).load()
    if limit is not None:
        kept = spread([item.cluster_id for item in whole.items], limit)
        whole = replace(whole, items=[whole.items[index] for index in kept])
    loaded, items = attacked(whole, chosen)
    build = JudgeBuild("", texts=loaded.texts, limits=loaded.limits, recipe=recipe)
    with Evaluation(loaded, out, resume=resume, name=benchmark, subset=subset) as evaluation:
        evaluation.run(partial(make_panel, judge, build))
        evaluation.finish([], silent=True)
        [(name, results)] = evaluation.results.items()
        found = rates(items, results.items)
        wrong = flipped(items, results.items)
        if loaded.labels and (pairs := failures(wrong, open_pairs(path))).pairs:
            write_jsonl(out / "failures" / CASES_FILE, pairs.cases.values())
            write_jsonl(out / "failures" / PAIRS_FILE, pairs.pairs)
        grid = rates_grid(f"Attacks on {name}", found)
        about = {one: ATTACKS[one].about for one in found}
        with AtomicFiles(out / "attacks.html", out / "attacks.json") as files:
            files.write(out / "attacks.html", plain_page(PAGE, title=grid.title, grid=grid, attacks=about))
            files.write(out / "attacks.json", dump_json({"judge": judge, "benchmark": benchmark, "attacks": found}))
    print_grid(grid, Console())
    print(f"verdicts that changed from right to wrong: {len(wrong)}; report: {out / 'attacks.html'}")
