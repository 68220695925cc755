"""Instructions are selected without near duplicates, by cluster (HelloBench, appendix B)."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from data_builders.query_selection import Clustering, read_queries, select, without_duplicates
from judge_r1.core.errors import JudgeError
from judge_r1.files.tabular import rows
from retrieval.embedders import Vectors

LETTERS = "a long letter to the mayor about the old bridge over the river near the mill and the noise of its traffic"
TEXTS = [
    f"Write {LETTERS}",
    f"Please write {LETTERS}",  # a near duplicate
    f"Write {LETTERS[:20]} x",  # the same first characters
    "Explain how tides work in a shallow bay with two islands.",
    "Explain tides to a child.",
    "Describe why tides differ by day.",
    "Compose a hymn.",
]


class Fixed:
    """The letters point up, the tides to the right, and the hymn down."""

    name, dim = "fixed", 2

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        found = [(0.0, 1.0) if "letter" in t else (0.0, -1.0) if "hymn" in t else (1.0, 0.01 * len(t)) for t in texts]
        vectors = np.array(found, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    encode_passages = encode_queries


def table(path: Path) -> Path:
    lines = [{"id": n, "instruction": text, "response": "w " * (5 + n)} for n, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_duplicates_are_dropped_and_the_rest_is_clustered(tmp_path: Path) -> None:
    skipped = Counter[str]()
    found = without_duplicates(read_queries(rows(table(tmp_path / "q.jsonl")), 0, skipped), skipped)
    assert skipped == {"the same first 25 characters": 1, "a near duplicate": 1}
    assert [one.values["id"] for one in found] == [0, 3, 4, 5, 6]
    chosen, grid = select(found, Fixed(), Clustering(eps=0.1, min_samples=2), skipped)
    assert {row["id"]: row["cluster"] for row in chosen} == {3: 0, 4: 0, 5: 0, 0: -1, 6: -1}
    assert [row[:3] for row in grid.rows] == [("0", "3", "3"), ("alone", "2", "2")]
    central, _ = select(found, Fixed(), Clustering(0.1, 2, 1), skipped)
    assert [row["id"] for row in central] == [5, 0, 6], "the instruction in the middle stays"
    assert skipped["less central in its cluster"] == 2


def test_short_responses_are_left_out(tmp_path: Path) -> None:
    skipped = Counter[str]()
    assert len(read_queries(rows(table(tmp_path / "q.jsonl")), 10, skipped)) == 2
    assert skipped == {"a response of fewer than 10 words": 5}
    with pytest.raises(JudgeError, match="no instruction is left"):
        select([], Fixed(), Clustering(), skipped)
