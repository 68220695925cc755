"""The runner: votes, resume after kills and faults, progress, memory."""

import asyncio
import gc
import gzip
import io
import json
import re
import resource
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation_factories import ScriptedJudge, toy_pairs, toy_suite
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from judge_r1.core import progress
from judge_r1.core.errors import JudgeError, StorageFull
from judge_r1.core.items import ItemResult
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.evaluation.report.vote_viewer import items_json
from judge_r1.evaluation.runner import evaluate
from judge_r1.evaluation.votes import EvaluationError, stored_votes
from judge_r1.files.digests import without_digest
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.panel import JudgePanel
from judge_r1.judges.request import JudgeRequest

PAIRS = toy_pairs(4)


def run(
    out: Path,
    judge: ScriptedJudge | None = None,
    *,
    resume: bool = False,
    row: str = "row",
    pairs: Sequence[ReasoningPair] = PAIRS,
) -> tuple[list[ItemResult], str]:
    stream = io.StringIO()
    console = Console(file=stream, width=100)
    results = evaluate(
        JudgePanel(row, (judge or ScriptedJudge(),)), toy_suite(pairs), out=out, resume=resume, console=console
    )
    return list(results.items), stream.getvalue()


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[ItemResult], bytes]:
    out = tmp_path_factory.mktemp("unbroken")
    return run(out)[0], (out / "votes.jsonl").read_bytes()


def test_an_evaluation_starts_inside_a_running_event_loop(
    unbroken: tuple[list[ItemResult], bytes], tmp_path: Path
) -> None:
    async def notebook_cell() -> list[ItemResult]:
        return run(tmp_path)[0]

    assert asyncio.run(notebook_cell()) == unbroken[0]
    assert (tmp_path / "votes.jsonl").read_bytes() == unbroken[1]


def test_every_pair_has_one_result_in_order_and_one_vote(unbroken: tuple[list[ItemResult], bytes]) -> None:
    outcomes, votes = unbroken
    assert [o.item_id for o in outcomes] == [p.pair_id for p in PAIRS]
    lines = [json.loads(line) for line in votes.decode().splitlines()]
    assert all(without_digest(line)[1] for line in votes.splitlines())
    assert {(line["row"], *line["order"], line["sample"], line["member"]) for line in lines} == {("row", 0, 1, 0, 0)}
    judge = ScriptedJudge()
    assert [Trajectory.model_validate(line["trajectory"]) for line in lines] == [judge.one(p) for p in PAIRS]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_traces_cut_at_any_byte_can_be_resumed(
    tmp_path: Path, unbroken: tuple[list[ItemResult], bytes], data: st.DataObject
) -> None:
    whole = unbroken[1]
    run_rows = (tmp_path / "rows.json").exists()
    if not run_rows:
        run(tmp_path)
    cut = data.draw(st.integers(0, len(whole)))
    (tmp_path / "votes.jsonl").write_bytes(whole[:cut])
    judge = ScriptedJudge()
    outcomes, said = run(tmp_path, judge, resume=True)
    assert (outcomes, (tmp_path / "votes.jsonl").read_bytes()) == unbroken
    *complete, rest = whole[:cut].split(b"\n")
    torn = bool(rest) and rest not in whole.split(b"\n")  # a kill may take the line feed alone
    assert len(judge.requested) == len(PAIRS) - len(complete) - (bool(rest) and not torn)
    assert ("torn" in said) == torn


def test_a_file_of_another_kind_is_not_cut(tmp_path: Path) -> None:
    run(tmp_path)
    votes = tmp_path / "votes.jsonl"
    packed = gzip.compress(votes.read_bytes())
    votes.write_bytes(packed)
    with pytest.raises(JudgeError, match=r"votes.jsonl: its last line is no record"):
        run(tmp_path, ScriptedJudge(), resume=True)
    assert votes.read_bytes() == packed


def test_panels_share_a_folder_and_a_torn_line_affects_only_its_panel(tmp_path: Path) -> None:
    first, _ = run(tmp_path, row="one")
    votes = tmp_path / "votes.jsonl"
    votes.write_bytes(votes.read_bytes()[:-7])
    run(tmp_path, ScriptedJudge("other", 3), row="two")
    again, _ = run(tmp_path, row="one", resume=True)
    assert again == first
    found = [(stored.row, stored.item_id) for stored in stored_votes(tmp_path)]
    assert len(found) == len(set(found)) == 2 * len(PAIRS)
    assert [stored.item_id for stored in stored_votes(tmp_path, "two")] == [p.pair_id for p in PAIRS]


def test_finished_panel_is_not_run_again(tmp_path: Path) -> None:
    first, _ = run(tmp_path)
    judge = ScriptedJudge()
    assert run(tmp_path, judge, resume=True)[0] == first
    assert judge.requested == []
    with pytest.raises(EvaluationError, match="holds 32 answers of judge 'row': add --resume to keep them"):
        run(tmp_path)


def test_panel_is_never_mixed_with_other_settings_judges_or_items(tmp_path: Path) -> None:
    run(tmp_path)
    other = ScriptedJudge()
    other.settings["temperature"] = 1.0
    with pytest.raises(EvaluationError, match="from before a change of its settings: choose another --out"):
        run(tmp_path, other, resume=True)
    with pytest.raises(EvaluationError, match="from before a change of its judge and settings: choose another --out"):
        run(tmp_path, ScriptedJudge("another", 3), resume=True)
    with pytest.raises(EvaluationError, match="from before a change of its items: choose another --out"):
        run(tmp_path, resume=True, pairs=PAIRS[1:])
    swapped = PAIRS[0].model_copy(update={
        "reasoning_a": PAIRS[0].reasoning_b, "reasoning_b": PAIRS[0].reasoning_a,
        "preferred": "B" if PAIRS[0].preferred == "A" else "A",
    })  # fmt: skip
    with pytest.raises(EvaluationError, match="from before a change of its items: choose another --out"):
        run(tmp_path, resume=True, pairs=[swapped, *PAIRS[1:]])


class Faulty(ScriptedJudge):
    """Yields what `change` makes of each pair's trajectory."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        number = -1
        async for played in super().judge(asks):
            number += 1
            if self.fault == "crash" and number == 9:
                raise RuntimeError("the endpoint is gone")
            if self.fault == "skip" and number == 9:
                continue
            if self.fault == "infrastructure" and number == 9:
                lost = played.trajectory.model_copy(update={"judgment": None, "ended": "infrastructure_timeout"})
                played = JudgeOutput(played.request, lost, played.request.read(lost))
            yield played
            if self.fault == "twice" and number == 9:
                yield played


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        ("crash", RuntimeError, "endpoint"),
        ("skip", EvaluationError, r"1 of 32 votes are missing.*--resume"),
        ("infrastructure", EvaluationError, r"^judge 'row': .* \(1 ended as infrastructure_timeout\): run .*--resume"),
        ("twice", EvaluationError, "unasked or twice"),
    ],
)
def test_after_a_fault_finished_votes_are_kept_and_others_run_again(
    tmp_path: Path, unbroken: tuple[list[ItemResult], bytes], fault: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        run(tmp_path, Faulty(fault))
    kept = {stored.item_id for stored in stored_votes(tmp_path)}
    assert 9 <= len(kept) < len(PAIRS)
    judge = ScriptedJudge()
    assert run(tmp_path, judge, resume=True)[0] == unbroken[0]
    assert set(judge.requested) == {p.pair_id for p in PAIRS} - kept


def test_unwritable_out_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(EvaluationError, match="choose another --out"):
        run(tmp_path / "file")
    (tmp_path / "rows.json").write_text("not json")
    with pytest.raises(JudgeError, match=r"rows\.json is not valid JSON"):
        run(tmp_path)


def test_full_disk_keeps_finished_votes(tmp_path: Path, unbroken: tuple[list[ItemResult], bytes]) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(unbroken[1]) // 2, limits[1]))
    try:
        with pytest.raises(StorageFull, match=r"File too large.*--resume"):
            run(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    judge = ScriptedJudge()
    assert run(tmp_path, judge, resume=True)[0] == unbroken[0]
    assert (tmp_path / "votes.jsonl").read_bytes() == unbroken[1]
    assert 0 < len(judge.requested) < len(PAIRS)


def test_repeated_or_missing_pairs_are_rejected(tmp_path: Path) -> None:
    for pairs in ([], [PAIRS[0], PAIRS[0]]):
        with pytest.raises(EvaluationError, match="items that differ"):
            run(tmp_path, pairs=pairs)


def test_an_item_that_is_shown_in_no_order_is_rejected(tmp_path: Path) -> None:
    suite = toy_suite(PAIRS)
    hidden = suite.items[1].item_id
    suite = replace(suite, presentation_orders=lambda item: [] if item.item_id == hidden else [(0, 1)])
    with pytest.raises(EvaluationError, match=f"item {hidden} in no order"):
        evaluate(JudgePanel("row", (ScriptedJudge(),)), suite, out=tmp_path / "out", resume=False)
    assert not (tmp_path / "out").exists()


def test_progress_shows_the_accuracy_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "AFTER_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.05)

    class Slow(ScriptedJudge):
        async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
            async for output in super().judge(requests):
                await asyncio.sleep(0.02)
                yield output

    run(tmp_path, Slow())
    lines = capfd.readouterr().err.splitlines()
    assert re.fullmatch(r"judging for row: \d+ of 32 after 0:00:\d\d, 0:00:\d\d left, accuracy [01]\.\d\d", lines[-1])


class Counting(ScriptedJudge):
    """Counts the trajectories that are alive whenever it is asked for the next one."""

    most = 0

    def one(self, pair: ReasoningPair) -> Trajectory:
        alive = sum(type(found) is Trajectory for found in gc.get_objects())
        self.most = max(self.most, alive)
        return super().one(pair)


@pytest.mark.parametrize("orders", [1, 2])
def test_trajectories_are_on_disk_and_not_in_memory(tmp_path: Path, orders: int) -> None:
    """However many items there are, also on a resume and when the report is written."""
    gc.collect()
    gc.freeze()  # keeps what other tests left out of get_objects()
    before = sum(type(found) is Trajectory for found in gc.get_objects())
    suite, judge = toy_suite(PAIRS), Counting()
    panel = JudgePanel("row", (judge,), orders=orders)
    results = evaluate(panel, suite, out=tmp_path, resume=False, console=Console(quiet=True))
    assert judge.most - before <= 4 < len(PAIRS)
    again = evaluate(panel, suite, out=tmp_path, resume=True, console=Console(quiet=True))
    assert again.items == results.items
    most = 0
    for _ in items_json([results, again], {}):
        most = max(most, sum(type(found) is Trajectory for found in gc.get_objects()))
    assert most - before <= 8 < len(PAIRS)
    assert [stored.item_id for stored in results.votes[PAIRS[3].pair_id]] == [PAIRS[3].pair_id] * orders
