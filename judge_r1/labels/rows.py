"""Reads people's labels: one row is the label of one person for one item.

    labels = read_labels(Path("my.csv"))

A file is a table (`judge_r1.files.tabular`) whose columns are found by their usual names, or an export of a tool for
labelling (`judge_r1.labels.exports`).
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_r1.core.record_base import content_hash_of_list
from judge_r1.core.text_check import counted, short_name
from judge_r1.core.verdicts import SIDES
from judge_r1.files.tabular import rows
from judge_r1.labels.exports import read_export
from judge_r1.labels.kinds import BadLabels, Kind, Scheme, find_scheme, plain

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "example_id", "trace_id", "span_id", "case_id"),
    "input": ("input", "prompt", "question", "instruction", "query"),
    "output": ("output", "response", "answer", "completion"),
    "a": ("a", "response_a", "output_a"),
    "b": ("b", "response_b", "output_b"),
    "chosen": ("chosen",),
    "rejected": ("rejected",),
    "trace": ("trace", "messages"),
    "context": ("context",),
    "reference": ("reference",),
    "label": ("label", "human_label", "rating", "score", "preference", "winner", "human"),
    "annotator": ("annotator", "labeler", "user", "completed_by"),
    "annotator_kind": ("annotator_kind",),
    "cluster": ("cluster", "group", "document", "conversation", "session"),
    "split": ("split",),
    "verdict": ("verdict",),
    "confidence": ("confidence",),
    "note": ("note",),
    "saw_verdict": ("saw_verdict",),
}
"""Our name of a column -> the names by which it is found, in this order."""
SHOWN = 5
"""Ids in a note."""
TEXTS = ("input", "output", "a", "b", "trace", "context", "reference")
JUDGED = {"input", "output", "a", "trace"}
NO_TEXT = f"has no text to judge ({', '.join(TEXTS)}): name its column by --columns output=NAME"
SPLITS = {"": "test", "test": "test", **dict.fromkeys(("dev", "train", "examples", "val", "validation"), "dev")}
_WIDE = re.compile(r"(?:label_(?P<name>\w+)|(?P<number>annotator_?\d+))", re.IGNORECASE)


@dataclass(frozen=True)
class LabelledItem:
    """One item: its texts by name (`TEXTS`), and its labels by person. `verdict` is that of the file's own column."""

    id: str
    texts: Mapping[str, str]
    cluster: str
    labels: Mapping[str, str]
    split: str = "test"
    verdict: str | None = None
    confidence: float | None = None

    @property
    def by_person(self) -> str:
        """Who gave which label."""
        return "; ".join(f"{person}: {label}" for person, label in sorted(self.labels.items()))

    @property
    def content(self) -> str:
        """The hash of the texts."""
        return content_hash_of_list([f"{name}={self.texts[name]}" for name in sorted(self.texts)])


@dataclass(frozen=True)
class Labels:
    """The labelled items of a file, the items without a label (`pool`), and notes for the reader of a result.

    `columns` says which column of the file was read as what.
    """

    path: Path
    scheme: Scheme
    items: Sequence[LabelledItem]
    pool: Sequence[LabelledItem] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def people(self) -> list[str]:
        return sorted({person for item in self.items for person in item.labels})

    @property
    def digest(self) -> str:
        """The hash of all labels: ids, contents, people and labels, in any order and file format."""
        return content_hash_of_list(
            sorted(f"{i.id}\n{i.content}\n{person}\n{label}" for i in self.items for person, label in i.labels.items())
        )

    def of_split(self, split: str) -> "Labels":
        """The items of one split. Raises: BadLabels if it has none."""
        kept = [item for item in self.items if item.split == split]
        if not kept:
            other = "" if split == "dev" else ": all are for choosing a prompt, which --split dev does"
            raise BadLabels(f"{self.path} has no labelled item of the split {split!r}{other}")
        return Labels(self.path, self.scheme, kept, self.pool, self.columns, self.notes)


@dataclass
class Draft:
    """An item while its rows are read. `words` has the word of each person's label and its place."""

    where: str
    texts: dict[str, str]
    cluster: str = ""
    split: str = ""
    words: dict[str, tuple[str, str]] = field(default_factory=dict)
    verdict: str | None = None
    confidence: float | None = None


@dataclass
class RowReader:
    """Collects the rows of people's labels by item: `items` by id, `names` are the file's columns by our names.

    `lines` are notes for the reader of a result. Raises: BadLabels for a row that cannot be used.
    """

    names: Mapping[str, str]
    items: dict[str, Draft] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    by_models: int = 0
    repeated: int = 0

    def note(self, line: str) -> None:
        if line not in self.lines:
            self.lines.append(line)

    def add(self, where: str, row: Mapping[str, Any]) -> None:
        """Adds a row to its item. Rows of one item may have its texts or not."""

        def text(ours: str) -> str:
            return _text(row.get(self.names[ours])) if ours in self.names else ""

        texts = {name: found for name in TEXTS if (found := text(name)).strip()}
        word, item_id = _word(where, row.get(self.names.get("label", ""))), text("id").strip()
        if not item_id and not texts.keys() & JUDGED and "chosen" not in self.names:
            raise BadLabels(f"{where}: {NO_TEXT}")
        sides = {name: text(name) for name in ("chosen", "rejected") if name in self.names}
        item_id = item_id or content_hash_of_list([f"{name}={one}" for name, one in sorted((texts | sides).items())])
        if "chosen" in self.names and "a" not in texts:
            first = int(content_hash_of_list([item_id]), 16) % 2 == 0
            texts |= dict(zip(("a", "b") if first else ("b", "a"), sides.values(), strict=True))
            word = word or ("A" if first else "B")
        if (split := SPLITS.get(word_of_split := text("split").strip().casefold(), "")) == "":
            raise BadLabels(f"{where}: split {word_of_split!r} is none of {', '.join(filter(None, SPLITS))}")
        draft = self.items.setdefault(item_id, Draft(where, texts))
        if texts and draft.texts not in (texts, {}):
            raise BadLabels(f"{where}: id {short_name(item_id)!r} has other texts than in {draft.where}")
        draft.texts = draft.texts or texts
        for name, said in (("cluster", text("cluster").strip()), ("split", split if word_of_split else "")):
            if said and (known := getattr(draft, name)) not in ("", said):
                raise BadLabels(
                    f"{where}: id {short_name(item_id)!r} is of the {name} {said!r}, and of {known!r} in {draft.where}"
                )
            setattr(draft, name, said or getattr(draft, name))
        if verdict := text("verdict").strip():
            if draft.verdict not in (None, verdict):
                raise BadLabels(f"{where}: id {short_name(item_id)!r} has the verdicts {draft.verdict} and {verdict}")
            draft.verdict, draft.confidence = verdict, _confidence(where, text("confidence").strip())
        if text("saw_verdict").strip().casefold() in ("true", "1", "yes"):
            self.note("people saw the judge's verdict before they labelled some items: their labels are anchored to it")
        given = [(text("annotator").strip(), word), *_wide(where, row, self.names)]
        for person, label in ((person, label) for person, label in given if label):
            if text("annotator_kind").strip().casefold() not in ("", "human"):
                self.by_models += 1
                self.note("labels of models or code are left out: they are no labels of people")
            elif not person and "annotator" in self.names:
                raise BadLabels(
                    f"{where}: column {self.names['annotator']!r} names nobody who gave the label {label!r}"
                )
            else:
                self._label(where, item_id, person or "human", label)

    def _label(self, where: str, item_id: str, person: str, label: str) -> None:
        words = self.items[item_id].words
        known, place = words.setdefault(person, (label, where))
        self.repeated += place != where
        if plain(known) != plain(label):
            raise BadLabels(
                f"{where}: {person!r} labels id {short_name(item_id)!r} {label!r}, and {known!r} in {place}: keep one "
                "of them"
            )


def read_labels(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    question: str | None = None,
    kind: Kind | None = None,
    positive: str | None = None,
    scale: tuple[int, int] | None = None,
) -> Labels:
    """The labels of people in a file.

    `columns` names the file's columns by our names, where the aliases do not find them; `question` chooses one of
    several questions of an export.

    Raises:
        BadTable: The file cannot be read.
        BadLabels: A row or the whole file cannot be used; the message names the row and what to do.
    """
    found = list(read_rows(path, question))
    names = find_columns(path, {name for _, row in found for name in row}, columns or {})
    reader = RowReader(names)
    for where, row in found:
        reader.add(where, row)
    drafts = reader.items
    if "verdict" not in names and (bare := [one for one in drafts.values() if not one.texts.keys() & JUDGED]):
        raise BadLabels(f"{bare[0].where}: {NO_TEXT}")
    words = [word for draft in drafts.values() for word, _ in draft.words.values()]
    if not words:
        raise BadLabels(
            f"{path}: all labels are those of models, not of people"
            if reader.by_models
            else f"{path}: column {names.get('label', 'label')!r} has no label"
        )
    pairs = any("a" in draft.texts for draft in drafts.values())
    given = [draft.verdict for draft in drafts.values() if draft.verdict]
    try:
        scheme = _scheme(words, given, pairs=pairs, kind=kind, positive=positive, scale=scale)
    except BadLabels as error:  # the same with the place of the label that is in the way
        labels = (label for draft in drafts.values() for label in draft.words.values())
        found_at = next((place for word, place in labels if plain(word) == error.word), None)
        raise error if found_at is None else BadLabels(f"{found_at}: {error}") from None
    items = [_item(item_id, draft, scheme) for item_id, draft in drafts.items()]
    labelled, pool = [one for one in items if one.labels], [one for one in items if not one.labels]
    if len({plain(word) for word in words}) < len(set(words)):
        reader.note("labels differ in case or white space and were read as the same")
    if scheme.kind == "ordinal" and (unused := set(scheme.answers) - {v for i in labelled for v in i.labels.values()}):
        reader.note(f"nobody used the level {', '.join(sorted(unused))}; weights of kappa go by value")
    if reader.repeated:
        reader.note(f"{counted(reader.repeated, 'label')} stood in the file already and count once")
    return Labels(path, scheme, labelled, pool, names, [*reader.lines, *_twins(labelled)])


def read_rows(path: Path, question: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a table or an export, each with its place."""
    if (export := read_export(path, question)) is not None:
        yield from export
        return
    if question is not None:
        raise BadLabels(f"--question chooses a question of an export, and {path} is a table")
    yield from ((row.where, row.values) for row in rows(path))


def find_columns(path: Path, there: set[str], given: Mapping[str, str]) -> dict[str, str]:
    """Our names -> the file's. Raises: BadLabels."""
    if unknown := given.keys() - ALIASES.keys():
        raise BadLabels(f"--columns {min(unknown)}=…: the columns are {', '.join(ALIASES)}")
    if missing := [column for column in given.values() if column not in there]:
        raise BadLabels(f"{path} has no column {missing[0]!r}: it has {', '.join(sorted(there))}")
    by_fold = {name.casefold(): name for name in there}
    names = {
        ours: by_fold[alias]
        for ours, aliases in ALIASES.items()
        for alias in reversed(aliases)
        if alias in by_fold and by_fold[alias] not in given.values()
    }
    names |= given
    if "a" not in names or "b" not in names:
        names = {ours: name for ours, name in names.items() if ours not in ("a", "b")}
    elif "output" in names and "output" not in given:
        del names["output"]
    wide = [name for name in there if _WIDE.fullmatch(name) and name not in names.values()]
    if "label" not in names and not wide and "chosen" not in names:
        raise BadLabels(
            f"{path} has no column of labels ({', '.join(ALIASES['label'])}): give --columns label=NAME; it has "
            f"{', '.join(sorted(there))}"
        )
    return names


def _confidence(where: str, text: str) -> float | None:
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found <= 1:
        raise BadLabels(f"{where}: confidence {text!r} is no number from 0 to 1")
    return found


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.16g}"  # ids and labels may have many digits
    return (
        json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str("" if value is None else value)
    )


def _word(where: str, value: Any) -> str:
    """A label. The tables of Label Studio have it in a list or an object, also as JSON in a text. Raises: BadLabels for
    several."""
    found = value
    try:
        with suppress(ValueError):
            found = json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
    except RecursionError:
        raise BadLabels(f"{where}: the label is nested too deeply: it must be a word or a number") from None
    while isinstance(found, list | dict) and len(found) == 1:
        [found] = found.values() if isinstance(found, dict) else found
    if isinstance(found, list | dict) or (found is not value and isinstance(found, float) and not math.isfinite(found)):
        raise BadLabels(f"{where}: the label is {short_name(_text(value))}: it must be a word or a number")
    return _text(found).strip()


def _wide(where: str, row: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The labels of a row with one column for each person."""
    for column, value in row.items():
        if column not in names.values() and (found := _WIDE.fullmatch(column)) and value is not None:
            yield found["name"] or found["number"], _word(where, value)


def _scheme(words: Sequence[str], verdicts: Sequence[str], **options: Any) -> Scheme:
    """The scheme of labels. Levels that only verdicts use belong to the scale, too."""
    scheme = find_scheme(words, **options)
    if scheme.kind == "ordinal" and options["scale"] is None:
        levels = [word for word in verdicts if re.fullmatch(r"-?\d+", plain(word))]
        return find_scheme([*words, *levels], **options)
    if scheme.kind == "pairwise" and any(plain(word) in SIDES["tie"] for word in verdicts):
        return Scheme("pairwise", ("A", "B", "tie"))
    return scheme


def _item(item_id: str, draft: Draft, scheme: Scheme) -> LabelledItem:
    labels = {}
    for person, (word, where) in draft.words.items():
        if (label := scheme.read(word)) is None:
            raise BadLabels(f"{where}: label {word!r} is none of {', '.join(scheme.answers) or 'the numbers'}")
        labels[person] = label
    cluster = draft.cluster or content_hash_of_list([draft.texts.get("input", item_id)])
    return LabelledItem(
        item_id, draft.texts, cluster, labels, draft.split or SPLITS[""], draft.verdict, draft.confidence
    )


def _twins(items: Sequence[LabelledItem]) -> Iterator[str]:
    """Notes about equal items under several ids."""
    by_content = defaultdict(list)
    for item in items:
        if item.texts:
            by_content[item.content].append(item)
    twins = [same for same in by_content.values() if len(same) > 1]
    if twins:
        yield f"texts that stand under several ids: {len(twins)}"
    for same in twins:
        if len({label for item in same for label in item.labels.values()}) > 1:
            more = " …" if len(same) > SHOWN else ""
            yield f"{', '.join(item.id for item in same[:SHOWN])}{more} have the same texts and different labels"
