"""Reads the documents to manipulate: a folder of .txt and .md files, or stories made here."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.manipulations.units import CHAPTER
from judge_r1.core.documents import FULL, Document, document_id
from judge_r1.core.errors import JudgeError
from judge_r1.core.folders import lacks
from judge_r1.files.tabular import file_rows

GROUPS = ("arrival", "search", "talk", "thought", "turn", "close")
_PARAGRAPHS = 12
"""Paragraphs of a chapter."""


class StoryLexicon(Lexicon):
    """`groups` has the sentences of each part of a paragraph. `casts` has a hero, a friend and a rival for each story,
    `places` two names, and `objects` what the story is about; all have the same length."""

    groups: dict[str, tuple[str, ...]]
    fillers: dict[str, tuple[str, ...]]
    objects: tuple[str, ...]
    casts: tuple[tuple[str, str, str], ...]
    places: tuple[tuple[str, str], ...]
    chapters: tuple[str, ...]


def story_lexicon() -> StoryLexicon:
    return load_lexicon("stories", StoryLexicon)


def story(number: int, tokens: int, seed: int = 0) -> tuple[str, str]:
    """The title and the text of story `number`, from 0, with at least `tokens` space-separated tokens.

    Stories repeat their cast after as many as the lexicon has; their text differs.
    """
    lexicon, random = story_lexicon(), Random(f"story {seed} {number}")
    at = number % len(lexicon.casts)
    (hero, friend, rival), (place, place2) = lexicon.casts[at], lexicon.places[at]
    fixed = {
        "hero": hero, "friend": friend, "rival": rival, "place": place, "place2": place2, "object": lexicon.objects[at],
    }  # fmt: skip
    parts: list[str] = []
    length, count = 0, 0
    while length < tokens:
        if count % _PARAGRAPHS == 0:
            parts.append(CHAPTER + lexicon.chapters[count // _PARAGRAPHS % len(lexicon.chapters)])
        sentences = [_sentence(lexicon, group, fixed, random) for group in GROUPS]
        parts.append(" ".join(sentences))
        length += len(parts[-1].split(" "))
        count += 1
    return f"The {lexicon.objects[at].title()} of {place}", "\n\n".join(parts)


def _sentence(lexicon: StoryLexicon, group: str, fixed: dict[str, str], random: Random) -> str:
    fillers = {name: random.choice(choices) for name, choices in lexicon.fillers.items()}
    return random.choice(lexicon.groups[group]).format(**fixed, **fillers)


_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")
_ENDS = ("”", "!", "?", ".", "'", '"', "’")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:M|Mr|Ms|Mrs|Dr|Prof|St|Lt|Col|Capt|Jr|Sr|vs|etc|e\.g|i\.e)\.$", re.IGNORECASE
)
_WIDEST = 200
"""Characters of a line that is broken for its width, at most."""
_MARKDOWN_HEADING = re.compile(r"^(#{1,6}[^\S\n]+\S[^\n]*)\n(?=[^\n])", re.MULTILINE)


def prepared(text: str) -> str:
    """Unicode in NFC, plain newlines, paragraphs between blank lines without other changes. In a text without blank
    lines, such as a judgment, each line is a paragraph if some are longer than a line that is broken for its width.
    A Markdown heading is a paragraph of its own."""
    text = unicodedata.normalize("NFC", text).replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")
    text = _MARKDOWN_HEADING.sub(r"\1\n\n", text)
    text = re.sub(r"\n[^\S\n]*\n\s*", "\n\n", text).strip()
    unbroken = "\n\n" not in text and max(map(len, text.split("\n"))) > _WIDEST
    return re.sub(r"\s*\n\s*", "\n\n", text) if unbroken else text


_FIRST, _LAST = (
    re.compile(rf"^\*\*\* ?{mark} OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*$", re.MULTILINE | re.IGNORECASE)
    for mark in ("START", "END")
)
"""The lines around a book of Project Gutenberg; its header and license are outside of them."""


_CHAPTER_LINE = re.compile(r"(?:chapter|volume|book|part) (?:\d+|[ivxlc]+)\.?", re.IGNORECASE)


def cleaned_book(text: str) -> str:
    """The steps for plain-text books: keep what Project Gutenberg marks as the book, where it does; remove [...] and
    {...}, lines with `*` and underscores; find paragraphs; join a paragraph that starts in lower case to the one
    before; mark headings, which start with "CHAPTER" or three capitals, or are a line such as "Chapter 3".

    The published code removes blank lines and ends a paragraph after each line that ends a sentence. In a text with
    wrapped lines this splits paragraphs where a sentence ends at the end of a line by chance. So blank lines end
    paragraphs here, unless most of them stand inside of sentences, as in a text that is spaced double, or there are
    none.
    """
    text = prepared(text).replace(CHAPTER, "")
    if first := _FIRST.search(text):
        text = text[first.end() :]
    if last := _LAST.search(text):
        text = text[: last.start()]
    text = _BRACKETS.sub("", text)
    lines = ["" if "*" in line else line.strip().replace("_", "") for line in text.split("\n")]
    before_blank = [_ends_sentence(one) for one, after in pairwise(lines) if one and not after and not _is_heading(one)]
    by_blank_lines = bool(before_blank) and sum(before_blank) * 2 >= len(before_blank)
    parts: list[str] = []
    open_ = False
    for line in lines:
        if not line:
            open_ &= not by_blank_lines
            continue
        heading = _is_heading(line)
        if heading:
            parts.append(CHAPTER + line)
        elif open_ or (line[:1].islower() and parts and not parts[-1].startswith(CHAPTER)):
            parts[-1] = f"{parts[-1]}\n{line}"
        else:
            parts.append(line)
        open_ = not heading and (by_blank_lines or not _ends_sentence(line))
    return "\n\n".join(parts)


def _is_heading(line: str) -> bool:
    capitals = len(line) > 2 and line[:3].isalpha() and line[:3].isupper()
    return capitals or line.startswith("CHAPTER") or _CHAPTER_LINE.fullmatch(line) is not None


def _ends_sentence(line: str) -> bool:
    return line.endswith(_ENDS) and not _ABBREVIATION.search(line)


SUFFIXES = (".txt", ".md")
STORIES = 12
STORY_TOKENS = 8_000
SHOWN = 10
"""Files that an error message names."""
_MOJIBAKE = ("â€", "Ã©", "Ã¨", "Ã¼", "ï¿½", "\ufffd")
"""Traces of a text that was decoded with the wrong encoding. Judges list them as spelling mistakes."""
MOST_BROKEN = 1
"""Such traces per 1,000 tokens that a document may have: its copies have them, too. One trace never leaves it out."""


class CorpusRules(NamedTuple):
    """`clean` applies the steps for books. Documents outside of `min_tokens` to `max_tokens` are left out, and by their
    metadata those before `from_year` and those with a word of `without` in genre or title (thesis, section 3.1)."""

    clean: bool = False
    min_tokens: int = 1
    max_tokens: int = 1_000_000
    license: str = "unknown"
    from_year: int | None = None
    without: tuple[str, ...] = ()


def full_document(title: str, text: str, *, source: str, license: str) -> Document:
    """The record of a document at its full length."""
    identity = document_id(text, FULL)
    return Document(
        schema=1, document_id=identity, base_id=identity, length=FULL, title=title, text=text, source=source,
        license=license,
    )  # fmt: skip


def shorter(document: Document, text: str, tokens: int) -> Document:
    """The record of the prefix `text` of a document."""
    length = str(tokens)
    return document.model_copy(update={"document_id": document_id(text, length), "length": length, "text": text})


def stories(count: int, tokens: int, seed: int) -> Iterator[Document]:
    """Documents made from templates."""
    for number in range(count):
        title, text = story(number, tokens, seed)
        yield full_document(title, text, source="cofluence/stories", license="Apache-2.0")


def read_folder(path: Path, rules: CorpusRules, skipped: Counter[str]) -> Iterator[Document]:
    """The documents of a folder and the folders in it, in the order of their names.

    Raises: JudgeError if there are no files, or some are not UTF-8.
    """
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise JudgeError(f"{lacks(path, ' or '.join(SUFFIXES) + ' file')}: give path=PATH, a folder of long texts")
    if bad := [(file, at) for file in files if (at := _not_utf8(file)) is not None]:
        raise JudgeError(
            f"{bad[0][0]} is not UTF-8 (byte {bad[0][1]}): convert it, for example with `iconv -f WINDOWS-1252 -t "
            f"UTF-8`. Files of this kind: {', '.join(file.name for file, _ in bad[:SHOWN])} ({len(bad)})"
        )
    known = read_metadata(path)
    if (rules.from_year is not None or rules.without) and not known:
        raise JudgeError(f"{path} has no metadata.csv or metadata.jsonl with `file`, `year` and `genre`: add it")
    for file in files:
        meta = known.get(str(file.relative_to(path)), known.get(file.name, {}))
        if reason := _left_out(meta, rules):
            skipped[reason] += 1
            continue
        raw = _bytes(file).decode("utf-8")
        text = cleaned_book(raw) if rules.clean else prepared(raw)
        tokens = len(text.split())
        if not tokens:
            skipped["empty"] += 1
        elif tokens < rules.min_tokens:
            skipped[f"fewer than {rules.min_tokens} tokens"] += 1
        elif tokens > rules.max_tokens:
            skipped[f"more than {rules.max_tokens} tokens"] += 1
        elif (broken := sum(map(text.count, _MOJIBAKE))) > max(1, MOST_BROKEN * tokens / 1000):
            skipped["wrongly decoded characters"] += 1
        else:
            title = str(file.relative_to(path).with_suffix(""))
            document = full_document(title, text, source=f"cofluence/{path.name}", license=rules.license)
            meta = {**meta, **({"broken_characters": broken} if broken else {})}
            yield document.model_copy(update={"meta": meta}) if meta else document


METADATA = ("metadata.jsonl", "metadata.csv")


def read_metadata(path: Path) -> dict[str, dict[str, Any]]:
    """The metadata of the files of a folder by name, from the first file of `METADATA`: `file`, and optionally `year`,
    `genre`, `author` and `title`. Empty without such a file. Raises: BadTable."""
    found: dict[str, dict[str, Any]] = {}
    for row in next((file_rows(path / name) for name in METADATA if (path / name).is_file()), ()):
        name = row.name("file")
        if name in found:
            raise row.error("file", f"repeats {name!r}")
        own: dict[str, Any] = {key: row.label(key) for key in ("genre", "author", "title") if row.values.get(key)}
        year = row.values.get("year")
        if year not in (None, ""):
            if not str(year).isdecimal():
                raise row.error("year", f"must be a year, not {year!r}")
            own["year"] = int(str(year))
        found[name] = own
    return found


def _left_out(meta: Mapping[str, Any], rules: CorpusRules) -> str:
    """Why a text is left out by its metadata; "" if it is not."""
    words = f"{meta.get('genre', '')} {meta.get('title', '')}".lower()
    if word := next((word for word in rules.without if re.search(rf"\b{re.escape(word.lower())}", words)), None):
        return f"genre or title has {word!r}"
    if rules.from_year is None:
        return ""
    return "no year" if "year" not in meta else f"before {rules.from_year}" if meta["year"] < rules.from_year else ""


def _not_utf8(file: Path) -> int | None:
    """The position of the first byte that is not UTF-8."""
    try:
        _bytes(file).decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise JudgeError(f"{file} cannot be read: {error.strerror}") from None
