"""The data of a report's vote viewer: every item, the result of each judge, and every vote turn by turn.

Plain JSON, read by `static/browse.js`. A text that several items share, such as a case, is stored once; token ids and
log-probabilities are left out. Offsets in texts are in UTF-16 units, as the browser counts them.

A report of at most `ONE_FILE` items is one file. Of more, the page holds what its list and its filters need of an item,
and the rest is in files of some hundred items beside it. They are scripts, since a browser lets a page that it opens
from a folder load scripts, but read no file.
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
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from judge_r1.core.items import Item, ItemResult, best_of, describe_gold, describe_result
from judge_r1.core.records import ReasoningPair, Turn
from judge_r1.core.verdicts import Evidence, describe_verdict, letter
from judge_r1.episode.tags import Grammar, grammar, segments
from judge_r1.evaluation.results import PanelResults
from judge_r1.evaluation.votes import StoredVote
from judge_r1.files.jsonl import write_atomic
from judge_r1.files.partial_files import staged_folder

WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters that are two UTF-16 units."""
ONE_FILE = 2_000
"""Items of the largest report that is one file."""
PART_ITEMS, PART_CHARACTERS = 500, 2**21
"""Items and characters of JSON after which a part of a larger report ends."""
PARTS = "report_items"
"""The folder of the parts of a report."""
_PACKED = 2**16
"""Bytes of packed data that are given out together."""


class Texts:
    """A table of distinct texts; each text has a number. The texts are in a temporary file, their hashes in memory."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self.characters = 0
        self._file = TemporaryFile("w+", encoding="ascii")  # noqa: SIM115 (it is closed with the table)
        self._wide = lru_cache(64)(_wide_characters)

    def add(self, text: str) -> int:
        digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if (number := self._numbers.get(digest)) is None:
            number = self._numbers[digest] = len(self._numbers)
            self.characters += self._file.write(_json(text) + "\n")
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


def page_data(
    folder: Path, results: Sequence[PanelResults], settings: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """The packed data of a page in `folder`: `items_json`, or `index_json` with the parts written to `folder`."""
    if is_one_file(results):
        remove_parts(folder)
        return packed(items_json(results, settings))
    return packed(index_json(folder, results, settings))


def is_one_file(results: Sequence[PanelResults]) -> bool:
    """Whether a page holds all items itself."""
    return not results or min(len(panel.items) for panel in results) <= ONE_FILE


def items_json(results: Sequence[PanelResults], settings: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The items that all panels have judged, which must be of one benchmark, as the parts of a JSON text. `settings`
    name the members of panels with several.

    Every item and every text is a part of its own, so that a long evaluation is not in memory together.
    """
    texts = Texts()
    yield f'{{{_judges(results, settings)},"items":['
    for number, (item, own) in enumerate(judged_items(results)):
        yield ("," if number else "") + _json(_item(item, own, results, texts))
    yield '],"texts":['
    for number, text in enumerate(texts.all()):
        yield ("," if number else "") + text
    yield "]}"


def index_json(
    folder: Path, results: Sequence[PanelResults], settings: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """The items as `items_json` gives them, without texts and votes, and the number of the first item of each part.
    Writes the parts, which hold the items whole."""
    with TemporaryFile("w+", encoding="ascii") as index, staged_folder(folder) as staged:
        (staged / PARTS).mkdir(parents=True)
        starts, part = [0], _Part()
        for number, (item, own) in enumerate(judged_items(results)):
            if part.is_full:
                part.write(staged / PARTS, len(starts) - 1)
                part = _Part()
                starts.append(number)
            whole = _item(item, own, results, part.texts)
            part.add(whole)
            index.write(("," if number else "") + _json(_listed(whole)))
        part.write(staged / PARTS, len(starts) - 1)
        index.seek(0)
        yield f'{{{_judges(results, settings)},"parts":{_json(starts)},"items":['
        yield from iter(lambda: index.read(_PACKED), "")
        yield "]}"
    remove_parts(folder, len(starts))


def remove_parts(folder: Path, first: int = 0) -> None:
    """Removes the parts of an earlier, longer report from number `first` on."""
    for file in (folder / PARTS).glob("*.js"):
        if file.stem.isdecimal() and int(file.stem) >= first:
            file.unlink()


class _Part:
    """Some items with their texts."""

    def __init__(self) -> None:
        self.texts = Texts()
        self._items: list[str] = []
        self._characters = 0

    @property
    def is_full(self) -> bool:
        return len(self._items) >= PART_ITEMS or self._characters + self.texts.characters >= PART_CHARACTERS

    def add(self, whole: Mapping[str, Any]) -> None:
        self._items.append(_json(whole))
        self._characters += len(self._items[-1])

    def write(self, folder: Path, number: int) -> None:
        content = packed(['{"items":[', ",".join(self._items), '],"texts":[', ",".join(self.texts.all()), "]}"])
        write_atomic(folder / f"{number}.js", [f'received({number},"', *content, '");\n'])


def judged_items(results: Sequence[PanelResults]) -> Iterator[tuple[Item, list[ItemResult]]]:
    """The items that all panels have judged, each with its results."""
    panels = [iter(panel.items) for panel in results]
    waiting = [next(panel, None) for panel in panels]
    for item in results[0].benchmark.items:
        own = [one for one in waiting if one is not None and one.item_id == item.item_id]
        if len(own) == len(panels):
            yield item, own
        waiting = [next(panel, None) if one in own else one for panel, one in zip(panels, waiting, strict=True)]


def _judges(results: Sequence[PanelResults], settings: Mapping[str, Mapping[str, Any]]) -> str:
    members = [[one["judge"] for one in settings.get(found.panel, {}).get("members", ())] for found in results]
    return f'"judges":{_json([found.panel for found in results])},"members":{_json(members)}'


def _listed(whole: Mapping[str, Any]) -> dict[str, Any]:
    """What the list and the filters of a page need of an item."""
    results = [{name: row[name] for name in ("state", "named")} for row in whole["results"]]
    return {name: whole[name] for name in ("id", "cluster", "group", "violated", "differ")} | {"results": results}


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
        _row(result, panel.votes[item.item_id], item, case, texts) for result, panel in zip(found, panels, strict=True)
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


def _row(result: ItemResult, votes: Sequence[StoredVote], item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    """The result of one panel on an item, with every vote."""
    labels = result.labels if any(stored.trajectory.turns for stored in votes) else None
    return {
        "verdict": describe_result(result),
        "state": _state(result),
        "score": result.score,
        "named": labels.predicted if labels else None,
        "hit": labels.evidence_hit if labels else None,
        "votes": [_vote(stored, item, case, texts) for stored in sorted(votes, key=lambda stored: stored.place)],
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


def _vote(stored: StoredVote, item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    trajectory = stored.trajectory
    judgment, tags = trajectory.judgment, grammar(tools=bool(trajectory.calls))
    return {
        "order": [letter(index) for index in stored.order],
        "sample": stored.sample,
        "member": stored.member,
        "verdict": describe_verdict(stored.verdict, stored.order),
        "ended": trajectory.ended,
        "searches": trajectory.searches,
        "reward": trajectory.reward,
        "named": list(judgment.violated_principles) if judgment else None,
        "explanation": judgment.explanation if judgment else None,
        "confidence": judgment.confidence if judgment else None,
        "turns": [_turn(turn, item, case, texts, tags) for turn in trajectory.turns],
    }


def _turn(turn: Turn, item: Item, case: str | None, texts: Texts, tags: Grammar) -> dict[str, Any]:
    return {
        "parts": [[part.kind, part.text.strip(), part.closed] for part in segments(turn.text, tags)],
        "searched": turn.query is not None and turn.notice is None,
        "passages": [_passage(passage, item, case, texts) for passage in turn.passages],
        "dropped": turn.passages_dropped,
        "notice": turn.notice,
        **({"call": turn.call.model_dump()} if turn.call else {}),
    }


def _passage(passage: Evidence, item: Item, case: str | None, texts: Texts) -> dict[str, Any]:
    """The offsets of a passage in the item's case, or its text if the case does not hold it."""
    if case and passage.case_id == item.case_id and case[passage.start : passage.end] == passage.text:
        return {"at": texts.span(case, passage.start, passage.end), "score": passage.score}
    return {"at": None, "score": passage.score, "text": passage.text}
