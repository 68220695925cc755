"""Splits pairs by case. Cases of one group (`meta.group`) and near-duplicate cases stay together."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from data_builders.dataset_type import read_report
from data_builders.progress import TIMING_FILE, run_timing
from data_builders.prompt_lengths import LengthAudit
from data_builders.splits.index import SETS, PairIndex, Part, read_index, write_parts
from data_builders.splits.policy import Groups, Plan, held_out
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import by_number
from judge_r1.core.text_check import are, counted
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import dump_json, dump_line, write_json, write_jsonl
from judge_r1.files.pair_set import PairSet
from judge_r1.files.partial_files import remove_partial_files

REPORT_FILE, DUPLICATES_FILE = "split.json", "near_duplicates.jsonl"
HELD_OUT = ("dev", "test")


def refuse_other_split(out: Path, folders: Sequence[Path], settings: Mapping[str, Any]) -> None:
    """Compare a split with the one that `out` holds: another one may move cases from a training set to the test set.

    Raises: JudgeError if they differ in the folders or in a setting.
    """
    file = out / REPORT_FILE
    if not file.is_file():
        return
    report = read_report(file)
    if not isinstance(report.get("folders"), list) or not isinstance(report.get("settings"), dict):
        raise JudgeError(f"{file} was not written by judge-r1 split: choose another --out")
    held = {"pairs": [str(Path(folder).resolve()) for folder in report["folders"]], **report["settings"]}
    wanted = {"pairs": [str(folder.resolve()) for folder in folders], **settings}
    if differ := [name for name in {**held, **wanted} if held.get(name) != wanted.get(name)]:
        before, now = (" and ".join(_option(name, made.get(name)) for name in differ) for made in (held, wanted))
        raise JudgeError(
            f"{out} holds a split with {before}, and this one has {now}: choose another --out, or add --overwrite to "
            "replace it"
        )


def _option(name: str, value: Any) -> str:
    shown = ",".join(map(str, value)) if isinstance(value, list) else value
    if name == "pairs":
        return f"the pairs of {shown}"
    flag = f"--{name.replace('_', '-')}"
    return f"no {flag}" if value is None else f"{flag} {shown}"


def split_by_case(data: PairSet, test_share: float, seed: int = 0) -> tuple[PairSet, PairSet]:
    """(train, test). Groups are ranked by a hash of name and seed, and the first `test_share` of them are the test set,
    so a larger share contains a smaller one."""
    groups = {case_id: case.group for case_id, case in data.cases.items()}
    chosen, _ = held_out(groups.values(), test_share, seed)
    return _part(data, groups, chosen, inside=False), _part(data, groups, chosen, inside=True)


def split(
    folders: Sequence[Path],
    out: Path,
    plan: Plan,
    *,
    near: Literal["group", "fail"] = "group",
    audit: LengthAudit | None = None,
    leave_out: bool = False,
) -> dict[str, Any]:
    """Write the parts of a plan as folders, split.json (contents and shortages, returned), near_duplicates.jsonl and,
    with an `audit`, too_long.jsonl. `leave_out` excludes over-long pairs.

    Raises: JudgeError if `near` is "fail" and near duplicates are on both sides (near_duplicates.jsonl lists them), or
    another process writes to `out`.
    """
    started = time.monotonic()
    if out.resolve() in {folder.resolve() for folder in folders}:
        raise JudgeError(f"{out} holds the pairs themselves: give another --out for the parts")
    with lock_folder(out):
        remove_partial_files(*filter(Path.is_dir, out.iterdir()))  # of a split into other parts
        index = read_index(
            folders, (lambda pair, case: audit.fits(pair, case) or not leave_out) if audit else lambda pair, case: True
        )
        if not index.pairs:
            raise JudgeError("every pair is over --max-prompt-tokens: no pair is left to split")
        from data_builders.splits.near_duplicates import THRESHOLD, NearDuplicates

        duplicates = NearDuplicates(index)
        groups = duplicates.groups(joined=near == "group")
        parts = plan.parts(index, groups)
        sides = {
            "train": frozenset[str]().union(*(part.cases for name, part in parts.items() if name not in HELD_OUT)),
            **{name: parts[name].cases for name in HELD_OUT if name in parts},
        }
        if crossing := duplicates.crossing(sides):
            write_jsonl(out / DUPLICATES_FILE, crossing)
            raise JudgeError(
                f"{counted(len(crossing), 'pair')} of nearly alike cases {are(len(crossing))} on both sides of the "
                f"split ({out / DUPLICATES_FILE} lists them): put them on one side with --near-duplicates group"
            )
        rows = duplicates.rows(sides)
        reports = {DUPLICATES_FILE: "".join(map(dump_line, rows))}
        report: dict[str, Any] = {
            "folders": [str(folder) for folder in folders],
            "settings": dict(plan.settings),
            "cases": len(index.cases),
            "pairs": len(index.pairs),
            "repeated": dict(sorted(index.repeated.items())),
            "groups": len(set(groups.values())),
            "near_duplicates": {"threshold": THRESHOLD, "pairs": len(rows), "across": len(crossing)},
        }
        if audit:
            counts = {"limit": audit.limit, "over": len(audit.too_long), "left_out": len(audit.too_long) * leave_out}
            report["prompt_tokens"] = {**counts, "by_domain": audit.summary()}
            reports["too_long.jsonl"] = "".join(map(dump_line, audit.too_long))
        report["parts"] = {name: _contents(index, part) for name, part in parts.items()}
        write_parts(index, parts, out, {**reports, REPORT_FILE: dump_json(report)})
        write_json(out / TIMING_FILE, run_timing(started))
        return report


def _contents(index: PairIndex, part: Part) -> dict[str, Any]:
    """The contents of a part by set, side and principle (a pair counts under every principle it violates), and its
    shortages."""
    pairs = [pair for pair in index.pairs if pair.pair_id in part.pairs]
    sets = Counter((pair.case.domain, pair.set) for pair in pairs)
    by_set = {domain: {name: sets[domain, at] for at, name in enumerate(SETS)} for domain in index.domains}
    wanted = part.wanted or 0
    missing = {d: {name: wanted - n for name, n in counts.items() if n < wanted} for d, counts in by_set.items()}
    return {
        "cases": len(part.cases),
        "pairs": len(pairs),
        "a_better": sum(pair.preferred == "A" for pair in pairs),
        "by_set": by_set,
        "by_principle": dict(sorted(Counter(by_number(n).code for pair in pairs for n in pair.violated).items())),
        **({"nominal": part.nominal} if part.nominal else {}),
        **({"short": {domain: counts for domain, counts in missing.items() if counts}} if part.wanted else {}),
    }


def _part(data: PairSet, groups: Groups, chosen: set[str], *, inside: bool) -> PairSet:
    cases = [case for case in data.cases.values() if (groups[case.case_id] in chosen) == inside]
    case_ids = {case.case_id for case in cases}
    return PairSet.of(cases, [pair for pair in data.pairs if pair.case_id in case_ids])
