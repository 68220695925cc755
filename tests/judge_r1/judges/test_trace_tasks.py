"""Questions, rubrics and comparisons of traces, with real episodes of a judge behind an endpoint."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from paths import REPO
from trace_judge import ALWAYS_A, QUESTION, answer

from judge_r1.api import load_judge
from judge_r1.core.case_store import CaseStore
from judge_r1.core.checklist import Checklist, Criterion
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Judgment, PairwiseVerdict, Preference, reorder
from judge_r1.judges.base import BadJudge, JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.trace_tasks import (
    TraceResult,
    TraceTask,
    TraceText,
    describe,
    trace_requests,
    trace_result,
    with_trace_options,
)
from judge_r1.traces import Masked, read_events
from judge_r1.traces.trace import EventDraft, numbered, trace_text

DATA = REPO / "tests" / "judge_r1" / "traces" / "data"
MESSAGES = [
    {"role": "user", "content": "Fix the test. password: hunter2hunter2"},
    {"role": "assistant", "content": "All pass."},
]


@pytest.fixture
def url() -> Iterator[str]:
    with JudgeServer(answer) as server:
        yield server.url


@pytest.mark.parametrize("name", ["calc.eval", "verifiers.jsonl", "otlp.json"])
def test_a_question_about_a_real_trace(url: str, name: str) -> None:
    judge = load_judge(with_trace_options(f"agentic@{url}#m"))
    found = judge(trace=DATA / name, question=QUESTION)
    assert (found.verdict, found.valid, found.violated_principles) == ("no", True, (2,))
    cited = [one.event for one in found.events if one.cited]
    assert [event.text for event in cited if event.kind == "call"] == [
        "command: python3 test_calc.py", "command: sed -i 's/a - b/a + b/' calc.py",
    ]  # fmt: skip
    assert cited[-1].text.endswith("ran the test again: it passes.")
    text = found.trace.text
    read = [text[start:end] for one in found.events for start, end in one.spans]
    assert read
    assert all(part.startswith("[event ") for part in read)
    assert [len(result.trajectory.turns) for result in found.results] == [8]  # both orders


def test_a_judge_that_searches_gets_no_event_in_its_prompt() -> None:
    with JudgeServer(answer) as server:
        load_judge(with_trace_options(f"agentic@{server.url}#m"))(trace=DATA / "calc.eval", question=QUESTION)
        first = json.dumps(server.bodies[0])
        assert "add subtracts" not in first
        assert "tools: bash (3 calls)" in first
        load_judge(f"direct@{server.url}#m")(trace=DATA / "calc.eval", question=QUESTION)
        assert "add subtracts" in json.dumps(server.bodies[-1])


@pytest.mark.parametrize("kind", ["agentic", "checklist:form=search", "checklist"])
def test_a_rubric(url: str, tmp_path: Path, kind: str) -> None:
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text(
        '- Did it run the test before it edited?\n- {question: "Did it test after the edit?", weight: 3}\n'
    )
    found = load_judge(with_trace_options(f"{kind}@{url}#m"))(trace=DATA / "calc.eval", rubric=rubric)
    assert found.valid
    answers = [finding.score for finding in found.findings]
    assert answers == ([0.0, 0.0] if kind == "agentic" else [1.0, 0.0])
    assert found.score == pytest.approx(0.0 if kind == "agentic" else 0.25)
    assert found.failed[-1] == "Did it test after the edit?"
    assert found.events
    assert "criteria failed" in found.verdict


def test_two_traces_are_compared_in_one_case(url: str) -> None:
    judge = load_judge(with_trace_options(f"agentic@{url}#m"))
    found = judge(trace=DATA / "calc.eval", compare=DATA / "otlp.json")
    assert found.verdict == "B is better"
    assert {one.event.trace for one in found.events} == {"A", "B"}
    with pytest.raises(BadJudge, match="judges one text at a time"):
        load_judge(f"checklist@{url}#m")(trace=DATA / "calc.eval", compare=DATA / "otlp.json")


def test_messages_in_memory_are_masked() -> None:
    masked = Masked()
    found = load_judge("always-a")(trace=MESSAGES, compare=MESSAGES[1:], masked=masked)
    assert (found.verdict, masked.count) == ("A is better", 1)
    assert "hunter2" not in found.trace.text


@pytest.mark.parametrize("spec", ["longer", "evidence", "random", "always-a", "panel:orders=1(always-a)"])
def test_a_judge_without_a_model_answers_no_question(spec: str) -> None:
    with pytest.raises(BadJudge, match=r"^judge '[a-z-]+' has no model to answer with: name one"):
        load_judge(spec)(trace=MESSAGES, question="Is it so?")


def test_an_undecided_judge_and_an_invalid_answer_are_no_yes_and_no_no() -> None:
    with JudgeServer(lambda path, body: (200, {"choices": [{"message": {"content": "hm"}}]})) as server:
        found = load_judge(f"direct@{server.url}#m")(trace=MESSAGES, question="Is it so?")
    assert not found.valid
    assert found.verdict.startswith("no valid answer (")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("agentic:retriever=bm25,prompt_tokens=50", r"prompt_tokens \(of the SPEC, or of the recipe.yaml beside the "
         r"model\) is 50: raise it by the option prompt_tokens=\d+ of the SPEC, or take a model that reads more$"),
        ("agentic:retriever=bm25", r"and an episode of up to 7000 are more than the \d+ tokens that the model reads: "
         r"lower budget.response_tokens or budget.max_searches in the SPEC, or take a model that reads more$"),
        ("direct:prompt_tokens=50", "or an agentic judge, which searches the trace instead of reading it whole$"),
    ],
)  # fmt: skip
def test_a_trace_that_does_not_fit_says_which_limit_to_raise(spec: str, message: str) -> None:
    name = spec.partition(":")[0]
    said = rf"^judge {name}@bundled:tiny: none of 2 prompts fits.* its prompt (has|of) \d+ tokens.*{message}"
    with pytest.raises(BadJudge, match=said):
        load_judge(f"{spec}@bundled:tiny")(trace=MESSAGES, question="Is it done?")


@pytest.mark.parametrize("given", [{}, {"question": "a", "rubric": "b"}, {"rubric": "b", "compare": MESSAGES}])
def test_one_thing_is_asked(given: dict[str, object]) -> None:
    with pytest.raises(BadJudge, match="give a question, a rubric, or a trace to compare with"):
        load_judge("longer")(trace=MESSAGES, **given)


def test_what_a_judge_is_told_of_a_trace() -> None:
    assert describe(TraceText(trace_text(read_events(DATA / "calc.eval")))).startswith(
        "The case file is the trace of an agent: it has the events 0 to 10; tools: bash (3 calls); event 0 states the "
        "task; event 10 is the last message of the agent.\nA query may name events"
    )


@pytest.mark.parametrize(
    ("spec", "full"),
    [
        ("agentic@runs/model", "agentic:retriever=bm25@runs/model"),
        ("agentic:retriever=bundled:e5-small@m", "agentic:retriever=bundled:e5-small@m"),
        ("agentic:prompt=standard@http://h/v1#m", "agentic:prompt=standard,retriever=bm25@http://h/v1#m"),
        ("agentic@http://h/v1#m", "agentic:retriever=bm25,prompt=search-r1@http://h/v1#m"),
        ("longer", "longer"),
        (
            "panel:orders=2(agentic@m|x=agentic@n|longer)",
            "panel:orders=2(agentic:retriever=bm25@m|x=agentic:retriever=bm25@n|longer)",
        ),
        ("selective:calibration=c.json(agentic@m)", "selective:calibration=c.json(agentic:retriever=bm25@m)"),
        ("direct@http://h/v1#m", "direct@http://h/v1#m"),
    ],
)
def test_options_for_traces(spec: str, full: str) -> None:
    assert with_trace_options(spec) == full


NINE = TraceText(trace_text(numbered(EventDraft("message", "assistant", f"m{number}") for number in range(9))))


def found(task: TraceTask, winner: Preference, explanation: str, spec: str) -> TraceResult:
    """The result of a verdict with an explanation, by a judge that made no search."""
    cases = CaseStore()
    requests = trace_requests(make_judge(spec, JudgeBuild("", texts=cases)), cases, NINE, task, "x")
    outputs = []
    for one in requests:
        verdict = reorder(PairwiseVerdict(winner=winner), one.order)
        judgment = Judgment(verdict=verdict, violated_principles=(2,), explanation=explanation, evidence=())
        outputs.append(JudgeOutput(one, Trajectory.without_ids("answer", (), judgment), verdict))
    return trace_result("j", NINE, task, outputs)


@pytest.mark.parametrize(
    ("spec", "is_whole"),
    [
        ("panel(agentic:retriever=bm25@http://127.0.0.1:9/v1#m)", False),
        ("panel(agentic:retriever=bm25@http://127.0.0.1:9/v1#m|direct@http://127.0.0.1:9/v1#m)", True),
    ],
)
def test_a_panel_of_judges_that_search_gets_no_event_in_its_prompts(spec: str, is_whole: bool) -> None:
    cases = CaseStore()
    judge = make_judge(spec, JudgeBuild("", texts=cases))
    for request in trace_requests(judge, cases, NINE, TraceTask.question("Is it so?"), "x"):
        assert request.task.context == (NINE.text if is_whole else "")


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [("direct@URL", "undecided"), ("panel(direct@URL)", "undecided"), ("panel:orders=1(direct@URL)", "yes")],
)
def test_a_question_is_asked_in_both_orders(spec: str, verdict: str) -> None:
    with JudgeServer(lambda path, body: chat_completion(ALWAYS_A)) as server:
        found = load_judge(spec.replace("URL", f"{server.url}#m"))(trace=MESSAGES, question="Is it so?")
    assert found.verdict == verdict
    said = "With 'Yes.' first, the judge says 'Yes.': so\nWith 'No.' first, the judge says 'No.': so"
    assert found.findings[0].reason == (f"The two orders disagree.\n{said}" if verdict == "undecided" else "so")


def test_an_undecided_answer_cites_the_events_of_both_orders() -> None:
    def says(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        first = body["messages"][-1]["content"].rindex("Yes.") < body["messages"][-1]["content"].rindex("No.")
        reason = f"event {1 if first else 2} shows it"
        said = json.dumps({"comparison": "A>B", "violated_principles": [2], "explanation": reason})
        return 200, {"choices": [{"message": {"content": said}}]}

    with JudgeServer(says) as server:
        found = load_judge(f"direct:prompt=chain-of-thought@{server.url}#m")(
            trace=DATA / "calc.eval", question=QUESTION
        )
    assert found.verdict == "undecided"
    assert found.findings[0].reason.count("shows it") == 2
    assert [one.event.index for one in found.events if one.cited] == [1, 2]


def test_a_judge_sees_yes_first_and_second() -> None:
    with JudgeServer(answer) as server:
        load_judge(f"direct@{server.url}#m")(trace=DATA / "calc.eval", question=QUESTION)
        shown = sorted(body["messages"][-1]["content"][-50:] for body in server.bodies)
    assert [text.index("Yes.") < text.index("No.") for text in shown] == [False, True]


@pytest.mark.parametrize(("winner", "answer", "score"), [("A", "no", 1.0), ("B", "yes", 0.0)])
def test_the_choices_of_a_criterion_are_the_answers(winner: Preference, answer: str, score: float) -> None:
    criterion = Criterion(question="Did it delete the tests?", choices=("yes", "no"))
    task = TraceTask.rubric(Checklist(criteria=(criterion,)))
    direct = "direct@http://127.0.0.1:9/v1#m"
    judged = found(task, winner, "it did", direct)
    assert judged.results[0].winner == winner
    assert (judged.findings[0].answer, judged.score, bool(judged.failed)) == (answer, score, answer == "yes")
    request, other = trace_requests(make_judge(direct, JudgeBuild("")), CaseStore(), NINE, task, "x")
    assert request.item.candidates == ("No.", "Yes.")
    assert (other.order, other.task.reasoning_a) == ((1, 0), "Yes.")


@pytest.mark.parametrize(
    ("said", "cited", "note"),
    [
        ("see events 4-6 and 8", "4568", None),
        ("see Event 1, events 2 to 4", "1234", None),
        ("events 7-12", "78", "cites event 12, which the trace does not have"),
        ("event 99 and 98", "", "cites events 99, 98, which the trace does not have"),
        ("event 5 says it", "5", None),
    ],
)
def test_the_events_that_an_explanation_names(said: str, cited: str, note: str | None) -> None:
    agentic = "agentic:retriever=bm25@http://127.0.0.1:9/v1#m"
    for spec, state in [(agentic, "cited, not read"), ("direct@http://127.0.0.1:9/v1#m", "cited")]:
        [finding] = found(TraceTask.question("Is it so?"), "A", said, spec).findings
        assert "".join(one.event.label for one in finding.events) == cited
        assert {one.state for one in finding.events} <= {state}
        assert finding.note == note
