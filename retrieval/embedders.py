"""Embedders: texts to unit vectors. An embedder adds its prefixes: those of E5, or the prompts that the model ships."""

import copy
import hashlib
import logging
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from retrieval.bundled_e5 import BUNDLED, e5_folder
from retrieval.errors import BadVectors, EmbedderUnavailable
from retrieval.weights_cache import hub_problem

Vectors: TypeAlias = NDArray[np.float32]
CACHE_BYTES = 256 * 2**20  # per embedder: 174,000 vectors of 384 dimensions
_E5_NAME = re.compile(r"(^|[-_])m?e5([-_]|$)")
"""By the name, because E5 models ship no prompts: without their prefixes they retrieve worse, and nothing says so."""
_PASSAGE_PROMPTS = ("document", "passage", "corpus")
_log = logging.getLogger(__name__)


@runtime_checkable
class Embedder(Protocol):
    """Maps texts to unit vectors, float32 `[n, dim]`. Queries and passages are encoded differently."""

    name: str
    dim: int

    def encode_queries(self, texts: Sequence[str]) -> Vectors: ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors: ...


def by_openvino(spec: str, device: str | None) -> bool:
    """Whether OpenVINO embeds on the processor, also where there is a GPU."""
    return spec == BUNDLED and device in (None, "cpu") and find_spec("openvino") is not None


def load_embedder(spec: str, device: str | None = None) -> Embedder:
    """Loads `bundled:e5-small`, or a sentence-transformers model by name or folder (`intfloat/e5-base-v2`), on a torch
    `device`: by default a GPU if there is one, else the processor. The bundled one runs on the processor by OpenVINO,
    without torch; without OpenVINO or on another `device` it is a sentence-transformers model like any other.

    A model with "e5" in its name gets E5's two prefixes. Another one, such as E5-instruct, gets the prompts that it
    ships. For other prefixes, construct `SentenceTransformerEmbedder` directly.
    """
    if spec == BUNDLED:
        if by_openvino(spec, device):
            return OpenVinoEmbedder(e5_folder(), BUNDLED)
        return SentenceTransformerEmbedder(str(e5_folder()), device=device, name=BUNDLED)
    if spec.startswith("bundled:"):
        raise EmbedderUnavailable(f"{spec!r} is not a bundled embedder; the only one is {BUNDLED!r}")
    if is_e5(spec):
        return SentenceTransformerEmbedder(spec, device=device)
    found = SentenceTransformerEmbedder(spec, query_prefix=None, passage_prefix=None, device=device)
    _log.info("%s: queries are embedded after %r, passages after %r", spec, found.query_prefix, found.passage_prefix)
    return found


def is_e5(name_or_path: str) -> bool:
    """Whether the last part of a name or path names an E5 model (`intfloat/multilingual-e5-small`), also in a hub's
    cache (`models--intfloat--e5-base-v2/snapshots/HASH`). E5's instruct models ship prompts of their own."""
    parts = re.split(r"[/\\]", name_or_path.rstrip("/\\").lower())
    name = parts[-3] if len(parts) > 2 and parts[-2] == "snapshots" else parts[-1]
    return "instruct" not in name and _E5_NAME.search(name) is not None


class CachedEmbedder:
    """Prefixes of texts and a cache of their vectors. Thread-safe if `_embed` is.

    `truncated` counts texts longer than what the model reads; the first one is logged as a warning.
    """

    def __init__(self, name: str, dim: int, query_prefix: str, passage_prefix: str) -> None:
        self.name, self.dim = name, dim
        self.query_prefix, self.passage_prefix = query_prefix, passage_prefix
        self.cache = VectorCache(CACHE_BYTES)
        self.truncated = 0

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encode("query", self.query_prefix, texts)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode("document", self.passage_prefix, texts)

    def _embed(self, kind: str, prefix: str, texts: list[str]) -> Vectors:
        raise NotImplementedError

    def _encode(self, kind: str, prefix: str, texts: Sequence[str]) -> Vectors:
        """Embeds each distinct text once, so that equal texts have bit-identical vectors."""
        keys = [_key(self.name, kind, prefix, text) for text in texts]
        known = {key: vector for key in dict.fromkeys(keys) if (vector := self.cache.get(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            for key, vector in zip(new, self._embed(kind, prefix, list(new.values())), strict=True):
                known[key] = vector.copy()  # a view would keep the whole batch in memory
                self.cache.put(key, known[key])
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dim), dtype=np.float32)

    def _count_truncated(self, lengths: Iterable[int], limit: int) -> None:
        longer = sum(length > limit for length in lengths)
        if longer and not self.truncated:
            _log.warning(
                "%s reads %d tokens of a text: only the beginning of %d longer texts, and of later ones, is searchable",
                self.name, limit, longer,
            )  # fmt: skip
        self.truncated += longer


class OpenVinoEmbedder(CachedEmbedder):
    """The bundled E5 by `retrieval.openvino_bert`. Raises EmbedderUnavailable."""

    def __init__(self, folder: Path, name: str) -> None:
        from retrieval.openvino_bert import OpenVinoBert

        self.model = OpenVinoBert(folder)
        super().__init__(name, self.model.dim, "query: ", "passage: ")

    def _embed(self, kind: str, prefix: str, texts: list[str]) -> Vectors:
        rows = self.model.tokens([prefix + text for text in texts])
        self._count_truncated(map(len, rows), self.model.max_length)
        return self.model.encode(rows)


class SentenceTransformerEmbedder(CachedEmbedder):
    """A sentence-transformers model with its prefixes and a cache of its vectors. Thread-safe.

    A prefix of None is the model's own prompt. Queries and passages go through the model's `encode_query` and
    `encode_document`, since a model may have an encoder for each.

    The model reads the first `model.max_seq_length` tokens of a text.

    Raises:
        EmbedderUnavailable: the model or the library is missing.
    """

    def __init__(
        self,
        path_or_name: str,
        query_prefix: str | None = "query: ",
        passage_prefix: str | None = "passage: ",
        device: str | None = None,
        *,
        name: str | None = None,
    ) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbedderUnavailable(
                f"the embedder {path_or_name!r} needs sentence-transformers ({error}): pip install 'judge-r1[train]'"
            ) from error
        if problem := hub_problem(path_or_name, "modules.json"):
            raise EmbedderUnavailable(f"embedder {path_or_name!r}: {problem}, or write retriever={BUNDLED}")
        try:
            self.model = SentenceTransformer(path_or_name, device=device, trust_remote_code=False)
        except (OSError, ValueError, RuntimeError, AssertionError) as error:  # the last: torch without CUDA
            if "trust_remote_code" in str(error):
                raise EmbedderUnavailable(
                    f"embedder {path_or_name!r} cannot be loaded: its configuration names code of its own, which "
                    "judge-r1 never runs: use a model that sentence-transformers supports"
                ) from error
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise EmbedderUnavailable(
                f"embedder {path_or_name!r} cannot be loaded ({reason}): check the name and the network, or write "
                f"retriever=FOLDER, that of a downloaded model, or retriever={BUNDLED}, which needs no network"
            ) from error
        prompts: dict[str, str] = self.model.prompts
        # encode_document would take the prompt "document", which is "" for a model that ships "passage" (6.2)
        own = next((prompt for name in _PASSAGE_PROMPTS if (prompt := prompts.get(name))), "")
        super().__init__(
            name or path_or_name,
            self.model.get_embedding_dimension(),
            prompts.get("query", "") if query_prefix is None else query_prefix,
            own if passage_prefix is None else passage_prefix,
        )
        self._tokenizing = threading.Lock()
        self._preprocess = self.model.preprocess
        # sentence-transformers has no hook between tokenizing and the model, so its method is replaced.
        self.model.preprocess = self._locked_preprocess

    def _locked_preprocess(self, *args: Any, **options: Any) -> Any:
        """Tokenizes in one thread at a time: a fast tokenizer is not thread-safe. The model itself is, so a query does
        not wait until a long case is embedded."""
        with self._tokenizing:
            return self._preprocess(*args, **options)

    def _embed(self, kind: str, prefix: str, texts: list[str]) -> Vectors:
        limit = self.model.max_seq_length
        if limit is not None and not math.isinf(limit):
            with self._tokenizing:
                # Not verbose: the tokenizer would warn of the long texts that are looked for here.
                prefixed = [prefix + text for text in texts]
                encoded = self.model.tokenizer(prefixed, truncation=False, verbose=False, return_attention_mask=False)
            self._count_truncated(map(len, encoded["input_ids"]), limit)
        encode = getattr(self.model, f"encode_{kind}")
        found = encode(texts, prompt=prefix, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)


def uncached(embedder: Embedder) -> Embedder:
    """The embedder without its cache, if it has one. The vectors of a batch then depend on the batch alone."""
    if not isinstance(embedder, CachedEmbedder):
        return embedder
    same = copy.copy(embedder)
    same.cache = VectorCache(0)
    return same


class VectorCache:
    """A thread-safe LRU cache of vectors, at most `capacity` bytes. `hits` counts the vectors that it had."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.bytes = capacity, 0
        self.hits = 0
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, key: bytes) -> Vectors | None:
        with self._lock:
            if (vector := self._vectors.get(key)) is not None:
                self.hits += 1
                self._vectors.move_to_end(key)
            return vector

    def put(self, key: bytes, vector: Vectors) -> None:
        with self._lock:
            old = self._vectors.pop(key, None)
            self._vectors[key] = vector
            self.bytes += vector.nbytes - (0 if old is None else old.nbytes)
            while self.bytes > self.capacity:
                self.bytes -= self._vectors.popitem(last=False)[1].nbytes


def _key(*parts: str) -> bytes:
    """SHA-256 over the parts with their lengths, so that different tuples get different keys."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


def check_vectors(vectors: Vectors, count: int, embedder: Embedder) -> Vectors:
    """Returns `vectors` as contiguous float32 if they are `count` unit vectors of the embedder's dimension.

    Raises:
        BadVectors: the shape is wrong or a vector is not of length 1.
    """
    vectors = check_shape(vectors, count, embedder)
    if not (np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-3).all():  # also false for NaN
        raise BadVectors(f"embedder {embedder.name!r} returned vectors that are not of length 1: normalise them")
    return vectors


def check_shape(vectors: Vectors, count: int, embedder: Embedder) -> Vectors:
    """Returns `vectors` as contiguous float32 if they are `count` vectors of the embedder's dimension.

    Raises:
        BadVectors: the shape is wrong.
    """
    if vectors.shape != (count, embedder.dim):
        raise BadVectors(
            f"embedder {embedder.name!r} returned shape {vectors.shape} for {count} texts of {embedder.dim} dimensions"
        )
    return np.ascontiguousarray(vectors, dtype=np.float32)
