"""Your own texts, scored by your own checklist or rubric file.

`--path` is JSON Lines, JSON or CSV with `instruction` and `response`, and optionally `id`, `system`, `category`, and
people's scores: `overall` from 0 to 10. `--subset` is the rubric file (`judge_r1.files.rubric_file`), which may have a
list of criteria for each category.
"""

from hashlib import sha256
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark
from judge_r1.benchmarks.checklist.agreement import human_correlation
from judge_r1.benchmarks.checklist.items import ChecklistEntry, checklist_benchmark
from judge_r1.core.checklist import OVERALL_BEST, Checklist
from judge_r1.core.record_base import content_hash
from judge_r1.files.rubric_file import checklist_for, read_rubric
from judge_r1.files.tabular import Row, rows


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """An item is one text; its score is the weighted rubric in [0, 1]. Groups are the categories, clusters the
    instructions."""
    if not subset:
        raise BadBenchmark("checklist needs your criteria: give --subset FILE, a JSON, YAML or TOML rubric")
    rubric = read_rubric(Path(subset))
    entries: dict[str, ChecklistEntry] = {}
    for row in rows(path):
        entry = _entry(row, rubric)
        if entry.item_id in entries:
            raise row.error("id", f"repeats {entry.item_id!r}")
        entries[entry.item_id] = entry
    name = f"{Path(subset).name} {sha256(Path(subset).read_bytes()).hexdigest()[:16]}"
    if all(entry.gold_overall is None for entry in entries.values()):
        return checklist_benchmark(list(entries.values()), name)
    return checklist_benchmark(
        list(entries.values()), name, lambda results: human_correlation({"judge": results}), human_correlation
    )


def _entry(row: Row, rubric: dict[str, Checklist]) -> ChecklistEntry:
    instruction, response = row.text("instruction"), row.text("response")
    if not response.strip():
        raise row.error("response", "must not be blank")
    category = row.name("category") if "category" in row.values else ""
    system = row.name("system") if "system" in row.values else "all"
    own = row.name("id") if "id" in row.values else content_hash(instruction)
    return ChecklistEntry(
        item_id=f"{system}/{own}",
        cluster_id=content_hash(instruction),
        group=category or "all",
        system=system,
        instruction=instruction,
        response=response,
        checklist=checklist_for(rubric, category, row.where),
        gold_overall=_overall(row),
    )


def _overall(row: Row) -> float | None:
    value = row.values.get("overall")
    return None if value in (None, "") else row.bounded("overall", value, OVERALL_BEST)


BENCHMARKS.register("checklist")(
    Benchmark(
        "your own texts, scored by your own checklist or rubric",
        "JSON Lines, JSON or CSV with instruction and response; optionally id, system, category, overall",
        load,
        verified=True,
        subsets="the rubric file (required)",
    )
)
