"""Promise 5, builds: after kill -9 at any moment, a re-run gives the result of an uninterrupted run. No record is lost
or duplicated, and only teacher calls in flight at a kill are repeated."""

import json
from pathlib import Path
from random import Random

import fake_teacher
import fault_run
import pytest
from fake_llm_server import FakeLLMServer, Faults

from data_builders.validate import validate
from judge_r1.files.pair_set import load_pairs

DATA = ("cases.jsonl", "pairs.jsonl", "build.json", "opinions.jsonl")
CONCURRENCY, KILLS = 24, 5
LIMITS = {"mini": "14", "builtin": "7"}
"""Sources and their cases. Builds of `builtin` balance the placement, which depends on all earlier pairs."""


def arguments(source: str, server: FakeLLMServer, out: Path) -> list[str]:
    plan = [source, f"limit={LIMITS[source]}", "variants=4", f"concurrency={CONCURRENCY}", "--out", str(out)]
    return [*plan, f"teacher={server.chat}", f"verify={server.chat.replace('#toy', '#second')}"]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("source", LIMITS)
def test_a_build_killed_five_times_under_faults_equals_an_uninterrupted_one(source: str, tmp_path: Path) -> None:
    with FakeLLMServer(fake_teacher.liar) as server:
        fault_run.build(
            arguments(source, server, tmp_path / "uninterrupted"),
            server,
            tmp_path / "uninterrupted.sqlite",
            kills=[],
            seed=0,
            timeout_s=600,
        )
        calls = server.served.total()
        assert server.duplicates == 0
    moments = sorted(Random(5).sample(range(calls), KILLS))
    with FakeLLMServer(fake_teacher.liar, faults=Faults(rate=0.3, stall_s=0.3), latency_s=0.02) as server:
        run = fault_run.build(
            arguments(source, server, tmp_path / "faults"),
            server,
            tmp_path / "faults.sqlite",
            kills=moments,
            seed=6,
            timeout_s=900,
        )
        assert server.errors == []
        assert server.injected.total() > 0.2 * server.calls.total()
        repeated = server.repeated
    assert run.kills == KILLS
    assert run.runs == KILLS + 1
    assert repeated <= sum(run.lost), "only calls in flight at a kill are repeated"
    assert all(lost <= 2 * CONCURRENCY for lost in run.lost)
    for name in DATA:
        assert (tmp_path / "faults" / name).read_bytes() == (tmp_path / "uninterrupted" / name).read_bytes(), name
    assert sorted(path.name for path in (tmp_path / "faults").iterdir()) == sorted([*DATA, "timing.json"])
    spent = json.loads((tmp_path / "faults" / "timing.json").read_text())["spending"]
    assert sum(bill["from_cache"] for bill in spent.values()) > 0
    pairs = load_pairs(tmp_path / "faults").pairs
    assert len(pairs) > 100
    assert validate(tmp_path / "faults").good
