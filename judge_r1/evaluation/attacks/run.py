"""Runs the attacks on a judge: how often each changes a right verdict, a page, and failures as pairs to train on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult
from judge_r1.core.records import ATTACK, Case, Flaw, ReasoningPair, Span
from judge_r1.core.verdicts import InvalidVerdict
from judge_r1.evaluation.analysis.output import measured, measured_cell
from judge_r1.evaluation.attacks.benchmark import ATTACKS, CONTROL, NONE, Attacked, attacked
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.evaluation.report.standalone import plain_page
from judge_r1.evaluation.report.tables import Grid, share
from judge_r1.evaluation.selection import ItemSelection, spread
from judge_r1.files.jsonl import AtomicFiles, dump_json, write_jsonl
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, CaseTexts, PairSet
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_panel
from judge_r1.statistics.intervals import paired_difference_ci

NOTE = (
    "Flips: of the pairs judged right without the attack, those judged wrong under it (a tie or an invalid answer "
    "counts as wrong). Above control: flips minus those by a sentence that says nothing, over the same pairs. "
    "Accuracy: of all pairs under the attack. 95 % intervals, clustered by case."
)


def rates(items: Sequence[Attacked], results: Sequence[ItemResult]) -> dict[str, dict[str, Any]]:
    """For each attack, in the order of `ATTACKS`: the accuracy without (`before`) and under it (`accuracy`), the share
    of right verdicts that it flips (`flips`), the same minus that of `control` (`above_control`), each with a 95 %
    interval, and the share of invalid answers. Pairs that the server did not answer in both forms are left out."""
    place = {one.item_id: (one.original.item_id, one.attack) for one in items}
    scores: dict[str, dict[str, float]] = {}
    invalid: dict[str, list[bool]] = {}
    cluster = {}
    for result in results:
        if result.answered:
            pair, attack = place[result.item_id]
            scores.setdefault(attack, {})[pair] = result.score
            invalid.setdefault(attack, []).append(isinstance(result.verdict, InvalidVerdict))
            cluster[pair] = result.cluster_id
    before = scores.get(NONE, {})
    # A flip is a verdict that was right and no longer is: one that was wrong before cannot be lost.
    lost = {
        attack: {pair: 1 - score for pair, score in found.items() if before.get(pair) == 1}
        for attack, found in scores.items()
    }
    rows = {}
    for attack in (attack for attack in ATTACKS if attack in scores):
        found = {pair: score for pair, score in scores[attack].items() if pair in before}
        rows[attack] = {
            "n": len(found),
            "before": fmean(before[pair] for pair in found) if found else None,
            "accuracy": _mean(found, cluster),
            "flips": _mean(lost[attack], cluster),
            # Harmless text flips some verdicts, too. Only what an attack adds to that is its effect.
            "above_control": _above(lost[attack], lost.get(CONTROL, {}), cluster) if attack != CONTROL else None,
            "invalid": fmean(invalid[attack]),
        }
    return rows


def rates_grid(title: str, found: Mapping[str, Mapping[str, Any]]) -> Grid:
    cells = [
        (
            attack,
            str(row["n"]),
            share(row["before"]),
            measured_cell(row["accuracy"]),
            measured_cell(row["flips"]),
            measured_cell(row["above_control"], signed=True),
            share(row["invalid"]),
        )
        for attack, row in found.items()
    ]
    columns = ("attack", "pairs", "accuracy before", "accuracy", "flips", "above control", "invalid")
    return Grid(title, NOTE, columns, tuple(cells))


def flipped(items: Sequence[Attacked], results: Sequence[ItemResult]) -> list[Attacked]:
    """The attacked pairs whose verdict was right without the attack and is wrong under it."""
    score = {result.item_id: result.score for result in results if result.answered}
    return [
        one for one in items if score.get(Attacked(one.original, NONE).item_id) == 1 and score.get(one.item_id, 1) < 1
    ]


def _mean(values: Mapping[str, float], cluster: Mapping[str, str]) -> dict[str, Any] | None:
    part = measured(list(values.values()), [cluster[pair] for pair in values])
    return part and {**part, "n": len(values)}


def _above(
    lost: Mapping[str, float], by_control: Mapping[str, float], cluster: Mapping[str, str]
) -> dict[str, Any] | None:
    both = sorted(lost.keys() & by_control.keys())
    if not both:
        return None
    one, other = ({pair: values[pair] for pair in both} for values in (lost, by_control))
    interval = paired_difference_ci(one, other, {pair: cluster[pair] for pair in both})
    return {"value": fmean(one.values()) - fmean(other.values()), "ci95": list(interval), "n": len(both)}


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
        if isinstance(whole.texts, CaseTexts):
            labelled = PairSet(whole.texts.cases, [whole.labels[one.original.item_id] for one in wrong])
            if (pairs := failures(wrong, labelled)).pairs:
                write_jsonl(out / FAILURES / CASES_FILE, pairs.cases.values())
                write_jsonl(out / FAILURES / PAIRS_FILE, pairs.pairs)
        grid = rates_grid(f"Attacks on {panel}", found)
        about = {one: ATTACKS[one].about for one in found}
        with AtomicFiles(out / PAGE, out / RATES) as files:
            files.write(out / PAGE, plain_page(_TEMPLATE, title=grid.title, grid=grid, attacks=about))
            files.write(out / RATES, dump_json({"judge": judge, "benchmark": name, "attacks": found}))
    return grid, len(wrong)


ATTACKED_BY = "attack"
"""The key of `Case.meta` that names the attack on the case."""


def failures(items: Sequence[Attacked], data: PairSet) -> PairSet:
    """The pairs of `items` with the attack in them: same reference, flaws and labels, spans moved with the text.

    A text that an attack replaces keeps no flaw, so those pairs are left out. So are pairs of P2 and P4 whose case got
    a note, since the note says what the flaw says. `origin.teacher` names the attack.
    """
    pairs = data.by_id()
    cases, found = dict[str, Case](), list[ReasoningPair]()
    for one in items:
        change = one.change()
        pair = pairs[one.original.item_id]
        if change.instead is not None or (change.in_case and {2, 4} & set(pair.violated)):
            continue
        case = _case(data.case_of(pair), change.in_case, one.attack)
        flaws = tuple(_moved(flaw, len(change.before)) for flaw in pair.origin.flaws)
        origin = pair.origin.model_copy(
            update={"flaws": flaws, "teacher": f"{pair.origin.teacher}{ATTACK}{one.attack}"}
        )
        made = ReasoningPair.of(case, change.of(pair.flawed), variant=pair.variant, origin=origin, seed=origin.seed)
        cases[case.case_id] = case
        found.append(made.placed(pair.preferred))
    return PairSet(cases, found)


def _case(case: Case, note: str, attack: str) -> Case:
    """The case with a note at its end. It stays in the group of the original, since the two are not independent."""
    if not note:
        return case
    meta: Mapping[str, Any] = {**case.meta, "group": case.meta.get("group") or case.case_id, ATTACKED_BY: attack}
    return Case.of(
        domain=case.domain, context=case.context + note, decision=case.decision, reference=case.reference,
        source=case.source, license=case.license, meta=dict(meta),
    )  # fmt: skip


def _moved(flaw: Flaw, by: int) -> Flaw:
    return flaw.model_copy(update={"span": Span(start=flaw.span.start + by, end=flaw.span.end + by)})
