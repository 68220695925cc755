"""Gold for the texts of HelloBench: human annotations, released judgements, or the results of another evaluation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.checklist.agreement import item_scores
from judge_r1.benchmarks.checklist.items import ChecklistEntry
from judge_r1.benchmarks.hellobench.annotations import Annotation, averaged, read_annotations
from judge_r1.benchmarks.hellobench.files import read_responses, released_scores, systems_in
from judge_r1.benchmarks.hellobench.options import HelloBenchOptions
from judge_r1.core.evaluation_files import OUTCOMES, SUMMARY, check_outcomes, check_summary
from judge_r1.core.items import ItemResult
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.strict_json import read_json
from judge_r1.core.text_check import counted


def add_gold(
    entries: Sequence[ChecklistEntry], options: HelloBenchOptions, *, part: bool = False
) -> list[ChecklistEntry]:
    """The entries with the gold of `human` and `gold`. Raises: BadBenchmark if a file matches no entry, unless they are
    a `part` of the texts."""
    if options.human:
        entries = _with_humans(entries, options.human, part=part)
    if options.gold:
        found = _item_scores(options.gold, entries)
        if not part and not any(entry.item_id in found for entry in entries):
            raise BadBenchmark(f"{options.gold} scores none of the texts to judge: its systems and ids are others")
        entries = [replace(entry, gold_scores=found.get(entry.item_id, entry.gold_scores)) for entry in entries]
    return list(entries)


def _with_humans(entries: Sequence[ChecklistEntry], path: Path, *, part: bool) -> list[ChecklistEntry]:
    """Annotations belong to a text by the id of its instruction and its system. Several annotators are averaged."""
    skipped: Counter[str] = Counter()
    found: dict[tuple[str, str], Annotation] = {}
    for own in averaged(list(read_annotations(path, skipped))):
        known = found.setdefault((own.id, own.system), own)
        if known is not own:
            raise BadBenchmark(
                f"{own.where}: scores {own.id!r} as category {own.category!r}, and {known.where} as "
                f"{known.category!r}: an instruction has one category"
            )
    matched = 0
    result = []
    for entry in entries:
        one = found.get((entry.cluster_id, entry.system))
        if one is not None and len(one.scores) != len(entry.checklist.criteria):
            raise BadBenchmark(
                f"{one.where}: has {len(one.scores)} item scores, and the checklist of {entry.cluster_id} has "
                f"{counted(len(entry.checklist.criteria), 'question')}"
            )
        matched += one is not None
        result.append(entry if one is None else replace(entry, gold_scores=one.scores, gold_overall=one.overall))
    if not matched and not part:
        raise BadBenchmark(
            f"{path} scores none of the texts to judge: rows need `id` (of the instruction) and `system` as in the "
            "responses"
        )
    return result


def _item_scores(path: Path, entries: Sequence[ChecklistEntry]) -> dict[str, tuple[float, ...]]:
    """Item scores by item id, from an evaluation of one judge or from released judgements."""
    found: dict[str, tuple[float, ...]] = {}
    if (path / OUTCOMES).is_file():
        summary = read_json(path / SUMMARY)
        check_summary(path, summary)
        check_outcomes(path, summary)
        results = list(read_jsonl(path / OUTCOMES, ItemResult))
        if len(judges := {result.judge for result in results}) > 1:
            raise BadBenchmark(f"{path} holds the judges {', '.join(sorted(judges))}: gold is of one judge")
        return {result.item_id: tuple(scores) for result in results if (scores := item_scores(result))}
    questions = {entry.item_id: len(entry.checklist.criteria) for entry in entries}
    for system, folder in systems_in(path).items():
        for response in read_responses(folder):
            item_id = f"{system}/{response.stem}/{response.id}"
            if item_id in questions and (scores := released_scores(response.row, questions[item_id])) is not None:
                found[item_id] = tuple(scores)
    return found
