"""What the trace browser of a report shows: every item, what each row made of it, and every game turn by turn.

Plain JSON, read by `static/browse.js`. A text that several items share, such as a case, stands in it once; token ids
and
log-probabilities do not. Places in texts are counted in UTF-16 units, as the browser counts them.
"""

import base64
import gzip
import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.items import Item, ItemResult
from judge_r1.core.records import Evidence, ReasoningPair, Span, Turn
from judge_r1.episode.segments import segments
from judge_r1.evaluation.report.labels import best_of, describe_verdict, gold_told, letter, settled_told
from judge_r1.evaluation.results import pair_outcomes
from judge_r1.evaluation.traces import Results, Trace

WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters that are two UTF-16 units."""


class Texts:
    """Texts by number, each held once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._wide: dict[str, list[int]] = {}

    def add(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)

    def span(self, text: str, start: int, end: int) -> list[int]:
        """A span of characters of `text` in UTF-16 units."""
        if text not in self._wide:
            self._wide[text] = [found.start() for found in WIDE.finditer(text)] if not text.isascii() else []
        return [at + bisect_left(self._wide[text], at) for at in (start, end)]


def browsed(results: Sequence[Results], settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The items of all rows, which must be those of one suite; `settings` name the members of rows with several."""
    suite, texts = results[0].suite, Texts()
    pairs = suite.pairs.by_id() if suite.pairs else {}
    rows = [_row(found) for found in results]
    items = [
        _item(item, suite.texts.get(item.case_id or ""), pairs.get(item.item_id), [row[i] for row in rows], texts)
        for i, item in enumerate(suite.items)
    ]
    members = [
        [member["judge"] for member in settings.get(found.row, {}).get("members", ())] for found in results
    ]  # fmt: skip
    return {"rows": [found.row for found in results], "members": members, "items": items, "texts": texts.all()}


def packed(data: Mapping[str, Any]) -> str:
    """JSON, gzipped, in base64: no text in it can be read as markup. Equal data give equal bytes."""
    raw = json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")
    return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii")


def _row(results: Results) -> list[dict[str, Any]]:
    """What a row made of each item, without its games' texts yet."""
    labelled = pair_outcomes(results) if results.suite.pairs else None
    made = []
    for i, outcome in enumerate(results.outcomes()):
        row = {
            "verdict": settled_told(outcome),
            "state": _state(outcome),
            "credit": outcome.score,
            "traces": results[outcome.item_id],
            "named": None,
            "hit": None,
        }
        if labelled and not labelled[i].valid:
            row["state"] = "invalid"
        if labelled and any(trace.trajectory.turns for trace in results[outcome.item_id]):
            row |= {"named": labelled[i].predicted, "hit": labelled[i].evidence_hit}
        made.append(row)
    return made


def _state(outcome: ItemResult) -> str:
    if not outcome.valid:
        return "invalid"
    return "right" if outcome.score == 1 else "wrong" if outcome.score == 0 else "part"


def _item(
    item: Item, case: str | None, pair: ReasoningPair | None, rows: Sequence[dict[str, Any]], texts: Texts
) -> dict[str, Any]:
    said = {row["verdict"] if row["state"] != "invalid" else "" for row in rows}
    return {
        "id": item.item_id,
        "cluster": item.cluster_id,
        "group": item.group,
        "ask": texts.add(item.instruction),
        "case": texts.add(case) if case else None,
        "candidates": [texts.add(text) for text in item.texts],
        "gold": gold_told(item),
        "best": best_of(item),
        "violated": list(pair.violated) if pair else [],
        "flaws": _flaws(pair, case or "", texts) if pair else [],
        "differ": len(said) > 1,
        "rows": [
            {key: value for key, value in row.items() if key != "traces"}
            | {"games": [_game(trace, item, case, texts) for trace in _in_order(row["traces"])]}
            for row in rows
        ],
    }


def _in_order(traces: Sequence[Trace]) -> list[Trace]:
    return sorted(traces, key=lambda trace: (trace.member, trace.sample, trace.order))


def _flaws(pair: ReasoningPair, case: str, texts: Texts) -> list[dict[str, Any]]:
    return [
        {
            "principle": flaw.principle,
            "operator": flaw.operator,
            "candidate": 1 if pair.preferred == "A" else 0,
            "span": texts.span(pair.flawed, flaw.span.start, flaw.span.end),
            "wanted": [_place(case, span, texts) for span in flaw.context_spans if span.end <= len(case)],
        }
        for flaw in pair.origin.flaws
    ]


def _place(text: str, span: Span | Evidence, texts: Texts) -> list[int]:
    return texts.span(text, span.start, span.end)


def _game(trace: Trace, item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    trajectory, game = trace.trajectory, trace.vote
    judgment = trajectory.judgment
    return {
        "order": [letter(place) for place in trace.order],
        "sample": trace.sample,
        "member": trace.member,
        "verdict": describe_verdict(trace.verdict, trace.order),
        "ended": trajectory.ended,
        "searches": trajectory.searches,
        "reward": trajectory.reward,
        "named": list(judgment.violated_principles) if judgment else None,
        "explanation": judgment.explanation if judgment else None,
        "confidence": game.confidence,
        "turns": [_turn(turn, item, case, texts) for turn in trajectory.turns],
    }


def _turn(turn: Turn, item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    return {
        "parts": [[part.kind, part.text.strip(), part.closed] for part in segments(turn.text)],
        "searched": turn.query is not None and turn.notice is None,
        "passages": [_passage(passage, item, case, texts) for passage in turn.passages],
        "dropped": turn.passages_dropped,
        "notice": turn.notice,
    }


def _passage(passage: Evidence, item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    """Its place in the item's case; its own text only where that says something else."""
    if case and passage.case_id == item.case_id and case[passage.start : passage.end] == passage.text:
        return {"at": _place(case, passage, texts), "score": passage.score}
    return {"at": None, "score": passage.score, "text": passage.text}
