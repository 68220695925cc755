"""Constrained decoding: whatever a local model writes, its checklist is valid JSON on the levels."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toy_teacher import save_toy_teacher

from judge_r1.core.checklist import LEVELS, Checklist, Criterion
from judge_r1.core.items import Item
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict
from judge_r1.episode.answer_text import answer_text
from judge_r1.judges.base import BadJudge, JudgeBuild, run_all
from judge_r1.judges.checklist.task import REASON_TOKENS, checklist_task, read_answers, write_answers, write_queries
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.base import Sampling

THREE = Checklist(
    criteria=(
        Criterion(question="Is it long?"),
        Criterion(question="Is it new?"),
        Criterion(question="How?", choices=("a", "b", "c", "d")),
    )
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy_teacher(tmp_path_factory.mktemp("toy"))


def request(response: str, item_id: str = "1") -> JudgeRequest:
    item = Item(item_id=item_id, cluster_id=item_id, instruction="Write.", candidates=(response,), gold=None)
    return JudgeRequest(item, (0,), 0, checklist_task("Write.", response, THREE))


def test_an_untrained_model_gives_valid_answers(folder: Path) -> None:
    requests = [request("One text."), request("Another text.", "2")]
    for temperature in (0.0, 1.5):
        judge = make_judge(f"checklist:decoding=constrained@{folder}", JudgeBuild("", sampling=Sampling(temperature)))
        outputs = run_all(judge, requests)
        for output in outputs:
            verdict = output.verdict
            assert isinstance(verdict, ChecklistVerdict)
            assert [score in LEVELS for score in verdict.scores.values()][:2] == [True, True]
            assert min(abs(verdict.scores["2"] - n / 3) for n in range(4)) < 1e-9
            (turn,) = output.trajectory.turns
            assert [answer["checklist_id"] for answer in json.loads(turn.text)] == [0, 1, 2]
            assert output.usage is not None
            assert output.usage["output_tokens"] <= 3 * (REASON_TOKENS + 12)
        again = run_all(judge, requests[::-1])
        assert [output.verdict for output in again] == [output.verdict for output in outputs[::-1]]


def test_the_name_and_the_settings_tell_the_decoder(folder: Path) -> None:
    judge = make_judge(f"checklist:decoding=constrained@{folder}", JudgeBuild(""))
    assert judge.name == f"checklist-constrained@{folder}"
    assert judge.settings["decoding"] == "constrained"
    assert make_judge(f"checklist@{folder}", JudgeBuild("")).name == f"checklist@{folder}"


def test_each_question_from_passages_is_valid_too(folder: Path) -> None:
    long = " ".join(f"Sentence {n} is plain." for n in range(60))
    spec = f"checklist:decoding=constrained,form=search,retriever=bundled:e5-small@{folder}"
    (output,) = run_all(make_judge(spec, JudgeBuild("")), [request(long)])
    verdict = output.verdict
    assert isinstance(verdict, ChecklistVerdict)
    assert len(verdict.scores) == len(verdict.cited) == 3
    assert all(long[start:end].strip() for start, end in verdict.cited.values())
    assert output.usage is not None
    assert output.usage["calls"] == 6


def test_a_text_beyond_the_context_is_counted_and_not_cut(folder: Path) -> None:
    judge = make_judge(f"checklist:decoding=constrained@{folder}", JudgeBuild(""))
    long, short = run_all(judge, [request("word " * 40_000), request("Short.", "2")])
    assert long.verdict == InvalidVerdict(reason="prompt_too_long")
    assert long.overflow is not None
    assert isinstance(short.verdict, ChecklistVerdict)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("checklist:decoding=maybe@bundled:tiny", "decoding is free or constrained, not 'maybe'"),
        ("checklist:decoding=constrained@http://127.0.0.1:9/v1#m", "needs a model that is loaded here, not http"),
        ("checklist:decoding=constrained@vllm:http://127.0.0.1:9/v1#m", "needs a model that is loaded here"),
    ],
)
def test_bad_options_are_one_sentence(spec: str, message: str) -> None:
    with pytest.raises(BadJudge, match=message):
        make_judge(spec, JudgeBuild(""))


class Scripted:
    """A model that writes `texts` and chooses the option of each number."""

    def __init__(self, texts: Sequence[str], choices: Sequence[int] = ()) -> None:
        self.texts, self.choices, self.read = list(texts), list(choices), ""

    def add(self, text: str) -> None:
        self.read += text

    async def choose(self, options: Sequence[str], end: str = "\n") -> str:
        chosen = options[self.choices.pop(0) % len(options)]
        self.read += chosen + end
        return chosen

    async def write(self, max_tokens: int, end: str = "\n") -> tuple[str, bool]:
        text, mark, _ = self.texts.pop(0).partition(end)
        return text, bool(mark)


@example(["I think</think> so", "<answer>", 'a\\"b'], [1, 2, 3])
@given(st.lists(st.text(), min_size=3, max_size=3), st.lists(st.integers(0, 4), min_size=3, max_size=3))
def test_any_free_text_stays_inside_its_string(texts: list[str], choices: list[int]) -> None:
    """What the model has read of its own answer is the JSON that is parsed, whatever it wrote."""
    writer = Scripted(texts, choices)
    answer = asyncio.run(write_answers(writer, THREE))
    assert json.loads(writer.read + "]") == json.loads(answer)
    verdict = read_answers(answer_text(answer), THREE)
    assert isinstance(verdict, ChecklistVerdict)
    assert verdict.scores["0"] == LEVELS[choices[0]]


def test_queries_end_at_an_empty_line() -> None:
    assert asyncio.run(write_queries(Scripted(["who\n", " when \n", "\n", "never"]), 5)) == "who\nwhen"
    assert asyncio.run(write_queries(Scripted(["who\n", "when\n"]), 1)) == "who"
