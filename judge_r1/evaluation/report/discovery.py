"""Finds training runs and evaluations in folders, and matches evaluated judges to runs."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.core.folders import lacks, name_below
from judge_r1.episode.config import EpisodeConfig, RecipeHead
from judge_r1.evaluation.folder import LRBENCH, read_started, read_summary
from judge_r1.files.evaluation_files import ROWS, SUMMARY, check_outcomes
from judge_r1.files.run_log import DataRecord, ExamplesRecord, read_rows
from judge_r1.files.strict_json import read_model
from judge_r1.files.yaml_config import read as read_yaml


class NothingToReport(JudgeError):
    """A folder without a training run or an evaluation, or with invalid files."""


@dataclass(frozen=True)
class TrainingRun:
    """A run folder as a report needs it. `values` are all keys of its recipe. `size` is the number of labelled pairs
    (SFT: examples) that it was trained on, None if unknown; `method` is the paper's name of its training method."""

    name: str
    folder: Path
    recipe: RecipeHead
    values: Mapping[str, Any]
    metrics: list[dict[str, Any]]
    size: int | None
    method: str

    @property
    def stage(self) -> str:
        """sft, dpo or grpo."""
        return self.recipe.stage

    @property
    def progress(self) -> float:
        """The share of its steps that the metrics hold; 0 without any."""
        return max((row["progress"] for row in self.metrics if "progress" in row), default=0.0)

    @property
    def has_model(self) -> bool:
        return (self.folder / "model" / "config.json").exists()

    @property
    def cut(self) -> bool:
        """Whether the run is finished, but its metrics are those of a part of it."""
        return 0 < self.progress < 1 and self.has_model

    @property
    def unfinished(self) -> bool:
        """Whether the run was stopped, or still trains. A finished run may lack its model, which somebody removed."""
        return self.progress < 1 and not self.has_model


class Judged(NamedTuple):
    """An evaluation folder: its summary.json and its rows.json (judge, settings and items of each panel)."""

    folder: Path
    summary: Mapping[str, Any]
    judges: Mapping[str, Mapping[str, Any]]

    @property
    def benchmark(self) -> str:
        return str(self.summary.get("benchmark", LRBENCH))

    def items(self, row: str) -> str:
        """An id of the items of a panel: equal for panels that were measured on the same items."""
        shown = {one["name"] for one in self.summary["rows"]}  # rows.json also has judges that gave no result
        known = {entry["items"] for name, entry in self.judges.items() if name in shown}
        beside = known.pop() if len(known) == 1 else str(self.folder)  # a baseline has no entry
        return str(self.judges.get(row, {}).get("items", beside))

    def judge(self, row: str) -> str:
        """An id of the judge of a panel: equal for panels of the same judge. A baseline is known by its name."""
        return str(self.judges.get(row, {}).get("judge", row))


@dataclass(frozen=True)
class Evaluated:
    """All evaluations, in `judged`. The other fields cover only LRBench evaluations, which have principles: the rows of
    summary.json, the training run of each row by name, and the number of different sets of pairs."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    runs: dict[str, TrainingRun] = field(default_factory=dict)
    pair_sets: int = 0
    judged: list[Judged] = field(default_factory=list)
    unfinished: Sequence[str] = ()
    """Notes on evaluations without a summary, and on judges that a summary lacks."""

    @property
    def trained(self) -> list[tuple[dict[str, Any], TrainingRun]]:
        """The rows of judges whose training run is known, each with its run."""
        return [(row, self.runs[row["name"]]) for row in self.rows if row["name"] in self.runs]

    @property
    def summary(self) -> dict[str, Any]:
        return {"rows": self.rows, "differences": self.differences, "seconds": self.seconds}


def method(stage: str, episode: EpisodeConfig, *, warm: bool) -> str:
    """The paper's name of a method (Table 4): GRPO (an alias of Judge-R1-fc), Judge-R1-warm-fc-search and so on. SFT
    and DPO mean full context without search; other settings are appended, as in SFT-search."""
    parts = {"fc": episode.context == "full", "search": episode.effective_budget.max_searches > 0}
    named = [name for name, there in parts.items() if there] or ["blind"]
    grpo = stage == "grpo"
    if named == ["fc"] and not (grpo and warm):
        return stage.upper()
    return "-".join([*(["Judge-R1", *["warm"] * warm] if grpo else [stage.upper()]), *named])


def find_runs(folders: Sequence[Path]) -> tuple[list[TrainingRun], Evaluated]:
    """The runs and evaluations in the folders. Each folder may be a run, an evaluation, or a parent of these.

    Raises:
        NothingToReport: A folder holds no run and no evaluation, no evaluation is finished, or a file is invalid.
    """
    found: dict[Path, Path] = {}
    for folder in folders:
        inside = [folder] if _holds(folder) else []
        if not (folder / "recipe.yaml").exists() and folder.is_dir():
            inside += sorted(path for path in folder.iterdir() if path.is_dir() and _holds(path))
        if not inside:
            raise NothingToReport(
                lacks(folder, "training run (recipe.yaml) and no evaluation (summary.json), nor do its folders")
                + (name_below(folder, SUMMARY) or name_below(folder, "recipe.yaml"))
            )
        found |= {path.absolute(): path for path in inside}
    unfinished = [note for path in found.values() if (path / ROWS).exists() and (note := _unfinished(path))]
    runs = _with_unique_names([_run(path) for path in found if (path / "recipe.yaml").exists()])
    finished = [path for path in found if (path / SUMMARY).exists()]
    if not runs and not finished:
        raise NothingToReport("; ".join(unfinished))
    return runs, replace(_evaluated(finished, runs), unfinished=unfinished)


def _holds(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("recipe.yaml", SUMMARY, ROWS))


def _unfinished(folder: Path) -> str | None:
    """A note on an evaluation without a summary, or with a summary that lacks judges that have started."""
    if not (folder / SUMMARY).exists():
        return (
            f"{folder} holds an evaluation that has not finished (no {SUMMARY}): run its command again with --resume, "
            "or leave the folder out"
        )
    rows = {row["name"] for row in read_summary(folder)["rows"]}
    lacking = ", ".join(name for name in read_started(folder) if name not in rows)
    return (
        f"{folder} also holds {lacking}, which its summary omits: `eval` with all judges and --resume includes them"
        if lacking
        else None
    )


def _run(folder: Path) -> TrainingRun:
    (recipe, values), log = _recipe(folder / "recipe.yaml"), folder / "metrics.jsonl"
    rows = read_rows(log)
    lines = Counter(json.dumps(row, sort_keys=True) for row in rows)
    if repeated := [line for line, count in lines.items() if count > 1]:
        step = json.loads(repeated[0])["step"]
        raise NothingToReport(f"{log} has a line of step {step} twice: remove the lines that repeat others")
    name = method(recipe.stage, recipe.episode, warm=_warm(folder, recipe))
    return TrainingRun(folder.name, folder, recipe, values, rows, _size(folder, recipe), name)


def _recipe(file: Path) -> tuple[RecipeHead, dict[str, Any]]:
    """The resolved recipe of a run, and all its keys: this package cannot import the training package.

    Raises:
        NothingToReport: The file is not a resolved recipe.
    """
    values = read_yaml(file, files=("start",))
    with invalid_as(NothingToReport, f"{file} is not a recipe that `judge-r1 train` writes"):
        return RecipeHead.model_validate(values), values


def _with_unique_names(runs: list[TrainingRun]) -> list[TrainingRun]:
    """Adds the name of the parent folder to runs whose folders have the same name."""
    names = [run.name for run in runs]
    return [run if names.count(run.name) == 1 else replace(run, name="/".join(run.folder.parts[-2:])) for run in runs]


def _from(folder: Path, path: Path) -> Path:
    """Resolves a path of a recipe, relative to the current directory or else to a parent of the run folder."""
    return next(
        (candidate for candidate in (path, *(above / path for above in folder.parents)) if candidate.exists()), path
    )


def _warm(folder: Path, recipe: RecipeHead) -> bool:
    """True if the run starts from a model that was fine-tuned on rationales."""
    if recipe.start is not None:
        return recipe.start.stage == "sft"
    before = _from(folder, Path(recipe.model).parent / "recipe.yaml")
    return before.exists() and _recipe(before)[0].stage == "sft"


def _size(folder: Path, recipe: RecipeHead) -> int | None:
    if (folder / "traces.json").exists():
        raise NothingToReport(f"{folder / 'traces.json'} is called examples.json now: rename the file")
    if recipe.stage == "sft" and (folder / ExamplesRecord.NAME).exists():
        return read_model(ExamplesRecord, folder / ExamplesRecord.NAME).used
    if (folder / DataRecord.NAME).exists():
        return read_model(DataRecord, folder / DataRecord.NAME).pairs
    return None


def _evaluated(folders: Sequence[Path], runs: Sequence[TrainingRun]) -> Evaluated:
    found = Evaluated()
    sets, seen = set(), []
    # Those with rows.json first: of an evaluation and a copy of its summary, the one that names its judges counts.
    for folder in sorted(folders, key=lambda path: not (path / ROWS).exists()):
        summary = read_summary(folder)
        check_outcomes(folder, summary)
        if summary in seen:  # a copy, such as the one that the demo writes beside its runs
            continue
        seen.append(summary)
        judges = read_started(folder)
        found.judged.append(Judged(folder, summary, judges))
        if found.judged[-1].benchmark != LRBENCH:
            continue
        taken = {row["name"] for row in found.rows}
        names: dict[str, str] = {}
        for row in summary["rows"]:
            name, judge = row["name"], judges.get(row["name"], {})
            rule = row.get("settings", {}).get("baseline", False)
            if rule and row in found.rows:  # of another evaluation of the same items
                names[name] = name
                continue
            names[name] = f"{folder.name}/{name}" if name in taken else name
            if not rule:  # which has no entry beside the judges
                sets.add(judge.get("items", str(folder)))
            found.rows.append(row | {"name": names[name]})
            if run := _run_of(judge.get("judge", ""), runs):
                found.runs[names[name]] = run
        found.differences.extend(d | {"a": names[d["a"]], "b": names[d["b"]]} for d in summary["differences"])
        found.seconds.update({names.get(name, name): value for name, value in summary["seconds"].items()})
    return replace(found, pair_sets=len(sets))


def _run_of(judge: str, runs: Sequence[TrainingRun]) -> TrainingRun | None:
    """The run whose model a judge SPEC names. The SPEC may hold a path relative to another directory, so a run matches
    if its folder is the only one that ends in that path."""
    model = Path(judge.partition("@")[2])
    if model.name != "model":
        return None
    parts = model.parent.parts
    fits = [run for run in runs if run.folder.parts[-len(parts) :] == parts] if parts else []
    return fits[0] if len(fits) == 1 else None


def metrics_of(runs: Sequence[TrainingRun]) -> Mapping[str, list[dict[str, Any]]]:
    """The metrics of the runs that have any, by name."""
    return {run.name: run.metrics for run in runs if run.metrics}
