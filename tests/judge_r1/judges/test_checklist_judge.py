"""The checklist judge: its parser, one call and one search per question, own rubrics, and the LLM-Eval baselines."""

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer
from hash_embedder import HashEmbedder
from hellobench_factories import judgement, scripted_answer

from judge_r1.benchmarks.base import LoadedBenchmark, both_orders
from judge_r1.core.checklist import Checklist, Criterion
from judge_r1.core.items import Item
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, ScoresVerdict
from judge_r1.judges.base import BadJudge, Judge, JudgeBuild, JudgeOutput, run_all
from judge_r1.judges.checklist.llm_eval import read_overall
from judge_r1.judges.checklist.task import ChecklistTask, checklist_task, read_answers
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest

TWO = Checklist.of(["Is it long?", "Is it new?"])
GOOD = judgement([0.75, 1])


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"Here it is:\n```json\n{json.dumps(GOOD, indent=1)}\n```\nDone.",
        repr(GOOD),
        json.dumps({"evaluation": GOOD}),
        json.dumps(GOOD[::-1]),
        json.dumps([{**entry, "evaluation_score": str(entry["evaluation_score"])} for entry in GOOD]),
    ],
)
def test_answers_are_read_in_any_usual_form(text: str) -> None:
    verdict = read_answers(text, TWO)
    assert isinstance(verdict, ChecklistVerdict)
    assert (verdict.scores, verdict.reasons) == ({"0": 0.75, "1": 1.0}, {"0": "reason 0", "1": "reason 1"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Very good.", "no_answers"),
        ("[1, 2]", "no_answers"),
        (json.dumps(judgement([1])), "missing_item"),
        (json.dumps(judgement([1, 1, 1])), "unknown_item"),
        (json.dumps([*GOOD, GOOD[0]]), "repeated_item"),
        (json.dumps(judgement([1, 0.6])), "bad_score"),
        (json.dumps(judgement([1, 2])), "bad_score"),
        (json.dumps([{"checklist_id": "x", "evaluation_score": 1}]), "unknown_item"),
        (json.dumps([{"checklist_id": n, "evaluation_score": True} for n in (0, 1)]), "bad_score"),
    ],
)
def test_nothing_is_rounded_or_filled_in(text: str, reason: str) -> None:
    assert read_answers(text, TWO) == InvalidVerdict(reason=reason)


def test_choices_have_their_own_levels() -> None:
    binary = Checklist(criteria=(Criterion(question="Is it?", choices=("no", "yes")),))
    assert json.loads(binary.shown)[0]["scores"] == {"no": 0.0, "yes": 1.0}
    assert read_answers(json.dumps(judgement([0.5])), binary) == InvalidVerdict(reason="bad_score")
    assert isinstance(read_answers(json.dumps(judgement([1])), binary), ChecklistVerdict)


@pytest.mark.parametrize(("text", "score"), [('{"evaluation_score": 7.5}', 7.5), ('{"evaluation_score": 11}', None)])
def test_the_whole_is_rated_from_0_to_10(text: str, score: float | None) -> None:
    expected = InvalidVerdict(reason="bad_score") if score is None else ScoresVerdict(scores=(score,))
    assert read_overall(text) == expected


def request(response: str, item_id: str = "1") -> JudgeRequest:
    item = Item(item_id=item_id, cluster_id=item_id, instruction="Write.", candidates=(response,), gold=None)
    return JudgeRequest(item, (0,), 0, checklist_task("Write.", response, TWO))


def judged(
    spec: str, *requests: JudgeRequest, answer: Callable[[str, str, int], str] = scripted_answer
) -> tuple[list[JudgeOutput], int, dict[str, Any]]:
    """The outputs, the number of calls, and the settings of the judge."""
    with FakeLLMServer(answer) as server:
        judge = make_judge(f"{spec}@{server.url}/v1#model", JudgeBuild("", batch_size=4))
        return run_all(judge, requests), sum(server.calls.values()), judge.settings


def test_all_questions_are_one_call() -> None:
    outputs, calls, settings = judged("checklist", request("A good text."), request("Dull.", "2"))
    assert [output.verdict.scores for output in outputs] == [{"0": 1.0, "1": 1.0}, {"0": 0.5, "1": 0.0}]  # type: ignore[union-attr]
    assert calls == 2
    assert (settings["form"], len(settings["prompt_hash"])) == ("call", 16)
    assert outputs[0].usage is not None
    assert outputs[0].usage["calls"] == 1
    judgment = outputs[0].trajectory.judgment
    assert judgment is not None
    assert outputs[0].request.read(outputs[0].trajectory) == judgment.verdict  # replay reads the same verdict


def test_questions_are_answered_from_passages_of_the_text_alone() -> None:
    long = " ".join(f"Sentence {n} is plain." for n in range(300)) + " The good part is here."
    other = " ".join(f"Other {n} is plain." for n in range(300))
    outputs, calls, settings = judged("checklist:form=search,retriever=bm25", request(long), request(other, "2"))
    assert calls == 2 * 2 * 2
    assert settings["form"] == "search"
    found, plain = (output.verdict for output in outputs)
    assert isinstance(found, ChecklistVerdict)
    assert found.scores == {"0": 1.0, "1": 1.0}
    start, end = found.cited["0"]
    assert "The good part is here." in long[start:end]
    assert isinstance(plain, ChecklistVerdict)
    assert plain.scores == {"0": 0.5, "1": 0.5}
    answers = [turn for turn in outputs[1].trajectory.turns if turn.passages]
    assert all(passage.text in other for turn in answers for passage in turn.passages)
    assert outputs[0].usage is not None
    assert outputs[0].usage["calls"] == 4


def test_the_embedder_is_loaded_once_for_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(name: str, device: str | None) -> HashEmbedder:
        loaded.append(name)
        return HashEmbedder()

    monkeypatch.setattr("retrieval.embedders.load_embedder", load)
    texts = [request(f"Text {n}. The good part is here.", f"{n}") for n in range(9)]
    outputs, _, _ = judged("checklist:form=search,retriever=hash", *texts)  # of which a batch has four
    assert all(isinstance(output.verdict, ChecklistVerdict) for output in outputs)
    assert loaded == ["hash"]


def test_an_unreadable_answer_is_asked_again_and_then_invalid() -> None:
    asked = []

    def fails_once(system: str, user: str, sample: int) -> str:
        asked.append(user)
        return scripted_answer(system, user, sample) if len(asked) > 1 else "No."

    sampled = request("A good text.")
    (output,), calls, _ = judged("checklist:attempts=2", sampled, answer=lambda *_: "No.")
    assert (output.verdict, calls) == (InvalidVerdict(reason="no_answers"), 2)
    assert output.usage is not None
    assert output.usage["calls"] == 2
    (output,), calls, _ = judged("checklist:attempts=3", sampled, answer=fails_once)
    assert isinstance(output.verdict, ChecklistVerdict)
    assert calls == 2


def test_a_rubric_scores_the_candidates_of_any_benchmark_once_each(tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.json"
    rubric.write_text(json.dumps([{"question": "Is it?", "weight": 3}, {"question": "Is it wrong?", "weight": -1}]))
    item = Item(item_id="1", cluster_id="1", instruction="Write.", candidates=("A good text.", "Dull."), gold="A")
    requests = LoadedBenchmark([item], presentation_orders=both_orders).requests()
    outputs, calls, settings = judged(f"checklist:rubric={rubric}", *requests)
    assert calls == 2
    scores = [output.verdict.scores for output in outputs if isinstance(output.verdict, ScoresVerdict)]
    assert scores == [(pytest.approx(2 / 3), 0.5), (0.5, pytest.approx(2 / 3))]
    assert settings["rubric"]


def test_both_candidates_are_asked_again_and_the_request_is_answered_once(tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.json"
    rubric.write_text(json.dumps([{"question": "Is it?", "weight": 1}]))
    item = Item(item_id="1", cluster_id="1", instruction="Write.", candidates=("A good text.", "Dull."), gold="A")
    sampled = LoadedBenchmark([item]).requests()[0]

    def first_fails(system: str, user: str, sample: int) -> str:
        asked.append(user)
        return scripted_answer(system, user, sample) if asked.count(user) > 1 else "No."

    asked: list[str] = []
    (output,), calls, _ = judged(f"checklist:rubric={rubric},attempts=2", sampled, answer=first_fails)
    assert output.verdict == ScoresVerdict(scores=(1.0, 0.5))
    assert calls == 4


def test_a_judge_without_questions_names_what_to_give() -> None:
    item = Item(item_id="1", cluster_id="1", instruction="Write.", candidates=("A", "B"), gold="A")
    requests = LoadedBenchmark([item]).requests()
    with pytest.raises(BadJudge, match="item 1 has no checklist: give your criteria as checklist:rubric=FILE@MODEL"):
        judged("checklist", *requests)
    with pytest.raises(BadJudge, match="llm-eval rates one text, but item 1 shows 2 candidates"):
        judged("llm-eval", *requests)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("checklist:form=twice", "form is call or search"),
        ("checklist:queries=2", "queries belongs to form=search"),
        ("checklist:attempts=0", "attempts must be a whole number from 1"),
        ("llm-eval:checklist=maybe", "checklist is true or false"),
    ],
)
def test_bad_options_are_one_sentence(spec: str, message: str) -> None:
    with pytest.raises(BadJudge, match=message):
        make_judge(f"{spec}@http://127.0.0.1:9/v1#model", JudgeBuild(""))


@pytest.mark.parametrize("spec", ["llm-eval", "llm-eval:checklist=true"])
def test_llm_eval_rates_the_whole(spec: str) -> None:
    outputs, calls, settings = judged(spec, request("A good text."), request("Dull.", "2"))
    assert [output.verdict for output in outputs] == [ScoresVerdict(scores=(8.0,)), ScoresVerdict(scores=(3.0,))]
    assert calls == 2
    assert isinstance(outputs[0].request.task, ChecklistTask)
    assert settings["prompt_hash"]


def test_finished_texts_are_yielded_before_the_others_are_asked() -> None:
    """A kill loses the calls in flight only."""

    async def first(judge: Judge, *requests: JudgeRequest) -> str:
        async with aclosing(judge.judge(requests)) as outputs:  # type: ignore[type-var]
            async for output in outputs:
                return output.request.item.item_id
        return ""

    with FakeLLMServer(scripted_answer) as server:
        judge = make_judge(f"checklist@{server.url}/v1#model", JudgeBuild("", batch_size=1))
        assert asyncio.run(first(judge, *(request("A good text.", name) for name in "123"))) == "1"
        assert sum(server.calls.values()) == 1
