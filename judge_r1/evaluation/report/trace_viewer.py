"""The data of a report's trace viewer: every item, the result of each judge, and every vote turn by turn.

Plain JSON, read by `static/browse.js`. A text that several items share, such as a case, is stored once; token ids and
log-probabilities are left out. Offsets in texts are in UTF-16 units, as the browser counts them.
"""

import base64
import gzip
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from tempfile import TemporaryFile
from typing import Any

from judge_r1.core.items import Item, ItemResult
from judge_r1.core.records import ReasoningPair, Turn
from judge_r1.core.verdicts import Evidence, describe_verdict, letter
from judge_r1.episode.thoughts import segments
from judge_r1.evaluation.report.labels import best_of, describe_gold, describe_result
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.traces import Trace

WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters that are two UTF-16 units."""
_PACKED = 2**16
"""Bytes of packed data that are given out together."""


class Texts:
    """A table of distinct texts; each text has a number. The texts are in a temporary file, their hashes in memory."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._file = TemporaryFile("w+", encoding="ascii")  # noqa: SIM115 (it is closed with the table)
        self._wide = lru_cache(64)(_wide_characters)

    def add(self, text: str) -> int:
        digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if (number := self._numbers.get(digest)) is None:
            number = self._numbers[digest] = len(self._numbers)
            self._file.write(_json(text) + "\n")
        return number

    def all(self) -> Iterator[str]:
        """The texts as JSON, in the order of their numbers."""
        self._file.seek(0)
        return (line.removesuffix("\n") for line in self._file)

    def span(self, text: str, start: int, end: int) -> list[int]:
        """The offsets of a span of characters of `text` in UTF-16 units."""
        return [at + bisect_left(self._wide(text), at) for at in (start, end)]


def _wide_characters(text: str) -> list[int]:
    return [] if text.isascii() else [found.start() for found in WIDE.finditer(text)]


def packed(parts: Iterable[str]) -> Iterator[str]:
    """The parts of a JSON text gzipped and in base64, so that no text in it can be read as markup. Equal parts give
    equal bytes."""
    packing = BytesIO()
    with gzip.GzipFile(fileobj=packing, mode="wb", compresslevel=6, mtime=0) as file:
        for part in parts:
            file.write(part.encode("ascii"))
            if packing.tell() > _PACKED:
                yield _whole_base64(packing)
    yield base64.b64encode(packing.getvalue()).decode("ascii")


def _whole_base64(packing: BytesIO) -> str:
    """Takes the bytes out of a buffer, except for those that would need padding."""
    data = packing.getvalue()
    end = len(data) // 3 * 3
    packing.seek(0)
    packing.truncate()
    packing.write(data[end:])
    return base64.b64encode(data[:end]).decode("ascii")


def trace_json(results: Sequence[PanelResults], settings: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The items that all panels have judged, which must be of one benchmark, as the parts of a JSON text. `settings`
    name the members of panels with several.

    Every item and every text is a part of its own, so that a long evaluation is not in memory together.
    """
    texts = Texts()
    members = [[one["judge"] for one in settings.get(found.panel, {}).get("members", ())] for found in results]
    yield f'{{"judges":{_json([found.panel for found in results])},"members":{_json(members)},"items":['
    found = [{result.item_id: result for result in panel.items} for panel in results]
    items = [item for item in results[0].benchmark.items if all(item.item_id in panel for panel in found)]
    for index, item in enumerate(items):
        own = [panel[item.item_id] for panel in found]
        yield ("," if index else "") + _json(_item(item, own, results, texts))
    yield '],"texts":['
    for index, text in enumerate(texts.all()):
        yield ("," if index else "") + text
    yield "]}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _state(outcome: ItemResult) -> str:
    if not outcome.valid:
        return "invalid"
    return "right" if outcome.score == 1 else "wrong" if outcome.score == 0 else "part"


def _item(item: Item, found: Sequence[ItemResult], panels: Sequence[PanelResults], texts: Texts) -> dict[str, Any]:
    benchmark = panels[0].benchmark
    case, pair = benchmark.texts.get(item.case_id or ""), benchmark.labels.get(item.item_id)
    rows = [
        _row(result, panel.traces[item.item_id], item, case, texts) for result, panel in zip(found, panels, strict=True)
    ]
    return {
        "id": item.item_id,
        "cluster": item.cluster_id,
        "group": item.group,
        "instruction": texts.add(item.instruction),
        "case": texts.add(case) if case else None,
        "candidates": [texts.add(candidate) for candidate in item.texts],
        "gold": describe_gold(item),
        "best": best_of(item),
        "violated": list(pair.violated) if pair else [],
        "flaws": _flaws(pair, case or "", texts) if pair else [],
        "differ": len({row["verdict"] if row["state"] != "invalid" else "" for row in rows}) > 1,
        "results": rows,
    }


def _row(result: ItemResult, traces: Sequence[Trace], item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    """The result of one panel on an item, with every vote."""
    labels = result.labels if any(trace.trajectory.turns for trace in traces) else None
    return {
        "verdict": describe_result(result),
        "state": _state(result),
        "score": result.score,
        "named": labels.predicted if labels else None,
        "hit": labels.evidence_hit if labels else None,
        "votes": [_vote(trace, item, case, texts) for trace in sorted(traces, key=lambda trace: trace.place)],
    }


def _flaws(pair: ReasoningPair, case: str, texts: Texts) -> list[dict[str, Any]]:
    return [
        {
            "principle": flaw.principle,
            "operator": flaw.operator,
            "candidate": 1 if pair.preferred == "A" else 0,
            "span": texts.span(pair.flawed, flaw.span.start, flaw.span.end),
            "wanted": [texts.span(case, span.start, span.end) for span in flaw.context_spans if span.end <= len(case)],
        }
        for flaw in pair.origin.flaws
    ]


def _vote(trace: Trace, item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    trajectory = trace.trajectory
    judgment = trajectory.judgment
    return {
        "order": [letter(index) for index in trace.order],
        "sample": trace.sample,
        "member": trace.member,
        "verdict": describe_verdict(trace.verdict, trace.order),
        "ended": trajectory.ended,
        "searches": trajectory.searches,
        "reward": trajectory.reward,
        "named": list(judgment.violated_principles) if judgment else None,
        "explanation": judgment.explanation if judgment else None,
        "confidence": judgment.confidence if judgment else None,
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
    """The offsets of a passage in the item's case, or its text if the case does not hold it."""
    if case and passage.case_id == item.case_id and case[passage.start : passage.end] == passage.text:
        return {"at": texts.span(case, passage.start, passage.end), "score": passage.score}
    return {"at": None, "score": passage.score, "text": passage.text}
