"""The console says why many answers are invalid; answers that a person understands are not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from fake_judge_endpoint import JudgeServer, chat_completion, error_response

from judge_r1.cli.eval import eval_
from judge_r1.core.record_base import content_hash
from judge_r1.files.jsonl import write_jsonl

DATA = mini_pairs(12)
GOOD = '{"comparison": "A>B", "violated_principles": [2]}'
Reply = tuple[int, Any]


def printed(
    tmp_path: Path, answer: Callable[[int], Reply], capsys: pytest.CaptureFixture[str], options: str = "context=none"
) -> str:
    """The output of an evaluation whose requests are answered by their number."""
    write_jsonl(tmp_path / "data" / "cases.jsonl", DATA.cases.values())
    write_jsonl(tmp_path / "data" / "pairs.jsonl", DATA.pairs)
    shown = sorted(pair.reasoning_a + pair.reasoning_b for pair in DATA.pairs)

    def reply(path: str, body: dict[str, Any]) -> Reply:
        text = body["messages"][1]["content"]
        a, b = text.split("\nReasoning A:\n")[1].split("\n\nReasoning B:\n")
        return answer(shown.index(a + b))

    with JudgeServer(reply) as server:
        eval_(
            judge=[f"odd=direct:{options}@{server.url}#toy"],
            path=tmp_path / "data",
            out=tmp_path / "eval",
            batch_size=1,
        )
    return capsys.readouterr().out


def test_more_than_a_fifth_invalid_is_named_with_counts_and_an_example_before_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "I think that both are fine. " * 20

    def answer(number: int) -> Reply:
        if number < 2:
            return chat_completion(f"{long}\n\x1b[31mneither[/red]")
        return chat_completion('{"comparison": "A=B"}' if number == 2 else GOOD)

    out = printed(tmp_path, answer, capsys)
    warning, table = out.index("warning: odd: 3 of 12 answers are invalid"), out.index("Overall")
    assert warning < table
    assert "(rejected_no_json 2, rejected_bad_comparison 1)" in out
    example = out[warning:table]
    assert "the answer on item " in example
    assert "is rejected_no_json: I think that both are fine." in example
    assert "neither[/red]" in example
    assert "\x1b" not in example
    assert len(example) < 600


def test_a_fifth_is_not_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "warning" not in printed(tmp_path, lambda n: chat_completion("no" if n < 2 else GOOD), capsys)


def test_requests_without_an_answer_are_not_invalid_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    too_long = error_response(400, "too long", "context_length_exceeded")
    assert "warning" not in printed(tmp_path, lambda n: too_long if 0 < n < 9 else chat_completion(GOOD), capsys)


# ---- JudgeBench, which has no principles ----

FORMS: list[Callable[[str], str]] = [
    lambda c: f'{{\u00a0"comparison":\u00a0"{c}",\u00a0"violated_principles":\u00a0[]}}',
    lambda c: f'{{"comparison": "{c}", "violated_principles": [], "explanation": "by \\(x\\)\tand \\sqrt{{2}}"}}',
    lambda c: f'{{"comparison": "{c}", "violated_principles": [2,],}}',
    lambda c: f'{{"comparison": "{c}", "violated_principles": [2]}}\n{{"confidence": 0.9}}',
    lambda c: json.dumps({"comparison": c, "violated_principles": ["2. Factual Consistency"]}),
    lambda c: json.dumps({"comparison": c, "violated_principles": "2, 4"}),
    lambda c: json.dumps({"comparison": c, "violated_principles": None}),
    lambda c: json.dumps({"comparison": c, "explanation": "no principles asked"}),
    lambda c: f"{{'comparison': '{c}', 'violated_principles': ['n/a']}}",
]


@pytest.mark.real_data
def test_judgebench_counts_every_answer_that_a_person_understands(real_data: Path, tmp_path: Path) -> None:
    """An endpoint that prefers the first answer, in nine forms. Each pair is asked in both orders: all are ties."""

    def reply(path: str, body: dict[str, Any]) -> Reply:
        system, user = (message["content"] for message in body["messages"])
        assert "case" not in system
        assert "given material" not in system
        return chat_completion(FORMS[int(content_hash(user), 16) % len(FORMS)]("A>B"))

    with JudgeServer(reply) as server:
        eval_(
            judge=[f"odd=direct@{server.url}#toy"], benchmark="judgebench", path=real_data / "judgebench", limit=80,
            out=tmp_path / "eval",
        )  # fmt: skip
        assert len(server.bodies) == 160
    [row] = json.loads((tmp_path / "eval" / "summary.json").read_text())["rows"]
    assert (row["ended"], row["valid_rate"], row["first_preferred"]) == ({"answer": 160}, 1.0, 1.0)
