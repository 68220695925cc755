"""The page of a check: the decision first, then the table, the confusion matrix and the items to read."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from judge_r1.core.text_check import short_name
from judge_r1.evaluation.report.charts import colors_of, whisker_chart
from judge_r1.evaluation.report.standalone import plain_page
from judge_r1.evaluation.report.tables import Estimate
from judge_r1.labels.check import CheckedJudge, CheckResult, disagreements
from judge_r1.labels.measures import NONE
from judge_r1.labels.rows import LabelledItem, Labels

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
        "texts": [(name, _cut(item.texts[name])) for name in item.texts],
        "repeats": " ".join(one or "none" for one in judge.repeats.get(item.id, ())),
        "reason": _cut(judge.texts.get(item.id, "")), "missing": judge.missing.get(item.id, ""),
    }  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST} more characters)"
