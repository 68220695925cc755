"""Asks a judge about labelled items, as an evaluation does: each answer is on disk at once, and a run resumes."""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from os.path import isfile
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from judge_r1.benchmarks.base import LoadedBenchmark, both_orders, one_order, pairwise_request
from judge_r1.core.items import AggregatedVerdict, Item, Vote
from judge_r1.core.text_check import counted
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, ScoresVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.runner import evaluate
from judge_r1.evaluation.vote_failures import VotesMissing
from judge_r1.judges.base import Judge, JudgeBuild
from judge_r1.judges.panel import JudgePanel, make_panel
from judge_r1.judges.prompted import answer_prompt
from judge_r1.judges.request import CustomPrompt
from judge_r1.labels.gold import gold_of
from judge_r1.labels.kinds import BadLabels, Scheme
from judge_r1.labels.rows import LabelledItem, Labels
from judge_r1.labels.verdicts import JudgeVerdicts
from judge_r1.statistics.position_bias import Answer

DEFAULT_TEMPLATE = Template(
    "Judge the output below.\n\nInput:\n$input\n\nContext:\n$context\n\nReference:\n$reference\n\nOutput:\n$output"
    "$trace\n\nAnswer with one word alone, and nothing else: ALLOWED."
)
"""Asks for a label where the judge's SPEC has no template of its own."""


def item_of(item: LabelledItem) -> Item:
    """A labelled item as an item of a benchmark, whose gold no judge sees."""
    pair = "a" in item.texts
    candidates = (
        (item.texts["a"], item.texts["b"]) if pair else (item.texts.get("output") or item.texts.get("trace", ""),)
    )
    return Item(
        item_id=item.id, cluster_id=item.cluster, instruction=item.texts.get("input", ""), candidates=candidates,
        gold="A" if pair else 1,
    )  # fmt: skip


def as_benchmark(labels: Labels, items: Sequence[LabelledItem], orders: int, answers: Sequence[str]) -> LoadedBenchmark:
    """The items as a benchmark. The items themselves hold no labels: what is asked, and what a resume finds, does not
    depend on them. The score is for the progress line."""
    gold = gold_of(labels).labels

    def aggregate(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
        found = _label(labels.scheme, answers, [vote for vote in votes if vote.sample == 0])
        return AggregatedVerdict(
            verdict=votes[0].verdict, score=float(found is not None and found == gold.get(item.item_id))
        )

    if silent := [item.id for item in items if not item.texts]:
        raise BadLabels(f"{labels.path}: {counted(len(silent), 'item')} have no text to judge, such as {silent[0]}")
    texts = {item.id: _texts(labels, item) for item in items}
    shown = ", ".join(labels.scheme.answers)
    template = Template(DEFAULT_TEMPLATE.template.replace("ALLOWED", shown))

    @cache  # repeats ask the same
    def prompt(item_id: str) -> CustomPrompt:
        return answer_prompt(template, texts[item_id], labels.scheme.answers)

    def task(item: Item, order: tuple[int, ...]) -> PairwiseTask | CustomPrompt:
        if len(order) == 2:
            pair = pairwise_request(item, order)
            return replace(pair, context=texts[item.item_id].get("context", ""))
        return prompt(item.item_id)

    pairs = labels.scheme.kind == "pairwise"
    return LoadedBenchmark(
        [item_of(item) for item in items], task=task, aggregate=aggregate,
        presentation_orders=both_orders if pairs and orders == 2 else one_order if pairs else lambda item: [(0,)],
    )  # fmt: skip


def _texts(labels: Labels, item: LabelledItem) -> Mapping[str, str]:
    """The texts of an item; a trace that names a file is the text of that file's trace."""
    trace = item.texts.get("trace", "")
    if not trace or len(trace) > 1000 or "\n" in trace or not isfile(path := labels.path.parent / trace):
        if re.fullmatch(r"\S+\.jsonl?", trace):
            raise BadLabels(f"item {item.id}: its trace {trace} is no file below {labels.path.parent}")
        return item.texts
    from judge_r1.traces import read_events
    from judge_r1.traces.trace import trace_text

    return {**item.texts, "trace": trace_text(read_events(path))}


def ask(
    labels: Labels, items: Sequence[LabelledItem], spec: str, out: Path, *, repeats: int, orders: int, resume: bool,
    build: JudgeBuild,
) -> JudgeVerdicts:  # fmt: skip
    """The verdicts of the judge `spec` on `items`; its answers go to `out`.

    Raises:
        BadJudge: The judge cannot be built, or does not answer such items.
        EndpointError, NoAnswers: The server does not answer.
    """
    panel = replace(make_panel(spec, build), samples=repeats)
    if panel.orders is not None:
        orders = panel.orders
    answers = _answers(panel) or labels.scheme.answers
    _check_answers(panel.name, answers, labels.scheme)
    benchmark = as_benchmark(labels, items, orders, answers)
    started = time.monotonic()
    unanswered = 0
    try:
        results = evaluate(panel, benchmark, out=out, resume=resume)
    except VotesMissing as error:  # of items whose requests failed there is no verdict
        results, unanswered = error.results, len(items) - len(error.results.items)
    seconds = round(time.monotonic() - started, 1)
    how = {"spec": spec, "seconds": seconds, "orders": orders, "repeats": repeats}
    return _verdicts(labels.scheme, answers, panel, results, how, unanswered)


def _verdicts(
    scheme: Scheme,
    answers: Sequence[str],
    panel: JudgePanel,
    results: PanelResults,
    asked: Mapping[str, Any],
    unanswered: int,
) -> JudgeVerdicts:
    replies = results.usage.replies
    seconds: list[float] = []
    given = JudgeVerdicts(
        name=panel.name, verdicts={}, unanswered=unanswered,
        asked={
            **asked, "usage": results.usage.counts, "settings": {"members": [_settings(j) for j in panel.members]},
            "warnings": results.usage.warnings(), "models": sorted(replies.get("model", ())),
            "fingerprints": sorted(replies.get("system_fingerprint", ())),
        },
    )  # fmt: skip
    for result in results.items:
        item, votes = result.item_id, results.votes[result.item_id]
        by_sample = [[vote for vote in result.votes if vote.sample == sample] for sample in range(panel.samples)]
        found = tuple(_label(scheme, answers, own) for own in by_sample)
        given.verdicts[item] = found[0]
        if found[0] is None:
            given.missing[item] = _reason(by_sample[0])
        if panel.samples > 1:
            given.repeats[item] = found
        if len({vote.order for vote in by_sample[0]}) == 2:
            given.orders[item] = (_letter(by_sample[0], (0, 1)), _letter(by_sample[0], (1, 0)))
        if (confidence := by_sample[0][0].confidence) is not None:
            given.confidences[item] = confidence
        seconds.append(sum((stored.usage or {}).get("seconds", 0.0) for stored in votes))
        first = min(votes, key=lambda stored: stored.place)
        given.texts[item] = "\n".join(turn.text for turn in first.trajectory.turns)
    given.asked["requests"] = sum(len(result.votes) for result in results.items)
    each = {f"p{part}": float(np.percentile(seconds, part)) for part in (50, 95)} if any(seconds) else None
    given.asked["seconds_by_item"] = each
    return given


def _settings(judge: Judge) -> dict[str, Any]:
    """What a judge's answers depend on. The address of an endpoint is no part of it, and its model is."""
    kind, _, backend = judge.name.partition("@")
    return {"kind": kind, "model": backend.rpartition("#")[2], **judge.settings}


def _answers(panel: JudgePanel) -> tuple[str, ...]:
    """The answers of a judge with a template of its own. Raises: BadLabels if members have different ones."""
    own = {tuple(judge.settings.get("answers", ())) for judge in panel.members}
    if len(own) > 1:
        raise BadLabels(f"judge {panel.name!r}: its members answer in different words: give all the same answers=")
    return own.pop()


def _check_answers(name: str, answers: Sequence[str], scheme: Scheme) -> None:
    """Raises: BadLabels if a judge cannot answer with these labels."""
    if scheme.kind == "numeric":
        raise BadLabels(
            "a judge is asked for words or levels, and the labels are numbers: give --verdicts COLUMN, or --scale "
            "LOW-HIGH if they are whole numbers"
        )
    foreign = [answer for answer in answers if scheme.read(answer) is None]
    if foreign and scheme.kind == "ordinal":
        raise BadLabels(
            f"judge {name!r} answers {foreign[0]}, which is outside the scale {scheme.answers[0]}-{scheme.answers[-1]} "
            "of the labels: give --scale LOW-HIGH"
        )
    if len({scheme.read(answer) for answer in answers} - {None}) < 2:
        raise BadLabels(f"judge {name!r} answers {'/'.join(answers)}, and the labels are {'/'.join(scheme.answers)}")


def _label(scheme: Scheme, answers: Sequence[str], votes: Sequence[Vote]) -> str | None:
    """The label that the votes of one repeat stand for. Two orders of a pair that contradict each other are a tie where
    people have ties, else no verdict."""
    if scheme.kind == "pairwise":
        shown = [_letter(votes, order) for order in sorted({vote.order for vote in votes})]
        sides = {
            None if one is None else one if one == "tie" else "AB"["AB".index(one) ^ at] for at, one in enumerate(shown)
        }
        if len(sides) == 1:
            return scheme.read(side) if (side := sides.pop()) else None
        return "tie" if None not in sides and "tie" in scheme.answers else None
    words = [answers[int(vote.verdict.scores[0])] for vote in votes if isinstance(vote.verdict, ScoresVerdict)]
    (word, most), *rest = Counter(words).most_common() or [("", 0)]
    return None if not most or (rest and rest[0][1] == most) else scheme.read(word)


def _letter(votes: Sequence[Vote], order: tuple[int, ...]) -> Answer:
    """The letter that most members wrote in one order."""
    given = [vote.verdict.winner for vote in votes if vote.order == order and isinstance(vote.verdict, PairwiseVerdict)]
    if not given:
        return None
    (letter, most), *rest = Counter(given).most_common()
    return None if rest and rest[0][1] == most else letter


def _reason(votes: Sequence[Vote]) -> str:
    reasons = [vote.verdict.reason for vote in votes if isinstance(vote.verdict, InvalidVerdict)]
    return reasons[0] if reasons else "orders_disagree"
