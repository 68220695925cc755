"""The graders of other frameworks on a served judge, as their installed packages ask: `make test-clients` has all of
them; elsewhere their tests skip."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chat_calls import call, user
from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import InvalidJudge, LiveServer, service

from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import served_judge

openai = pytest.importorskip("openai", reason="openai is in the extra dev")
os.environ |= {"LANGSMITH_TRACING": "false", "BRAINTRUST_API_KEY": "none"}
LONG, SHORT, REFERENCE = "a much longer answer", "brief", "two words"


@contextmanager
def client_of(judge: Any) -> Iterator[Any]:
    with LiveServer(service(judge)) as server:
        yield openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)


@contextmanager
def model_says(reply: str) -> Iterator[Any]:
    """A client of a judge on a model that always gives this reply, and the prompts that the model gets."""
    with JudgeServer(lambda path, body: chat_completion(reply)) as endpoint:
        judge = served_judge(f"direct@{endpoint.url}#toy", JudgeBuild("", batch_size=4))
        with client_of(judge) as client:
            yield client, endpoint.bodies


def autoevals_grader(name: str, client: Any) -> Any:
    autoevals = pytest.importorskip("autoevals", reason="autoevals is in the extra clients")
    return getattr(autoevals, name)(client=client, model="judge-r1")


def openevals_grader(client: Any, **more: Any) -> Any:
    pytest.importorskip("openevals", reason="openevals is in the extra clients")
    from openevals.llm import create_llm_as_judge
    from openevals.prompts import CORRECTNESS_PROMPT

    return create_llm_as_judge(prompt=CORRECTNESS_PROMPT, judge=client, model="judge-r1", **more)


def test_battle_of_autoevals_is_a_pair_for_any_judge() -> None:
    question: dict[str, Any] = {"instructions": "Why is the sky blue?"}
    with client_of("longer") as client:
        battle = autoevals_grader("Battle", client)
        scores = [battle.eval(output=text, expected=REFERENCE, **question).score for text in (LONG, SHORT, REFERENCE)]
        with pytest.raises(openai.BadRequestError, match="each section once"):
            battle.eval(output="x\n[Response 2]\ny", expected=REFERENCE, **question)
    assert scores == [1, 0, 0]  # a tie is not better
    verdict = '{"comparison": "A<B", "violated_principles": [2], "explanation": "It contradicts the case."}'
    with model_says(verdict) as (client, bodies):
        found = autoevals_grader("Battle", client).eval(output=LONG, expected=REFERENCE, **question)
        assert (found.score, found.metadata["rationale"]) == (0, "It contradicts the case.")
        assert "select_choice" not in json.dumps(bodies)
    with client_of(InvalidJudge("turn_budget")) as client, pytest.raises(openai.InternalServerError, match="no valid"):
        autoevals_grader("Battle", client).eval(output=LONG, expected=REFERENCE, **question)


def test_factuality_of_autoevals_is_answered_by_a_judge_that_answers_prompts() -> None:
    case: dict[str, Any] = {"input": "q", "output": LONG, "expected": REFERENCE}
    with model_says('<think>{"choice": "D"}</think>{"reasons": "It has more.", "choice": "B"}') as (client, bodies):
        found = autoevals_grader("Factuality", client).eval(**case)
        assert (found.score, found.metadata) == (0.6, {"choice": "B", "rationale": "It has more."})
        assert '"enum": ["A", "B", "C", "D", "E"]' in bodies[0]["messages"][-1]["content"]
    with model_says('{"reasons": "so", "choice": "F"}') as (client, _), pytest.raises(openai.InternalServerError):
        autoevals_grader("Factuality", client).eval(**case)
    with client_of("longer") as client, pytest.raises(openai.BadRequestError, match="compares pairs"):
        autoevals_grader("Factuality", client).eval(**case)


def test_the_other_graders_of_autoevals() -> None:
    names = ["ClosedQA", "Humor", "Possible", "Security", "Sql", "Summary", "Translation"]
    case: dict[str, Any] = {"input": "q", "output": LONG, "expected": REFERENCE, "criteria": "c", "language": "Czech"}

    def first_label(path: str, body: Any) -> Any:
        labels = json.loads(body["messages"][-1]["content"].rpartition('"enum": ')[2].partition("]")[0] + "]")
        return chat_completion(json.dumps({"reasons": "so", "choice": labels[0]}))

    with JudgeServer(first_label) as endpoint:
        judge = served_judge(f"direct@{endpoint.url}#toy", JudgeBuild("", batch_size=4))
        with client_of(judge) as client:
            found = [autoevals_grader(name, client).eval(**case).metadata["choice"] for name in names]
    assert found == ["Y", "Yes", "A", "Yes", "Correct", "A", "Y"]


def test_correctness_of_openevals() -> None:
    case: dict[str, Any] = {"inputs": "q", "reference_outputs": REFERENCE}
    with model_says('{"reasoning": "It is.", "score": true}') as (client, bodies):
        found = openevals_grader(client)(outputs=LONG, **case)
        assert (found["score"], found["comment"]) == (True, "It is.")
        assert LONG in bodies[0]["messages"][-1]["content"]
    with model_says('{"reasoning": "Half.", "score": 0.5}') as (client, _):
        assert openevals_grader(client, continuous=True)(outputs=LONG, **case)["score"] == 0.5
        with pytest.raises(openai.InternalServerError, match="no valid answer"):  # half is no boolean
            openevals_grader(client)(outputs=LONG, **case)
    with client_of("longer") as client:
        grader = openevals_grader(client)
        assert [grader(outputs=text, **case)["score"] for text in (LONG, REFERENCE, SHORT, "")] == [1, 1, 0, 0]
        with pytest.raises(openai.BadRequestError, match="compares pairs"):
            openevals_grader(client, continuous=True)(outputs=LONG, **case)
        with pytest.raises(openai.BadRequestError, match="occurs twice"):
            grader(outputs="x\n</output>\n\n<output>\ny", **case)


GRADES = {
    "It is.\n\nGRADE: C": ("C", "C"),
    "One may think GRADE: C, but no.\nGRADE: I": ("I", "I"),
    "It is so: **GRADE: Correct**": ("C", "C"),
    "GRADE: P": (None, "P"),
    "It is good.": (None, None),
}
"""The reply of a model -> the grade, and that with partial credit."""


@pytest.mark.parametrize("credit", [False, True])
@pytest.mark.parametrize("scorer", ["model_graded_qa", "model_graded_fact"])
def test_the_graders_of_inspect(scorer: str, credit: bool, tmp_path: Path) -> None:
    def reply(path: str, body: Any) -> Any:
        return chat_completion(next(said for said in GRADES if f"answer {len(said)}" in json.dumps(body)))

    with JudgeServer(reply) as endpoint:
        answers = [f"answer {len(said)}" for said in GRADES]
        samples = graded(scorer, f"direct@{endpoint.url}#toy", answers, tmp_path, partial_credit=credit)
        assert "max_tokens" in endpoint.bodies[0]
        assert {body["max_tokens"] for body in endpoint.bodies} == {16_384}  # the judge's own limit
    for sample, (said, grades) in zip(samples, GRADES.items(), strict=True):
        if (grade := grades[credit]) is None:
            assert "no valid answer (unreadable)" in sample.error.message
        else:
            score = sample.scores[scorer]
            assert (score.value, said.startswith(score.explanation[: -len("GRADE: C")])) == (grade, True)


def test_a_judge_of_pairs_compares_with_the_expert_answer_of_inspect(tmp_path: Path) -> None:
    facts = graded("model_graded_fact", "longer", [LONG, REFERENCE, SHORT], tmp_path)
    assert [sample.scores["model_graded_fact"].value for sample in facts] == ["C", "C", "I"]
    [criterion] = graded("model_graded_qa", "longer", [LONG], tmp_path)  # a criterion is no answer to compare with
    assert "compares pairs" in criterion.error.message


def graded(scorer: str, judge: str, answers: list[str], folder: Path, **more: Any) -> Any:
    inspect_ai = pytest.importorskip("inspect_ai", reason="the inspect_ai package is in the extra dev")
    import judge_r1.integrations.inspect_plugin  # noqa: F401

    outputs = [inspect_ai.model.ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    for output in outputs:
        output.usage = inspect_ai.model.ModelUsage(input_tokens=7, output_tokens=3)  # else it downloads a vocabulary
    model = inspect_ai.model.get_model("mockllm/model", custom_outputs=outputs)
    task = inspect_ai.Task(
        dataset=[inspect_ai.dataset.Sample(input="q", target=REFERENCE) for _ in answers],
        scorer=getattr(inspect_ai.scorer, scorer)(model=f"judge_r1/{judge}", **more),
    )
    [log] = inspect_ai.eval(
        task, model=model, log_dir=str(folder), display="none", fail_on_error=False, max_samples=1, max_connections=1
    )
    return log.samples


CHECK = (
    "Question:\n```\nq\n```\n\nReference answer:\n```\ntwo words\n```\n\nResponse:\n```\na much longer answer\n```\n\n"
    'Respond either "yes" or "no" only.'
)
BETTER = (
    "[The Start of Assistant A's Answer]\none\n[The End of Assistant A's Answer]\n"
    "[The Start of Assistant B's Answer]\none two\n[The End of Assistant B's Answer]"
)


@pytest.mark.parametrize(
    ("prompt", "says"), [(BETTER, {"winner": "B"}), (CHECK, {"answer": "yes"}), ('{"A": "x", "B": ""}', None)]
)
def test_json_object_gets_json_from_a_judge_of_pairs(prompt: str, says: Any) -> None:
    answer = call({"messages": [user(prompt)], "response_format": {"type": "json_object"}})
    assert answer.status_code == (200 if says else 400)
    if says:
        found = json.loads(answer.json()["choices"][0]["message"]["content"])
        assert found.items() >= says.items()


def test_json_object_gets_the_json_of_a_judge_that_answers_prompts() -> None:
    with model_says('Here: {"helpful": 4, "why": "so"}') as (client, _):
        answer = client.chat.completions.create(
            model="judge-r1",
            messages=[user("How helpful is “…”? Answer in JSON.")],
            response_format={"type": "json_object"},
        )
    assert json.loads(answer.choices[0].message.content) == {"helpful": 4, "why": "so"}


def test_a_call_is_streamed_whole() -> None:
    tool = {"name": "choose", "parameters": {"type": "object", "properties": {"choice": {"enum": ["A", "B"]}}}}
    asked: dict[str, Any] = {"tools": [{"type": "function", "function": tool}], "tool_choice": "required"}
    with client_of("longer") as client:
        chunks = client.chat.completions.create(model="judge-r1", messages=[user(BETTER)], stream=True, **asked)
        [called] = [c.choices[0].delta.tool_calls[0].function for c in chunks if c.choices[0].delta.tool_calls]
    assert (called.name, json.loads(called.arguments)) == ("choose", {"choice": "B"})


def schema(**properties: Any) -> dict[str, Any]:
    inner = {"type": "object", "properties": properties, "required": list(properties)}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": inner}}}


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (schema(a={"type": "string", "pattern": "(a+)+b"}), "'pattern', which is not supported"),
        (schema(a={"$ref": "#"}), "'$ref', which is not supported"),
        (schema(a={"type": "text"}), "the schema of the reply is not valid: 'text'"),
        (schema(a={"type": "number"}), "A or B"),
        (schema(a={"enum": ["A"]}), "A or B"),
        ({"response_format": {"type": "grammar"}}, "response_format must have the type"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools is not supported, except one function"),
        ({"judge": {"reasoning_a": "x", "reasoning_b": "y"}} | schema(a={"enum": ["A", "B"]}), "a reply of its own"),
    ],
)
def test_what_cannot_be_answered_is_said(asked: dict[str, Any], says: str) -> None:
    answer = call({"messages": [user(BETTER)]} | asked)
    assert (answer.status_code, says in answer.json()["error"]["message"]) == (400, True), answer.text
