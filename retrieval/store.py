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
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from errno import ENOENT
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

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
_DAMAGE = (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError)
"""What reading a damaged shard raises."""
_log = logging.getLogger(__name__)


class _Cases(NamedTuple):
    """What memory holds of a store: the names of its shards, the shortened digests of passages (sorted) with the number
    of the shard of each, and the shortened digests of texts (sorted; two texts may have the same passages)."""

    names: list[str]
    passages: NDArray[np.uint64]
    shards: NDArray[np.uint32]
    texts: NDArray[np.uint64]


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


class _Entry(NamedTuple):
    """Where the vectors of a case are: byte `offset` of shard `path`. `text` and `passages` are digests."""

    path: Path
    offset: int
    rows: int
    checksum: str
    text: str
    passages: str


class VectorStore:
    """Reads a store. Thread-safe. Memory holds 20 bytes a case: 64 bits of both digests and the number of the shard,
    whose header says the rest. So a search reads the header of its shard and compares the whole digest.

    A damaged store answers like one without the damaged cases: the first damage is logged as a warning.
    """

    def __init__(self, parent: Path, embedder: Embedder, passage_words: int) -> None:
        self.key = StoreKey.of(embedder, passage_words)
        self.folder = self.key.folder(parent)
        self.damage: list[str] = []
        self.embedder = embedder
        self.refresh()

    def __len__(self) -> int:
        return len(self._cases.passages)

    def refresh(self) -> None:
        """Reads the headers of the shards again."""
        # Arrays, because a data set may have millions of cases and every worker keeps this of all of them.
        names, passages, shards, texts = list[str](), array("Q"), array("I"), array("Q")
        if (self.folder / MANIFEST).exists() or self._shards():
            if reason := self._mismatch():
                self._report(self.folder / MANIFEST, reason)
            else:
                for path in self._shards():
                    try:
                        entries = [(_short(e.passages), _short(e.text)) for e in _read_header(path, self.key.dim)]
                    except _DAMAGE as error:
                        # One damaged shard costs its own cases: a search embeds them again.
                        self._report(path, str(error) or type(error).__name__)
                        continue
                    passages.extend(passage for passage, _ in entries)
                    texts.extend(text for _, text in entries)
                    shards.extend([len(names)] * len(entries))
                    names.append(path.name)
        order = np.argsort(passages, kind="stable")
        self._cases = _Cases(names, np.array(passages)[order], np.array(shards)[order], np.sort(texts))

    def get(self, passages: Sequence[Passage]) -> Vectors | None:
        """The vectors of a case, mapped from disk, or None if the store lacks them. Their checksum is verified."""
        # `_cases` is read once: another thread may refresh it, and shard numbers belong to one list of names.
        digest, cases = passages_digest(passages), self._cases
        # NumPy compares uint64 with a Python int as float64, in which 64-bit digests lose their last digits.
        short = np.uint64(_short(digest))
        first, end = cases.passages.searchsorted(short), cases.passages.searchsorted(short, "right")
        for shard in cases.shards[first:end]:
            path = self.folder / cases.names[shard]
            try:
                for entry in _read_header(path, self.key.dim):
                    if entry.passages == digest:
                        vectors = _mapped(entry, self.key.dim)
                        if len(vectors) != len(passages) or _checksum(self.key, digest, vectors) != entry.checksum:
                            raise ValueError("a checksum does not match")
                        return check_vectors(vectors, len(passages), self.embedder)
            except _DAMAGE as error:
                self._report(path, str(error))
        return None

    def has_text(self, digest: str) -> bool:
        """Whether the store lists vectors of a text. `get` verifies them."""
        short, texts = np.uint64(_short(digest)), self._cases.texts
        at = texts.searchsorted(short)
        return short in texts[at : at + 1]

    def _shards(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{SUFFIX}"))

    def _mismatch(self) -> str:
        """Why the vectors are not those of this embedder; "" if they are."""
        try:
            found = json.loads((self.folder / MANIFEST).read_bytes())
            probe = np.array(found.pop("probe"), dtype=np.float32)
            if found != asdict(self.key):
                return "it describes another embedder"
            # A model's name does not tell its weights: a folder or a branch of the hub may hold others by now.
            own = self.embedder.encode_passages([_PROBE])[0]
            if probe.shape != own.shape or not np.abs(probe - own).max() < _PROBE_TOLERANCE:
                return "its vectors were made with other weights"
            return ""
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return f"it cannot be read ({str(error) or type(error).__name__})"

    def _report(self, path: Path, reason: str) -> None:
        if (damage := f"{path}: {reason}") in self.damage:
            return
        self.damage.append(damage)
        if len(self.damage) == 1:  # a warning per shard would fill the log
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
    repaired = _remove_damage(store, verify)  # first, since what it removes is missing then
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
    # A cached text would leave its batch, and the last bits of a vector depend on the batch.
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
    for case_id in case_ids:
        text = texts[case_id]
        if text.strip() and not store.has_text(digest := text_digest(text)):
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
    dim = store.key.dim
    try:
        for entry in _read_header(path, dim):
            if verify and _checksum(store.key, entry.passages, _mapped(entry, dim)) != entry.checksum:
                return "a checksum does not match"
    except _DAMAGE as error:
        return str(error) or type(error).__name__
    return ""


def _mapped(entry: _Entry, dim: int) -> Vectors:
    return np.memmap(entry.path, np.float32, "r", entry.offset, (entry.rows, dim))


def _short(digest: str) -> int:
    """The first 64 bits of a digest. Raises: ValueError if it is not one."""
    return int.from_bytes(bytes.fromhex(digest[:16]), "big")


def _read_header(path: Path, dim: int) -> list[_Entry]:
    """The cases of a shard. Raises one of `_DAMAGE`."""
    with path.open("rb") as file:
        start, size = file.read(16), os.fstat(file.fileno()).st_size
        length = int.from_bytes(start[8:], "little")
        if start[:8] != _MAGIC or len(start) != 16 or length > size:
            raise ValueError("it is not a shard of a store")
        header = json.loads(file.read(length))
    offset, entries = 16 + length, list[_Entry]()
    for case in header["cases"]:
        rows = int(case["rows"])
        entries.append(_Entry(path, offset, rows, str(case["sha256"]), str(case["text"]), str(case["passages"])))
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
    # Padded, so that the vectors can be mapped at an aligned address.
    header += b" " * (-(16 + len(header)) % _ALIGNMENT)
    # Named by its cases: two processes that write the same shard write the same file.
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
                # Synced before the rename: after a power cut a name may otherwise stand for an empty file.
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                partial.replace(path)
                return
        raise FileNotFoundError(ENOENT, "another process removes it while it is written", str(partial))
    finally:
        with suppress(OSError):
            partial.unlink()
