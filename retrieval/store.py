"""Passage vectors of many cases on disk: embedded once, then memory-mapped read-only by every process of a node.

A store belongs to an embedder, its passage prefix and a passage size, which name its folder. Cases are found by their
passages, not by an id: a changed text is a missing case. The folder holds `store.json` and shards of a few cases:

    magic (8 bytes) · header length (8 bytes, little endian) · header (JSON) · float32 vectors, row by row

A shard is renamed into place when it is complete and never changes. The header gives each case a SHA-256 over the
store's key, the passages and the vectors, so the vectors of other passages are never returned, whatever is damaged.
"""

import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from errno import ENOENT
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from retrieval.embedders import Embedder, Vectors, check_vectors, uncached
from retrieval.passages import SPLITTER, Passage, split_passages, splitter_version

MANIFEST, SUFFIX = "store.json", ".vectors"
SHARD_CASES = 16
"""Cases per shard: what a kill can cost."""
_MAGIC = b"JR1VEC01"
_ALIGNMENT = 64
_ATTEMPTS = 5
_PROBE = "The quick brown fox jumps over the lazy dog."
_PROBE_TOLERANCE = 5e-3
"""Largest difference of the probe's vector between two devices or precisions; other weights differ by more."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoreKey:
    """What stored vectors depend on, besides the text."""

    model: str
    passage_prefix: str
    passage_words: int
    dim: int
    splitter: int = SPLITTER
    schema: int = 1

    @classmethod
    def of(cls, embedder: Embedder, passage_words: int) -> "StoreKey":
        return cls(embedder.name, getattr(embedder, "passage_prefix", ""), passage_words, embedder.dim)

    @property
    def bytes(self) -> bytes:
        return json.dumps(asdict(self), sort_keys=True).encode("utf-8", "surrogatepass")

    def folder(self, parent: Path) -> Path:
        """The folder of the store below `parent`."""
        slug = re.sub(r"[^A-Za-z0-9.-]+", "-", self.model.rstrip("/")[-40:]).strip("-.") or "model"
        return parent / f"{slug}-{hashlib.sha256(self.bytes).hexdigest()[:12]}"


@dataclass(frozen=True)
class _Entry:
    """Where the vectors of a case are: byte `offset` of shard `path`. `text` is the digest of its text."""

    path: Path
    offset: int
    rows: int
    checksum: str
    text: str


class VectorStore:
    """Reads a store. Thread-safe; memory holds the places of the vectors only.

    A damaged store answers like one without the damaged cases: the first damage is logged as a warning.
    """

    def __init__(self, parent: Path, embedder: Embedder, passage_words: int) -> None:
        self.key = StoreKey.of(embedder, passage_words)
        self.folder = self.key.folder(parent)
        self.damage: list[str] = []
        self.embedder = embedder
        self._entries: dict[str, _Entry] = {}
        self._texts: set[str] = set()
        self._maps: dict[Path, Any] = {}
        self._lock = threading.Lock()
        self.refresh()

    def __len__(self) -> int:
        return len(self._entries)

    def refresh(self) -> None:
        """Reads the headers of the shards again."""
        entries: list[tuple[str, _Entry]] = []
        if (self.folder / MANIFEST).exists() or self._shards():
            if reason := self._mismatch():
                self._report(self.folder / MANIFEST, reason)
            else:
                for path in self._shards():
                    try:
                        entries += _read_header(path, self.key.dim)
                    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                        self._report(path, str(error) or type(error).__name__)
        with self._lock:
            self._entries, self._maps = dict(entries), {}
            self._texts = {entry.text for _, entry in entries}  # two texts may have the same passages

    def get(self, passages: Sequence[Passage]) -> Vectors | None:
        """The vectors of a case, mapped from disk, or None if the store lacks them. Their checksum is verified."""
        digest = passages_digest(passages)
        if (entry := self._entries.get(digest)) is None:
            return None
        try:
            vectors = self._mapped(entry)
            if len(vectors) != len(passages) or _checksum(self.key, digest, vectors) != entry.checksum:
                raise ValueError("a checksum does not match")
            return check_vectors(vectors, len(passages), self.embedder)
        except (OSError, ValueError) as error:
            self._report(entry.path, str(error))
            with self._lock:
                self._entries.pop(digest, None)
            return None

    def texts(self) -> set[str]:
        """The digests of the texts whose vectors the store lists. `get` verifies the vectors."""
        return self._texts

    def _shards(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{SUFFIX}"))

    def _mapped(self, entry: _Entry) -> Vectors:
        with self._lock:
            if (mapped := self._maps.get(entry.path)) is None:
                mapped = self._maps[entry.path] = np.memmap(entry.path, dtype=np.uint8, mode="r")
        size = entry.rows * self.key.dim * 4
        rows: Vectors = mapped[entry.offset : entry.offset + size].view(np.float32).reshape(entry.rows, self.key.dim)
        return rows

    def _mismatch(self) -> str:
        """Why the vectors are not those of this embedder; "" if they are."""
        try:
            found = json.loads((self.folder / MANIFEST).read_bytes())
            probe = np.array(found.pop("probe"), dtype=np.float32)
            if found != asdict(self.key):
                return "it describes another embedder"
            own = self.embedder.encode_passages([_PROBE])[0]
            if probe.shape != own.shape or not np.abs(probe - own).max() < _PROBE_TOLERANCE:
                return "its vectors were made with other weights"
            return ""
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return f"it cannot be read ({str(error) or type(error).__name__})"

    def _report(self, path: Path, reason: str) -> None:
        self.damage.append(f"{path}: {reason}")
        if len(self.damage) == 1:
            _log.warning(
                "%s: %s; its cases are embedded when they are searched. `judge-r1 index` repairs it", path, reason
            )


ShardCases = Sequence[tuple[str, str]]
"""The cases of one shard: (digest of the text, case id)."""
ShardRunner = Callable[[Sequence[ShardCases]], Iterable[int]]
"""Writes shards, in any order and place, by `write_shard`. Yields the number of cases that were embedded since."""


@dataclass(frozen=True)
class StoreReport:
    """What `fill_store` did: the cases it was given, those it embedded, and the damage it repaired."""

    cases: int
    embedded: int
    repaired: Sequence[str] = ()


def fill_store(
    store: VectorStore,
    texts: Mapping[str, str],
    case_ids: Sequence[str],
    *,
    verify: bool = True,
    progress: Callable[[int, int], None] = lambda done, total: None,
    run: ShardRunner | None = None,
) -> StoreReport:
    """Embeds the cases that a store lacks, shard by shard. `progress` gets the cases done and all missing cases. `run`
    may write the shards in other processes.

    A killed call continues at the first incomplete shard. Every case is one call of the embedder, so the bytes do not
    depend on kills. Shards with a damaged header are deleted and built again, with `verify` also those with damaged
    vectors. One call at a time may fill a store.

    Raises:
        OSError: The folder cannot be written to. Complete shards stay.
    """
    repaired = _remove_damage(store, verify)
    missing = missing_cases(store, texts, case_ids)
    if missing:
        _write_manifest(store)
    waiting, done = list(missing.items()), 0
    shards = [waiting[start : start + SHARD_CASES] for start in range(0, len(waiting), SHARD_CASES)]
    for embedded in run(shards) if run else _write_here(store, texts, shards):
        done += embedded
        progress(done, len(missing))
    if missing or repaired:
        store.refresh()
    return StoreReport(len(case_ids), len(missing), repaired)


def _write_here(store: VectorStore, texts: Mapping[str, str], shards: Sequence[ShardCases]) -> Iterator[int]:
    for shard in shards:
        yield from write_shard(store.folder, store.key, store.embedder, texts, shard)


def write_shard(
    folder: Path, key: StoreKey, embedder: Embedder, texts: Mapping[str, str], shard: ShardCases
) -> Iterator[int]:
    """Embeds the cases of one shard and writes it to the folder of a store. Yields 1 after each case; the shard is
    there when the iterator ends."""
    embedder, cases = uncached(embedder), []
    for digest, case_id in shard:
        passages = split_passages(texts[case_id], key.passage_words)
        vectors = embedder.encode_passages([passage.text for passage in passages])
        cases.append((digest, passages_digest(passages), check_vectors(vectors, len(passages), embedder)))
        yield 1
    _write_shard(folder, key, cases)


def missing_cases(store: VectorStore, texts: Mapping[str, str], case_ids: Sequence[str]) -> dict[str, str]:
    """The cases whose vectors a store lacks: digest of the text -> case id. A case without text has none."""
    missing: dict[str, str] = {}
    known = store.texts()
    for case_id in case_ids:
        text = texts[case_id]
        if text.strip() and (digest := text_digest(text)) not in known:
            missing.setdefault(digest, case_id)
    return missing


def text_digest(text: str) -> str:
    """SHA-256 of a text. A text that later rules split differently than `SPLITTER` has another digest than in stores of
    those rules, so its vectors are made again, and all other stored vectors stay valid."""
    version = splitter_version(text)
    suffix = b"" if version == SPLITTER else b"\0splitter %d" % version
    return hashlib.sha256(text.encode("utf-8", "surrogatepass") + suffix).hexdigest()


def passages_digest(passages: Sequence[Passage]) -> str:
    """SHA-256 over the texts of the passages with their lengths."""
    digest = hashlib.sha256()
    for passage in passages:
        data = passage.text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _checksum(key: StoreKey, digest: str, vectors: Vectors) -> str:
    found = hashlib.sha256(key.bytes + digest.encode())
    found.update(np.ascontiguousarray(vectors).data)
    return found.hexdigest()


def _remove_damage(store: VectorStore, verify: bool) -> list[str]:
    """Deletes leftovers of killed processes, a store of other weights, and shards with a damaged case."""
    for left in store.folder.glob(".*.partial"):
        left.unlink(missing_ok=True)
    shards = store._shards()
    if not shards and not (store.folder / MANIFEST).exists():
        return []
    if reason := store._mismatch():
        for path in (*shards, store.folder / MANIFEST):
            path.unlink(missing_ok=True)
        store.refresh()
        return [f"{store.folder}: {reason}"]
    found = []
    for path in shards:
        if reason := _damage_of(store, path, verify):
            found.append(f"{path}: {reason}")
            path.unlink(missing_ok=True)
    if found or store.damage:
        store.damage.clear()
        store.refresh()
    return found


def _damage_of(store: VectorStore, path: Path, verify: bool) -> str:
    try:
        for digest, entry in _read_header(path, store.key.dim):
            if verify and _checksum(store.key, digest, store._mapped(entry)) != entry.checksum:
                return "a checksum does not match"
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return str(error) or type(error).__name__
    return ""


def _read_header(path: Path, dim: int) -> list[tuple[str, _Entry]]:
    """The cases of a shard with the digests of their passages. Raises: ValueError, KeyError or TypeError for damage."""
    with path.open("rb") as file:
        start, size = file.read(16), os.fstat(file.fileno()).st_size
        length = int.from_bytes(start[8:], "little")
        if start[:8] != _MAGIC or len(start) != 16 or length > size:
            raise ValueError("it is not a shard of a store")
        header = json.loads(file.read(length))
    offset, entries = 16 + length, []
    for case in header["cases"]:
        rows = int(case["rows"])
        entry = _Entry(path, offset, rows, str(case["sha256"]), str(case["text"]))
        entries.append((str(case["passages"]), entry))
        offset += rows * dim * 4
        if rows < 1 or offset > size:
            break
    if header["dim"] != dim or offset != size or (16 + length) % _ALIGNMENT:
        raise ValueError("its size does not match its header")
    return entries


def _write_shard(folder: Path, key: StoreKey, cases: Sequence[tuple[str, str, Vectors]]) -> None:
    """Writes (digest of the text, digest of the passages, vectors) of each case."""
    described = [
        {"text": text, "passages": digest, "rows": len(vectors), "sha256": _checksum(key, digest, vectors)}
        for text, digest, vectors in cases
    ]
    header = json.dumps({"dim": key.dim, "cases": described}).encode()
    header += b" " * (-(16 + len(header)) % _ALIGNMENT)
    name = hashlib.sha256("".join(text for text, *_ in cases).encode()).hexdigest()[:32]
    parts = (_MAGIC + len(header).to_bytes(8, "little") + header, *(vectors.tobytes() for *_, vectors in cases))
    _write(folder / f"{name}{SUFFIX}", parts)


def _write_manifest(store: VectorStore) -> None:
    if not (store.folder / MANIFEST).exists():
        probe = [round(float(value), 6) for value in store.embedder.encode_passages([_PROBE])[0]]
        text = json.dumps({**asdict(store.key), "probe": probe}, ensure_ascii=True)
        _write(store.folder / MANIFEST, [text.encode() + b"\n"])


def _write(path: Path, parts: Sequence[bytes]) -> None:
    """Writes a file under another name, syncs it and renames it.

    Where folders cannot be locked (NFS), another process may fill the store, too, and take the new file for the
    leftover of a kill: then it is written again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        for _ in range(_ATTEMPTS):
            with partial.open("wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                partial.replace(path)
                return
        raise FileNotFoundError(ENOENT, "another process removes it while it is written", str(partial))
    finally:
        with suppress(OSError):
            partial.unlink()
