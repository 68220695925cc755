"""A small deterministic embedder (hashed bags of words) and a reference implementation of the dense index."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class HashEmbedder:
    """A word adds 1 to one of `dim` coordinates; vectors have length 1. Counts its calls."""

    name = "hash"

    def __init__(self, dim: int = 16) -> None:
        self.dim = dim
        self.query_calls: list[list[str]] = []
        self.passage_calls: list[list[str]] = []

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.query_calls.append(list(texts))
        return self._encode(texts)

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.passage_calls.append(list(texts))
        return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()) or ["-"]:
                vectors[row, hashlib.sha256(word.encode()).digest()[0] % self.dim] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
