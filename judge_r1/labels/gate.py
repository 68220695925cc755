"""The gate: what a check found is pinned in a file without texts, and a later run ends with a status that says whether
the judge is still the same and still good.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypeVar
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from judge_r1.core.errors import ExitStatus, JudgeError, invalid_as
from judge_r1.core.record_base import Record, content_hash
from judge_r1.core.text_check import counted
from judge_r1.files.jsonl import write_json
from judge_r1.files.text_file import read_bytes
from judge_r1.labels.check import CheckedJudge, CheckResult
from judge_r1.labels.decision import PEOPLE, Requirement, Word
from judge_r1.labels.kinds import BadLabels, Kind
from judge_r1.labels.output import RESULT
from judge_r1.statistics.contingency import Floats
from judge_r1.statistics.rates import smallest_drop, tango_ci
from judge_r1.statistics.significance import flip_ci, sign_flips

ALPHA = 0.05
ACCEPTED = ("labels", "judge", "model")


class Gate(CheckResult):
    """A gate file: the result of one judge without texts. `verdicts` are empty if they were left out: then single items
    cannot be compared. `looks` is how many judges were measured on these labels until this one was chosen."""

    created: str
    looks: int

    @property
    def judge(self) -> CheckedJudge:
        return self.judges[0]

    @property
    def asked(self) -> dict[str, Any]:
        """How a new check asks as the pinned one did: orders, temperature and seed."""
        first = next(iter(self.judge.settings), {})
        sampled = {"temperature": first.get("temperature", 0.0), "seed": first.get("seed", 0)}
        return {"orders": self.judge.asked.get("orders") or 2, **sampled}

    @property
    def require(self) -> tuple[Requirement, ...]:
        checked = self.judge.decision.checked
        return tuple(one.requirement for one in checked if one.requirement.measure != PEOPLE)

    @property
    def equal_pairs(self) -> float | None:
        repeats = self.judge.measures.values.get("repeats")
        return repeats.value if repeats else None


Status = Literal["pass", "fail", "undecided", "try again"]
STATUSES: Mapping[Status, int] = {
    "pass": ExitStatus.OK, "fail": ExitStatus.INVALID_DATA, "undecided": ExitStatus.UNDECIDED,
    "try again": ExitStatus.TRY_AGAIN,
}  # fmt: skip


class GateResult(Record):
    """What a gate found: the status, reason words, notes, and the comparison with the pinned verdicts."""

    status: Status
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    decision: Word
    drift: dict[str, Any] | None


def read_result(folder: Path) -> CheckResult:
    """The result in `folder/labels.json`. Raises: JudgeError."""
    return _read(folder / RESULT, CheckResult)


def read_gate(path: Path) -> Gate:
    """Raises: JudgeError."""
    return _read(path, Gate)


R = TypeVar("R", bound=Record)


def _read(path: Path, model: type[R]) -> R:
    with invalid_as(JudgeError, f"{path} is not what `judge-r1 labels` writes"):
        return model.model_validate_json(read_bytes(path))


def judge_of(result: CheckResult, name: str | None) -> CheckedJudge:
    """A judge of a result by its name. Raises: BadLabels if there is none, or if several need a choice."""
    named = {one.name: one for one in result.judges}
    if name is None and len(named) > 1:
        raise BadLabels(f"the result has the judges {', '.join(named)}: choose one by --judge")
    if name is not None and name not in named:
        raise BadLabels(f"the result has no judge {name!r}: it has {', '.join(named)}")
    return named[name] if name else result.judges[0]


def looks_beside(folder: Path, result: CheckResult) -> int:
    """How many different judges the results in and beside a folder measured on the same labels."""
    seen = set()
    for file in sorted(folder.resolve().parent.glob(f"*/{RESULT}")):
        try:
            other = read_result(file.parent)
        except JudgeError:  # of another version, or no result
            continue
        if other.labels.digest == result.labels.digest:
            seen |= {content_hash(one.asked.get("settings", one.name)) for one in other.judges}
    return len(seen)


def pin(
    result: CheckResult, judge: str | None, *, looks: int = 1, allow_undecided: bool = False, verdicts: bool = True
) -> Gate:
    """The gate of one judge of a result.

    Raises:
        BadLabels: There is no such judge, or it is not trusted and `allow_undecided` is false.
    """
    chosen = judge_of(result, judge)
    if chosen.decision.word != "trusted" and not allow_undecided:
        raise BadLabels(
            f"{chosen.name} is {chosen.decision.word}: {chosen.decision.because}. --allow-undecided pins it all the "
            "same, and its gate never passes"
        )
    bare: dict[str, Any] = {name: {} for name in ("missing", "repeats", "orders", "confidences")}
    bare["verdicts"] = {i: chosen.verdicts.get(i) for i in result.gold} if verdicts else {}
    pinned = result.model_copy(update={"judges": (chosen.model_copy(update=bare),), "differences": ()})
    created = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Gate(**pinned.model_dump(by_alias=True), created=created, looks=looks)


def write_gate(path: Path, gate: Gate) -> None:
    write_json(path, gate.model_dump(mode="json", by_alias=True))


def compare(
    gate: Gate, result: CheckResult, *, accept: Sequence[str] = (), alpha: float = ALPHA, max_drop: float | None = None
) -> GateResult:
    """Compares a new check of the judge with the pinned one.

    Raises:
        BadLabels: The two share fewer than two items, or have other kinds of labels.
    """
    (judge,) = result.judges
    if gate.labels.kind != result.labels.kind or gate.labels.answers != result.labels.answers:
        raise BadLabels("the labels are of another kind than the pinned ones: pin a new check")
    shared = sorted(gate.gold.keys() & result.gold.keys())
    if len(shared) < 2:
        raise BadLabels(
            f"the labels share {counted(len(shared), 'item')} with the pinned ones: is this the right file?"
        )
    notes: list[str] = []
    reasons = list(_changes(gate, result, judge, notes, accept))
    drift = None
    if judge.unanswered:
        return _result("try again", ["answers-missing"], notes, judge, None)
    if gate.judge.verdicts and "labels-changed" not in reasons:
        drift = _drift(gate, result, judge, shared, alpha)
        if drift["worse_p"] < alpha:
            reasons.append("drift")
        if max_drop is not None and drift["ci95"][0] < -max_drop:
            reasons.append("drop-not-excluded")
        if "drift" not in reasons:
            least = smallest_drop(len(shared), alpha, 0.02 if gate.equal_pairs is None else (1 - gate.equal_pairs) / 2)
            shown = "no drop at all" if least is None else f"a drop of {least:.2f} or more"
            notes.append(f"{len(shared)} shared items show {shown} in 80 % of runs; for nightly runs use --alpha .01")
    if judge.decision.word == "not trusted":
        reasons.append("not-trusted")
    if reasons:
        status: Status = "fail"
    elif judge.decision.word == "undecided" or gate.judge.decision.word != "trusted":
        status, reasons = "undecided", ["undecided"]
    else:
        status = "pass"
    return _result(status, reasons, notes, judge, drift)


def _result(
    status: Status, reasons: Sequence[str], notes: Sequence[str], judge: CheckedJudge, drift: dict[str, Any] | None
) -> GateResult:
    return GateResult(
        status=status, reasons=tuple(reasons), notes=tuple(notes), decision=judge.decision.word, drift=drift
    )


def _changes(
    gate: Gate, result: CheckResult, judge: CheckedJudge, notes: list[str], accept: Sequence[str]
) -> Iterator[str]:
    """The reason words of what was pinned and is another now, unless it is accepted."""
    changed = sorted(i for i, label in gate.gold.items() if result.gold.get(i) != label)
    added = sorted(result.gold.keys() - gate.gold.keys())
    if changed:
        notes.append(f"labels changed or removed: {', '.join(changed[:10])}{' …' if len(changed) > 10 else ''}")
        if "labels" not in accept:
            yield "labels-changed"
    if added:
        notes.append(f"labels-added: {counted(len(added), 'item')} that the pinned file lacks")
    now, then = judge.asked, gate.judge.asked
    if (judge.settings, now.get("orders")) != (gate.judge.settings, then.get("orders")):
        names = dict.fromkeys(
            name
            for one, other in zip_longest(judge.settings, gate.judge.settings, fillvalue=dict[str, Any]())
            for name in sorted({*one, *other})
            if one.get(name) != other.get(name)
        )
        notes.append(f"judge changed: {', '.join(names) or 'orders'}")
        if "judge" not in accept:
            yield "judge-changed"
    models, pinned = set(now.get("models", ())), set(then.get("models", ()))
    if not models and judge.settings:
        notes.append("model-unknown: the server reports no model")
    elif pinned and models != pinned:
        notes.append(f"model changed: {', '.join(sorted(pinned))} → {', '.join(sorted(models))}")
        if "model" not in accept:
            yield "model-changed"
    if models == pinned and now.get("fingerprints", []) != then.get("fingerprints", []):
        notes.append("the server's fingerprint is another one")


def _drift(gate: Gate, result: CheckResult, judge: CheckedJudge, shared: Sequence[str], alpha: float) -> dict[str, Any]:
    """Changed verdicts on shared items, and the paired difference of right ones, by cluster."""
    kind, pinned, own = gate.labels.kind, gate.judge.verdicts, [result.clusters[i] for i in shared]
    changes = Counter((pinned.get(i) or "none", judge.verdicts.get(i) or "none") for i in shared)
    before, after = (_goodness(kind, result.gold, found, shared) for found in (pinned, judge.verdicts))
    gaps = after - before
    test = sign_flips(gaps, own)
    worse, better = int((gaps < 0).sum()), int((gaps > 0).sum())
    single = len(set(own)) == len(shared) and kind != "numeric"
    # The interval that belongs to the test: Tango's for independent items, else the one by clusters.
    interval = tango_ci(worse, better, len(shared)) if single else flip_ci(gaps, own, test)
    return {
        "items": len(shared), "worse": worse, "better": better, "difference": float(gaps.mean()),
        "ci95": list(interval), "p": test.p, "worse_p": _one_sided(gaps, test.p),
        "changed": {f"{a} → {b}": n for (a, b), n in sorted(changes.items()) if a != b},
        "expected_share": None if gate.equal_pairs is None else 1 - gate.equal_pairs,
        "changed_share": sum(n for (a, b), n in changes.items() if a != b) / len(shared), "alpha": alpha,
    }  # fmt: skip


def _goodness(kind: Kind, gold: Mapping[str, str], verdicts: Mapping[str, str | None], order: Sequence[str]) -> Floats:
    """1 or 0 for a right or wrong verdict; of numbers minus the error, where a missing one counts as the widest."""
    if kind != "numeric":
        return np.array([float(verdicts.get(i) == gold[i]) for i in order])
    numbers = [float(gold[i]) for i in order]
    widest = max(numbers) - min(numbers)
    return np.array(
        [-abs(float(v) - g) if (v := verdicts.get(i)) else -widest for i, g in zip(order, numbers, strict=True)]
    )


def _one_sided(gaps: Floats, p: float) -> float:
    """The one-sided p of a drop: the sign flips are symmetric, so it is half of the two-sided p below 0."""
    return p / 2 if float(gaps.sum()) < 0 else 1 - p / 2


def lines_of(found: GateResult) -> Iterator[str]:
    """The result for the console; the last line is for programs."""
    if drift := found.drift:
        yield (
            f"on {drift['items']} shared items {drift['worse']} became wrong, {drift['better']} right: "
            f"{drift['difference']:+.3f} [{drift['ci95'][0]:+.3f}, {drift['ci95'][1]:+.3f}], one-sided p "
            f"{drift['worse_p']:.3g}"
        )
        if drift["changed"]:
            yield "changed verdicts: " + ", ".join(f"{change} {n}" for change, n in drift["changed"].items())
    yield from (f"note: {note}" for note in found.notes)
    yield f"gate: {found.status}" + (f" {','.join(found.reasons)}" if found.reasons else "")


def markdown_of(found: GateResult, judge: CheckedJudge) -> str:
    """A summary for the comment of a pull request."""
    word = f"{judge.name}: **{judge.decision.word}** ({judge.decision.because})"
    head = f"### judge-r1 labels gate: {found.status}\n\n{word}\n"
    table = ["| requirement | value | lower limit | state |", "| --- | --- | --- | --- |"]
    for one in judge.decision.checked:
        value, lower = ("none" if x is None else f"{x:.2f}" for x in (one.measured.value, one.measured.lower))
        table.append(f"| `{one.requirement}` | {value} | {lower} | {one.state} |")
    return "\n".join([head, *table, "", *(f"- {line}" for line in lines_of(found)), ""])


def junit_of(found: GateResult, judge: CheckedJudge) -> str:
    """JUnit's XML: one case for each requirement and one for the comparison."""
    checked = [(str(one.requirement), one.state != "met", str(one.state)) for one in judge.decision.checked]
    cases = [*checked, ("unchanged", found.status == "fail", ",".join(found.reasons) or found.status)]
    failures = sum(failed for _, failed, _ in cases)
    body = "".join(
        f"<testcase classname={quoteattr(judge.name)} name={quoteattr(name)}>"
        + (f"<failure message={quoteattr(text)}>{escape(text)}</failure>" if failed else "")
        + "</testcase>"
        for name, failed, text in cases
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="judge-r1 labels gate" '
        f'tests="{len(cases)}" failures="{failures}">{body}</testsuite>\n'
    )
