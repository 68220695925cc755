"""Benchmarks of speed at their smallest size: every row is there, with positive numbers that agree with each other."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_r1.episode.reward import score, with_reward
from scripts.bench import (
    case_search,
    decoding,
    eval_memory,
    gatherer,
    index_size,
    loop_overhead,
    rating,
    reward,
    search_turn,
    serve_endpoint,
    throughput,
)

Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the `main` of a benchmark with options. Returns the rows of its JSON file, whose numbers are finite."""

    def run(module: Any, *options: object) -> list[dict[str, Any]]:
        name = module.__name__.rsplit(".", 1)[1]
        monkeypatch.setattr(sys, "argv", [name, "--out", str(tmp_path), *map(str, options)])
        module.main()
        assert (tmp_path / f"{name}.svg").stat().st_size > 0
        content = json.loads((tmp_path / f"{name}.json").read_text())
        assert content["benchmark"] == name
        assert content["machine"]["cores"] > 0
        rows: list[dict[str, Any]] = content["rows"]
        for row in rows:
            assert all(math.isfinite(value) for value in row.values() if not isinstance(value, str)), row
        return rows

    return run


def in_order(row: dict[str, Any], middle: str) -> None:
    """Checks that the median is positive and between the extremes."""
    assert 0 < row["lowest"] <= row[middle] <= row["highest"], row


def test_case_search_is_exact(run: Run) -> None:
    rows = run(case_search, "--cases", 12, "--dim", 16, "--queries", 8, "--rounds", 2)
    assert [(row["cases"], row["method"]) for row in rows] == [
        (12, name) for name in ("filter", "ids", "range", "case")
    ]
    for row in rows:
        assert 0 < row["p50_ms"] <= row["p95_ms"]
        assert min(row["searches_per_s"], row["batch_ms"], row["times_case"], row["batch_times_case"]) > 0
        assert (row["recall"], row["under_filled"]) == (1.0, 0.0)  # the filter sees all passages of 12 cases
    assert (rows[3]["times_case"], rows[3]["batch_times_case"]) == (1.0, 1.0)


def test_search_turn_compares_three_ways(run: Run) -> None:
    rows = run(search_turn, "--searches", 6, "--cases", 2, "--repeats", 2)
    assert [row["way"] for row in rows] == ["gathered in process", "one HTTP call", "6 HTTP calls"]
    for row in rows:
        in_order(row, "ms")
        assert row["times_gathered"] == pytest.approx(row["ms"] / rows[0]["ms"])


def test_loop_overhead_has_both_kinds_of_turns(run: Run) -> None:
    rows = run(loop_overhead, "--episodes", 2, "--repeats", 2)
    assert [row["what"] for row in rows] == ["loop", "loop and observations"]
    for row in rows:
        in_order(row, "ms_per_turn")


def test_reward_counts_both_calls(run: Run) -> None:
    pair, trajectory = reward.example()
    assert 0 < score(trajectory.judgment, pair)["r"] == (with_reward(trajectory, pair).reward or {})["r"]
    rows = run(reward, "--calls", 500, "--repeats", 2)
    assert [row["call"] for row in rows] == ["score", "with_reward"]
    for row in rows:
        in_order(row, "calls_per_s")


def test_index_size_grows_with_the_cases(run: Run) -> None:
    small, large = run(index_size, "--cases", 2, 4, "--dim", 8)
    assert [(row["cases"], row["passages"]) for row in (small, large)] == [(2, 100), (4, 200)]
    assert 0 < small["store_MB"] < large["store_MB"]
    for row in (small, large):
        assert row["index_s"] > 0
        assert row["cold_start_s"] > 0
        assert 0 < row["private_open_MB"] <= row["resident_MB"]


def test_gatherer_counts_the_answers_of_the_cache(run: Run) -> None:
    rows = run(gatherer, "--queries", 8, "--threads", 1, "--repeats", 2)
    assert [row["way"] for row in rows] == ["one call each", "gathered", "gathered, cached"]
    assert [row["hits"] for row in rows] == [0, 0, 6], "every query comes four times"
    for row in rows:
        in_order(row, "queries_per_s")


@pytest.mark.slow
def test_eval_memory_has_items_and_samples(run: Run) -> None:
    rows = run(eval_memory, "--episodes", 8, 16)
    kinds = [("items", 8), ("items", 16), ("samples", 8), ("samples", 16)]
    assert [(row["kind"], row["episodes"]) for row in rows] == kinds
    for row in rows:
        assert 0 < row["judging_MB"] <= row["peak_MB"]
        assert row["seconds"] > 0


@pytest.mark.slow
def test_throughput_judges_alike_in_every_way(run: Run) -> None:
    rows = run(throughput, "--pairs", 2, "--response-tokens", 8, "--repeats", 1)
    ways = ["generate, one at a time", "eval, local batch", "judge-r1 serve, 16 at once"]
    assert [row["way"] for row in rows][:3] == ways
    for row in rows:
        in_order(row, "pairs_per_s")
        assert row["times_generate"] > 0
    assert [row["differing"] for row in rows[:3]] == [0, 0, 0]
    assert rows[0]["times_generate"] == 1.0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory and processor time are read from /proc")
@pytest.mark.parametrize("judge", ["direct", "agentic"])
def test_serve_endpoint_compares_with_a_plain_proxy(run: Run, judge: str) -> None:
    plain, served, memory = run(
        serve_endpoint, "--judge", judge, "--clients", 2, "--seconds", 0.5, "--repeats", 2, "--answers", 40
    )
    assert [plain["server"], served["server"]] == ["plain proxy", "judge-r1 serve"]
    for row in (plain, served):
        in_order(row, "answers_per_s")
        assert row["cpu_ms"] > 0
    assert (plain["times_plain"], plain["cpu_times_plain"]) == (1.0, 1.0)
    assert len(memory["MiB"].split(", ")) == 5


def test_rating_agrees_with_evalica(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["rating", "--judges", "40", "--items", "60", "--repeats", "2"])
    rating.main()
    report = json.loads(capsys.readouterr().out)
    assert report["votes"] == 2400
    assert report["largest_elo_difference"] < 1e-3
    for name in ("ours_seconds", "evalica_seconds", "ours_by_evalica"):
        in_order(report[name], "median")


def test_both_attentions_sample_the_same_tokens(run: Run) -> None:
    rows = run(decoding, "--model", "bundled:tiny", "--rows", 2, "--prompt", 12, "--tokens", 3, "--repeats", 2)
    assert [row["attention"] for row in rows] == ["transformers", "grouped"]
    for row in rows:
        in_order(row, "ms_per_step")
    assert rows[0]["times"] == 1
