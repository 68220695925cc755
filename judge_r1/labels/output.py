"""The result of a check: its files, and its lines for the console.

`labels.json` holds all numbers, `disagreements.csv` the items on which a judge and people differ, and `report.html` is
the page.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from judge_r1.core.text_check import beginning, counted, short_name
from judge_r1.evaluation.report.charts import colors_of, whisker_chart
from judge_r1.evaluation.report.standalone import plain_page
from judge_r1.evaluation.report.tables import Estimate
from judge_r1.files.jsonl import AtomicFiles, dump_json
from judge_r1.labels.check import CheckedJudge, CheckResult, disagreements
from judge_r1.labels.measures import NONE
from judge_r1.labels.rows import LabelledItem, Labels

SHOWN = 5
"""Reasons for no verdict on the console."""
BESIDE = ("kappa", "ac1", "answered", "quadratic_kappa", "mae", "spearman")
RESULT, DISAGREEMENTS, PAGE = "labels.json", "disagreements.csv", "report.html"


LONGEST = 4_000
"""Characters of a text on the page; `disagreements.csv` has it whole."""


def page(result: CheckResult, labels: Labels) -> str:
    """The page as one file without scripts."""
    template = (files(__package__) / "page.html").read_text(encoding="utf-8")
    items = {item.id: item for item in labels.items}
    facts = result.labels
    views = [_judge(number, result, judge, items) for number, judge in enumerate(result.judges)]
    differences = [
        (f"{d.a} - {d.b}", f"{d.delta:+.2f} [{d.ci95[0]:+.2f}, {d.ci95[1]:+.2f}]", f"{d.p:.3g}", f"{d.p_holm:.3g}")
        for d in result.differences
    ]
    return plain_page(
        template, title="Can this judge be trusted?", facts=facts, judges=views,
        differences=differences, contested=[(i, items[i].by_person) for i in facts.contested],
    )  # fmt: skip


def _judge(number: int, result: CheckResult, judge: CheckedJudge, items: dict[str, LabelledItem]) -> dict[str, Any]:
    values = judge.measures.values
    units = {
        name: {name: Estimate(m.value, *m.ci95)}
        for name, m in values.items()
        if m.value is not None and m.ci95 is not None and min(m.ci95) >= 0 and max(m.ci95) <= 1
    }
    chart = whisker_chart(f"measures of {judge.name}", units, dict.fromkeys(colors_of(list(units)), 0)) if units else ""
    cells = list(result.labels.answers) or sorted(judge.measures.confusion)
    columns = [*cells, *([NONE] if any(NONE in row for row in judge.measures.confusion.values()) else [])]
    return {
        "anchor": f"judge-{number}", "name": judge.name, "decision": judge.decision,
        "checked": [_checked(one) for one in judge.decision.checked],
        "measures": [(name, str(m), judge.measures.items if m.of is None else m.of) for name, m in values.items()],
        "notes": judge.measures.notes, "chart": chart, "people": judge.measures.people,
        "pairs": _people_grid(judge), "asked": judge.described,
        "columns": [column or "no verdict" for column in columns],
        "confusion": [
            (label, [(judge.measures.confusion.get(label, {}).get(column, 0), column != label,
                      f"judge-{number}-{label}-{column or 'none'}") for column in columns])
            for label in cells
        ],
        "groups": _groups(number, result, judge, items, columns),
        "missing": sorted(judge.measures.missing.items()), "constant": next(iter(judge.measures.constant.items())),
        "constant_p": judge.measures.constant_p, "unanswered": judge.unanswered,
    }  # fmt: skip


def _people_grid(judge: CheckedJudge) -> list[tuple[str, ...]]:
    """What two people share, and how each agrees with the others, the lowest first."""
    found = judge.measures.people or {"pairs": {}, "ceiling": None}
    shown = [
        (pair, *(_number(own[key]) for key in ("equal", "kappa")), str(own["n"]))
        for pair, own in found["pairs"].items()
    ]
    alone = sorted((found["ceiling"] or {"people": {}})["people"].items(), key=lambda one: one[1])
    return [*shown, *((f"{name} - all others", _number(share), "", "") for name, share in alone)]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _checked(one: Any) -> tuple[str, ...]:
    got = one.measured
    limits = map(_number, (got.value, got.lower, got.upper))
    return str(one.requirement), *limits, one.state, one.hint


def _groups(
    number: int, result: CheckResult, judge: CheckedJudge, items: dict[str, LabelledItem], columns: Sequence[str]
) -> list[dict[str, Any]]:
    """The disagreements by direction, in the order of the confusion matrix."""
    wrong = disagreements(result, judge)
    groups = []
    for label in dict.fromkeys(result.gold[i] for i in wrong):
        for column in columns:
            own = [i for i in wrong if result.gold[i] == label and (judge.verdicts.get(i) or NONE) == column]
            if own:
                groups.append(
                    {
                        "anchor": f"judge-{number}-{label}-{column or 'none'}",
                        "title": f"people {label}, judge {column or 'no verdict'}",
                        "items": [_item(items[i], judge) for i in own],
                    }
                )
    return groups


def _item(item: LabelledItem, judge: CheckedJudge) -> dict[str, Any]:
    start = item.texts.get("output") or item.texts.get("a") or next(iter(item.texts.values()), "")
    return {
        "id": item.id, "start": short_name(start), "people": item.by_person,
        "texts": [(name, beginning(item.texts[name], LONGEST)) for name in item.texts],
        "repeats": " ".join(one or "none" for one in judge.repeats.get(item.id, ())),
        "reason": beginning(judge.texts.get(item.id, ""), LONGEST), "missing": judge.missing.get(item.id, ""),
    }  # fmt: skip


def write_result(out: Path, result: CheckResult, labels: Labels) -> None:
    """Writes the files of a result, all or none."""
    contents = {
        DISAGREEMENTS: _disagreements(result, labels),
        PAGE: page(result, labels),
        RESULT: dump_json(result.model_dump(mode="json", by_alias=True)),
    }
    out.mkdir(parents=True, exist_ok=True)
    with AtomicFiles(*(out / name for name in contents)) as files:
        for name, text in contents.items():
            files.write(out / name, text)


def _disagreements(result: CheckResult, labels: Labels) -> str:
    """The table for reading: `resolution` is for the reader: rule unclear, judge wrong or label wrong."""
    texts = {item.id: item for item in labels.items}
    table = io.StringIO()
    lines = csv.writer(table, lineterminator="\n")
    lines.writerow(
        ["judge", "id", "label", "verdict", "repeats", "labels", "input", "output", "judge wrote", "resolution"]
    )
    for judge in result.judges:
        for item_id in disagreements(result, judge):
            item = texts[item_id]
            verdict = judge.verdicts.get(item_id) or f"none ({judge.missing.get(item_id, 'no verdict')})"
            repeats = " ".join(one or "none" for one in judge.repeats.get(item_id, ()))
            text = item.texts.get("output") or item.texts.get("trace") or " / ".join(
                item.texts[side] for side in ("a", "b") if side in item.texts
            )  # fmt: skip
            lines.writerow(
                [judge.name, item_id, result.gold[item_id], verdict, repeats, item.by_person,
                 item.texts.get("input", ""), text, judge.texts.get(item_id, ""), ""]
            )  # fmt: skip
    return table.getvalue()


def lines_of(result: CheckResult) -> Iterator[str]:
    """The result for the console."""
    facts_ = result.labels
    classes = facts_.described
    contested = f", contested {len(facts_.contested)}" if facts_.contested else ""
    yield (
        f"labels: {facts_.path}: {counted(facts_.items, 'item')}, {_people(facts_.people)}, "
        f"{counted(facts_.labels, 'label')}; {classes}{contested}; {counted(facts_.clusters, 'cluster')}"
    )
    yield from (f"note: {note}" for note in facts_.notes)
    for judge in result.judges:
        yield from ("", *_judge_lines(judge))
    for one in result.differences:
        yield (
            f"{one.a} - {one.b}: {one.delta:+.2f} [{one.ci95[0]:+.2f}, {one.ci95[1]:+.2f}], p {one.p:.3g}, "
            f"Holm's p {one.p_holm:.3g}"
        )
    if len(result.judges) > 1:
        yield "note: the best of several judges is chosen on these labels: its number is optimistic"


def _people(names: Sequence[str]) -> str:
    return f"{len(names)} people ({', '.join(names)})" if len(names) > 1 else f"1 person ({names[0]})"


def _judge_lines(judge: CheckedJudge) -> Iterator[str]:
    measures = judge.measures
    yield f"judge: {judge.name}{judge.described}"
    values = measures.values
    if "repeats" in values and (same := values["repeats"]).value is not None:
        yield f"  repeats       equal pairs {same.value:.2f}, never changed {same.right} of {same.of}"
    if "consistency" in values:
        yield f"  consistency   {values['consistency']} in both orders"
    best, share = next(iter(measures.constant.items()))
    beside = "  ".join(f"{name} {values[name]}" for name in BESIDE if name in values)
    constant = f"always {best!r} would reach {share:.2f} (p {measures.constant_p:.2g})"
    if "kappa" in values:
        yield f"  agreement     {values['agreement']}   {constant}"
    if beside:
        yield f"  {beside}"
    for one in judge.decision.checked:
        got = one.measured
        counts = f" ({got.right}/{got.of})" if got.right is not None else ""
        limit = "" if got.lower is None else f"  lower limit {got.lower:.2f}"
        value = "none" if got.value is None else f"{got.value:.2f}"
        yield f"  {one.requirement!s:<24} {value}{counts}{limit}  {one.state}{': ' + one.hint if one.hint else ''}"
    if measures.missing:
        first = sorted(measures.missing.items(), key=lambda one: (-one[1], one[0]))
        more = f", and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
        yield "  no verdict    " + ", ".join(f"{reason} {count}" for reason, count in first[:SHOWN]) + more
    if people := measures.people:
        for pair, found in people["pairs"].items():
            kappa = "none" if found["kappa"] is None else f"{found['kappa']:.2f}"
            yield f"  people        {pair}: equal {found['equal']:.2f}, kappa {kappa} ({found['n']})"
        if people["alpha"] is not None:
            more = "".join(
                f", {name} {people[key]:.2f}"
                for name, key in (("Fleiss' kappa", "fleiss"), ("AC1", "ac1"))
                if people[key] is not None
            )
            yield f"  people        Krippendorff's alpha {people['alpha']:.2f}{more}"
        if top := people["ceiling"]:
            yield f"  ceiling       people against people {top['people_mean']:.2f}, the judge {top['judge_mean']:.2f}"
        if test := people["alt_test"]:
            few = " (with two people the authors advise a third)" if len(people["names"]) == 2 else ""
            yield f"  alt-test      winning rate {test['winning_rate']:.2f}, advantage {test['advantage']:.2f}{few}"
    yield from (f"  note: {note}" for note in measures.notes)
    if judge.unanswered:
        yield f"  {counted(judge.unanswered, 'item')} without a reply: run again with --resume"
    yield f"{judge.decision.word.upper()}: {judge.decision.because}"
