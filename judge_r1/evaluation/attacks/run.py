"""Runs the attacks on a judge and writes their rates, a page, and the failures as pairs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.attacks.benchmark import attacked
from judge_r1.evaluation.attacks.failures import failures
from judge_r1.evaluation.attacks.kinds import ATTACKS, CONTROL
from judge_r1.evaluation.attacks.rates import flipped, rates, rates_grid
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.report.plain_page import plain_page
from judge_r1.evaluation.report.tables import Grid
from judge_r1.evaluation.selection import ItemSelection, spread
from judge_r1.files.jsonl import AtomicFiles, dump_json, write_jsonl
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, open_pairs
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel

PAGE, RATES, FAILURES = "attacks.html", "attacks.json", "failures"
_TEMPLATE = """{% extends "plain.html" %}{% from "table.html" import table %}{% block body %}
<p>{{ grid.note }}</p>
{{ table(grid.title, grid.columns, grid.rows) }}
<h2>Attacks</h2>
<dl>{% for name, about in attacks.items() %}<dt>{{ name }}</dt><dd>{{ about }}</dd>{% endfor %}</dl>
<p><a href="report.html">All episodes</a>, by attack.</p>
{% endblock %}"""


def attack_judge(
    judge: str,
    selection: ItemSelection,
    out: Path,
    *,
    attacks: Sequence[str] = (),
    recipe: Path | None = None,
    resume: bool = False,
) -> tuple[Grid, int]:
    """Judges the selected pairs as they are and under `attacks` (all by default, `control` always) into `out`. The
    `limit` of the selection is spread over the cases.

    Returns:
        The table of the rates, and how many verdicts changed from right to wrong.

    Raises:
        JudgeError: An attack is not known, no pair can be attacked, or the evaluation fails.
    """
    if unknown := set(attacks) - ATTACKS.keys():
        raise JudgeError(f"there is no attack {min(unknown)!r}: choose among {', '.join(ATTACKS)}")
    chosen = [name for name in ATTACKS if not attacks or name in (CONTROL, *attacks)]
    whole = replace(selection, limit=None).load()
    if selection.limit is not None:
        kept = spread([item.cluster_id for item in whole.items], selection.limit)
        whole = replace(whole, items=[whole.items[index] for index in kept])
    loaded, items = attacked(whole, chosen)
    build = JudgeBuild("", texts=loaded.texts, limits=loaded.limits, recipe=recipe)
    name, subset = selection.benchmark, selection.subset
    with Evaluation(loaded, out, resume=resume, name=name, subset=subset) as evaluation:
        evaluation.run(partial(make_panel, judge, build))
        evaluation.finish([], silent=True)
        [(panel, results)] = evaluation.results.items()
        found, wrong = rates(items, results.items), flipped(items, results.items)
        if loaded.labels and (pairs := failures(wrong, open_pairs(selection.path))).pairs:
            write_jsonl(out / FAILURES / CASES_FILE, pairs.cases.values())
            write_jsonl(out / FAILURES / PAIRS_FILE, pairs.pairs)
        grid = rates_grid(f"Attacks on {panel}", found)
        about = {one: ATTACKS[one].about for one in found}
        with AtomicFiles(out / PAGE, out / RATES) as files:
            files.write(out / PAGE, plain_page(_TEMPLATE, title=grid.title, grid=grid, attacks=about))
            files.write(out / RATES, dump_json({"judge": judge, "benchmark": name, "attacks": found}))
    return grid, len(wrong)
