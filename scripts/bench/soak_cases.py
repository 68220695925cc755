"""Cases for tests of retrieval without a model: texts that differ little, words as vectors, and slow reads of files."""

import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random

import numpy as np

from retrieval.embedders import Vectors

WORDS, PASSAGES, DIM = 12, 24, 64
QUERIES = [f"who paid {amount} euros in {month}" for amount in range(50) for month in ("March", "April", "May")]


class WordEmbedder:
    """The sum of one random vector per word: fast, and the same in every process."""

    name, dim = "words", DIM
    _table = np.random.default_rng(0).standard_normal((4096, DIM), dtype=np.float32)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts])

    encode_queries = encode_passages

    @lru_cache(maxsize=1024)  # noqa: B019 one embedder in a process
    def _vector(self, text: str) -> Vectors:
        vector = self._table[[zlib.crc32(word.encode()) % 4096 for word in text.split()]].sum(axis=0)
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit


def text_of(case_id: str) -> str:
    """The text of a case. Every passage names the case and is like passages of all other cases."""
    random = Random(case_id)
    return " ".join(
        f"In {random.choice(('March', 'April', 'May'))} the buyer of {case_id} paid {random.randrange(50)} euros to "
        f"seller {number}."
        for number in range(PASSAGES)
    )


class FolderTexts(Mapping[str, str]):
    """Cases as files of a folder. One in fifty reads is slow."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._random = folder, Random()

    def __getitem__(self, case_id: str) -> str:
        if self._random.random() < 0.02:
            time.sleep(self._random.uniform(0.02, 0.2))
        try:
            return (self.folder / case_id).read_text()
        except FileNotFoundError:
            raise KeyError(case_id) from None

    def __contains__(self, case_id: object) -> bool:
        return (self.folder / str(case_id)).exists()

    def __iter__(self) -> Iterator[str]:
        return iter(os.listdir(self.folder))

    def __len__(self) -> int:
        return len(os.listdir(self.folder))
