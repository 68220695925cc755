"""`judge-r1 judge`: the text, the JSON and the page of a judged trace."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from paths import REPO
from trace_judge import QUESTION, answer
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.cli.judge import _lines
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.evaluation.report.trace_page import PAGE_CHARACTERS, result_json, trace_page
from judge_r1.judges.result import JudgeResult
from judge_r1.judges.trace_tasks import FoundEvent, TraceFinding, TraceResult, TraceText
from judge_r1.traces.trace import EventDraft, numbered, trace_case, trace_text

DATA = REPO / "tests" / "judge_r1" / "traces" / "data"

ANSWER = '<answer>{"comparison": "A>B", "violated_principles": [2], "explanation": "event 5"}</answer>'


def run(*words: str) -> str:
    result = CliRunner().invoke(app, ["judge", *words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("name", ["calc.eval", "verifiers.jsonl", "console_spans.json"])
def test_a_trace_from_the_command_line(tmp_path: Path, name: str) -> None:
    page = tmp_path / "page.html"
    with JudgeServer(answer) as server:
        words = [str(DATA / name), "--judge", f"agentic@{server.url}#m", "--question", QUESTION]
        shown = run(*words, "--mask", "--html", str(page))
        found = json.loads(run(*words, "--json"))
    assert shown.startswith("no\nThe other answer violates Factual Consistency\nthe test ran in event ")
    assert "6 searches" in shown
    assert "0 secrets masked" in shown
    assert "\n* [event " in shown
    assert "command: python3 test_calc.py" in shown
    assert (found["verdict"], found["valid"], found["masked"], found["searches"]) == ("no", True, None, 6)
    cited = [one for one in found["findings"][0]["events"] if one["cited"]]
    assert {one["kind"] for one in cited} == {"call", "message"}
    text = page.read_text(encoding="utf-8")
    assert text.count("· cited") == len(cited)
    assert "<mark>[event " in text
    assert "<script" not in text
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(re.findall(r'id="([^"]+)"', text))


def judged(texts: list[str], cited: int) -> TraceResult:
    trace = TraceText(trace_text(numbered(EventDraft("result", "tool", text, tool="bash") for text in texts)))
    finding = TraceFinding("Is it so?", "no", 0.0, False, "event", (FoundEvent(trace.events[cited], True),))
    result = JudgeResult(PairwiseVerdict(winner="B"), (), None, (), None, "answer", Trajectory.without_ids("answer"))
    return TraceResult("judge", "question", trace, (finding,), (result,))


def test_a_page_folds_what_the_judge_did_not_read_and_escapes_everything() -> None:
    page = trace_page(judged(["<script>alert(1)</script>", "b", "c", "d"], 2), title="<b>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<summary>2 events</summary>" in page


def test_events_that_were_cited_and_never_read_are_named() -> None:
    found = judged(["a", "b"], 1)
    [finding], event = found.findings, replace(found.findings[0].events[0], read=False)
    found = replace(found, findings=(replace(finding, events=(event,), unknown=("9",)),))
    note = "cites event 9, which the trace does not have"
    text, page, data = "\n".join(_lines(found, 1)), trace_page(found, title="t"), result_json(found)
    assert f"note: {note}" in text
    assert "2 events, 0 searches, 1 event read or cited, 1 cited\n1 secret masked" in text
    assert "* (cited, not read) [event 1:" in text
    assert note in page
    assert "(cited, not read)" in page
    assert "· cited, not read</span>" in page
    assert (data["findings"][0]["note"], data["findings"][0]["events"][0]["state"]) == (note, "cited, not read")


def test_a_page_of_a_long_trace_says_what_it_leaves_out() -> None:
    texts = [f"line {number} " * 200 for number in range(PAGE_CHARACTERS // 500)]
    page = trace_page(judged(texts, len(texts) // 2), title="long")
    assert len(page) < PAGE_CHARACTERS / 5
    left_out = [int(count) for count in re.findall(r"(\d+) events of \d+ characters are not on this page", page)]
    assert len(left_out) == 2
    assert sum(left_out) == len(texts) - page.count('<details class="event')


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --question, --rubric or --compare"),
        (["--question", "a", "--rubric", "b.yaml"], "only --question and --compare go together"),
        (["--compare", "b.eval", "--rubric", "b.yaml"], "only --question and --compare go together"),
        (["--question", " "], "the question is blank"),
        (["--question", "a", "--number", "2"], "holds 1 sample: there is no number 2"),
        (["--question", "a", "--compare-number", "2"], "--compare-number is for --compare: leave it out"),
        (["--rubric", "none.yaml"], "none.yaml cannot be read"),
        (["--question", "a", "--judge", "longer"], "judge 'longer' has no model to answer with: name one"),
    ],
)
def test_errors(words: list[str], message: str) -> None:
    named = [] if "--judge" in words else ["--judge", "agentic@http://127.0.0.1:9/v1#m"]
    result = CliRunner().invoke(app, ["judge", str(DATA / "calc.eval"), *named, *words])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("name", "reply", "warning"),
    [
        ("direct", "hm", "warning: the judge gave no valid answer (rejected_no_json)"),
        ("panel:orders=1(direct", ANSWER, ""),
        ("direct", ANSWER, "warning: the judge is undecided"),
        ("panel:orders=2(direct", ANSWER, "warning: the judge is undecided"),
    ],
)
def test_a_judge_without_an_answer_ends_with_a_warning(tmp_path: Path, name: str, reply: str, warning: str) -> None:
    page = tmp_path / "new" / "page.html"
    with JudgeServer(lambda path, body: chat_completion(reply)) as server:
        spec = f"{name}@{server.url}#m" + ")" * name.count("(")
        words = [str(DATA / "calc.eval"), "--judge", spec, "--question", QUESTION]
        result = CliRunner().invoke(app, ["judge", *words, "--html", str(page)])
    assert result.exit_code == bool(warning), result.output
    assert result.stderr.strip() == warning
    assert "11 events, " in result.stdout
    assert page.exists()


def test_a_search_of_a_trace_names_the_kinds_of_events(tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    case = trace_case(numbered([EventDraft("message", "user", "Fix it."), EventDraft("thought", "assistant", "How?")]))
    cases.write_text(case.model_dump_json(by_alias=True) + "\n")
    search = ["search", str(cases), "--retriever", "bm25"]
    assert "How?" in CliRunner().invoke(app, [*search, "kind:thought"]).output
    result = CliRunner().invoke(app, [*search, "kind:nonsense it"])
    assert result.exit_code == 2
    assert "the kinds of events are message, thought, call, result" in " ".join(result.output.split())
