"""Planted flaws in accounts of people's own agents' traces."""

import json
import re
from pathlib import Path
from random import Random

import pytest
from agent_traces import call, write_agent_traces
from command_server import run

from data_builders.build import build
from data_builders.generators.base import BuildPlan
from data_builders.generators.trace_accounts import Traces, claims
from data_builders.perturb.pair_checks import check_pair
from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.traces import read_events
from judge_r1.traces.trace import trace_events, trace_text

OPERATORS = {"contradicted_result", "invented_file", "unrun_command", "wrong_quote"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> PairSet:
    out = tmp_path_factory.mktemp("traces")
    traces = write_agent_traces(out / "agents", 8)
    done = run("build", "traces", f"path={traces}", "--out", out)
    assert done.returncode == 0, done.stderr
    return load_pairs(out)


def test_every_kind_of_flaw_is_planted_where_its_label_says(built: PairSet) -> None:
    """Read again from the events, without the generator's own checks."""
    found = set()
    for pair in built.pairs:
        case = built.case_of(pair)
        assert check_pair(case, pair) is None
        events = {(event.start, event.end): event for event in trace_events(case.context)}
        reference, flawed = case.reference.split("\n"), pair.flawed.split("\n")
        assert len(pair.origin.flaws) == sum(one != other for one, other in zip(reference, flawed, strict=True))
        for flaw in pair.origin.flaws:
            false = pair.flawed[flaw.span.start : flaw.span.end]
            start = flaw.span.start - pair.flawed.rfind("\n", 0, flaw.span.start) - 1
            number = pair.flawed.count("\n", 0, flaw.span.start)
            true = reference[number][start : len(reference[number]) - len(flawed[number]) + start + len(false)]
            if flaw.principle == 4:
                assert false not in case.context
                assert true in case.context
            else:
                [event] = [events[span.start, span.end] for span in flaw.context_spans]
                assert true in event.text
                assert false not in event.text
            found.add(flaw.operator)
    assert found == OPERATORS


def test_another_seed_makes_another_account_of_a_trace(tmp_path: Path) -> None:
    traces = write_agent_traces(tmp_path / "agents", 1)
    made = [Traces(BuildPlan(source="traces", path=traces, seed=seed)) for seed in (0, 0, 1)]
    item = next(made[0].items())
    references = [built.records[0] for built in (one.generate(item) for one in made) if built]
    assert references[0] == references[1] != references[2]


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    traces = write_agent_traces(tmp_path / "agents", 1)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        build("traces", tmp_path / name, path=traces, seed=seed)
    for file in ("cases.jsonl", "pairs.jsonl", "build.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert (tmp_path / "a" / "cases.jsonl").read_bytes() != (tmp_path / "c" / "cases.jsonl").read_bytes()


def test_traces_of_a_folder_become_cases(tmp_path: Path) -> None:
    """Messages of a chat, as any agent leaves them."""
    calls = [
        ("pytest tests/test_rates.py", "test_rates.py .F\n1 failed, 14 passed in 3 runs"),
        ("cat src/rates.py", "RATE = 0.25\nDAYS = 30"),
        ("pytest tests/test_fees.py", "test_fees.py ....\n4 passed in 2 runs"),
        ("ls -l src/fees.py src/dues.py", "812 src/fees.py\n97 src/dues.py"),
    ]
    messages: list[dict[str, object]] = [{"role": "user", "content": "Repair the rates."}]
    for number, (command, output) in enumerate(calls):
        messages += [call(f"c{number}", command), {"role": "tool", "tool_call_id": f"c{number}", "content": output}]
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(messages))
    report = build("traces", tmp_path / "out", path=folder)
    data = load_pairs(tmp_path / "out")
    [case] = data.cases.values()
    assert (report["cases"], case.source) == (1, "traces/run.json")
    assert {flaw.operator for pair in data.pairs for flaw in pair.origin.flaws} >= {"wrong_quote", "unrun_command"}
    assert re.search(r"In the only run of `[^`]+`, the output has the line “[^”]+”\.", case.reference)


def test_a_result_belongs_to_a_call_only_where_no_other_stands_beside_it(tmp_path: Path) -> None:
    """Calls side by side, braces in a command, and a count that failed."""
    messages = [
        {"role": "user", "content": "Look."},
        call("a", "cat src/one.py", "cat src/two.py"),
        {"role": "tool", "tool_call_id": "a", "content": "ONE = 1111"},
        {"role": "tool", "tool_call_id": "a-1", "content": "TWO = 2222"},
        call("b", "awk '{print $1}' data/rows_17.csv"),
        {"role": "tool", "tool_call_id": "b", "content": "row 3333 of 9"},
        call("c", "wc -l src/gone.py"),
        {"role": "tool", "tool_call_id": "c", "content": "wc: src/gone.py: No such file"},
    ]
    (tmp_path / "run.json").write_text(json.dumps(messages))
    text = trace_text(read_events(tmp_path / "run.json"))
    found = list(claims(trace_events(text), Random(0)))
    assert {claim.true for claim in found if claim.kind in ("quote", "lines", "result")} == {"row 3333 of 9"}
    [quote] = [claim for claim in found if claim.kind == "quote"]
    assert quote.line("x") == "In the only run of `awk '{print $1}' data/rows_17.csv`, the output has the line “x”."


def test_a_folder_is_needed_and_must_hold_a_trace(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="traces needs path=PATH"):
        Traces(BuildPlan(source="traces"))
    with pytest.raises(JudgeError, match="holds no file"):
        build("traces", tmp_path / "out", path=tmp_path)


def test_texts_that_no_event_shows_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [file] = write_agent_traces(tmp_path / "agents", 1).iterdir()
    messages = json.loads(file.read_text())
    messages[1]["remark"] = "Nobody reads this."
    file.write_text(json.dumps(messages))
    report = build("traces", tmp_path / "out", path=tmp_path / "agents")
    assert report["unread_texts"] == {file.name: {"remark": 1}}
    assert f"note: {file}: 1 text in no event, left out: remark" in capsys.readouterr().err
