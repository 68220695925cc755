"""The benchmarks at their smallest size: every row is there, with positive numbers that agree with each other."""

import json
import math
import sys
from pathlib import Path

import pytest

from retrieval.embedders import CachedEmbedder, load_embedder
from scripts.bench import case_search
from scripts.gpu_checks.retrieval import query_rates


def test_case_search_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = ["--cases", "12", "--dim", "16", "--queries", "8", "--rounds", "2"]
    monkeypatch.setattr(sys, "argv", ["case_search", "--out", str(tmp_path), *sizes])
    case_search.main()
    assert (tmp_path / "case_search.svg").stat().st_size > 0
    content = json.loads((tmp_path / "case_search.json").read_text())
    assert content["benchmark"] == "case_search"
    assert content["machine"]["cores"] > 0
    rows = content["rows"]
    assert [(row["cases"], row["method"]) for row in rows] == [
        (12, name) for name in ("filter", "ids", "range", "case")
    ]
    for row in rows:
        assert all(math.isfinite(value) for value in row.values() if not isinstance(value, str)), row
        assert 0 < row["p50_ms"] <= row["p95_ms"]
        assert min(row["searches_per_s"], row["batch_ms"], row["times_case"], row["batch_times_case"]) > 0
        assert (row["recall"], row["under_filled"]) == (1.0, 0.0)  # the filter sees all passages of 12 cases
    assert (rows[3]["times_case"], rows[3]["batch_times_case"]) == (1.0, 1.0)


def test_gathered_queries_count_the_answers_of_the_cache() -> None:
    embedder = load_embedder("bundled:e5-small")
    assert isinstance(embedder, CachedEmbedder)
    rows = query_rates(embedder, queries=8, threads=1, repeats=2)
    assert [row["way"] for row in rows] == ["one call each", "gathered", "gathered, cached"]
    assert [row["hits"] for row in rows] == [0, 0, 6], "every query comes four times"
    for row in rows:
        assert 0 < row["lowest"] <= row["queries_per_s"] <= row["highest"], row
