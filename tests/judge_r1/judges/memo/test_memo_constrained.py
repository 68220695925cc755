"""Scores that are sampled among the allowed ones, where an answer of a local model gives none."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.items import Item
from judge_r1.core.verdicts import CONTEXT_OVERFLOW, ChecklistVerdict, InvalidVerdict
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import BadJudge, JudgeBuild, run_all
from judge_r1.judges.memo.config import FORMS
from judge_r1.judges.memo.metrics import parse_metrics
from judge_r1.judges.memo.pipeline import allowed_scores, constrained_scores
from judge_r1.judges.memo.prompts import rating_prompt
from judge_r1.judges.memo.text_model import TextModel
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.hub import load_tokenizer

METRICS = parse_metrics("fluency+coherence")
PROMPT = rating_prompt("Some text.", METRICS, FORMS["v1"])
TOKENIZER = SafeTokenizer(load_tokenizer("bundled:tiny"))


class Picker:
    """A language model that takes the id at position `ranks[call]` of the allowed ones."""

    def __init__(self, *ranks: int) -> None:
        self.ranks, self.requests = list(ranks), list[GenerateRequest]()

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        [request] = requests
        assert request.allowed_ids is not None
        ids = sorted(request.allowed_ids)
        rank = self.ranks[len(self.requests) % len(self.ranks)]
        self.requests.append(request)
        return [Generation(token_ids=[ids[rank % len(ids)]], usage=Usage(1, 10, 1, 0.0))]


def model(picker: Picker, context_length: int | None = None) -> TextModel:
    return TextModel(picker, tokenizer=TOKENIZER, context_length=context_length)


def test_the_allowed_scores_are_those_of_the_form() -> None:
    assert allowed_scores(FORMS["v1"]) == ("1", "2", "3", "4", "5")
    assert allowed_scores(FORMS["v6-3"]) == ("1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5")


def fluency(picker: Picker, form: str) -> Generation:
    """The line of one score."""
    [line] = asyncio.run(constrained_scores(model(picker), PROMPT, "x", METRICS[:1], FORMS[form]))
    return line


@given(ranks=st.lists(st.integers(0, 8), min_size=1, max_size=4), form=st.sampled_from(["v1", "v6-3"]))
def test_any_model_gives_an_allowed_score(ranks: list[int], form: str) -> None:
    picker = Picker(*ranks)
    found = fluency(picker, form)
    lead, _, score = found.text.rpartition(" ")
    assert lead == "FINAL Fluency Score:"
    assert score in allowed_scores(FORMS[form])
    assert found.usage.calls == len(picker.requests) >= 1


def test_every_allowed_score_can_be_reached() -> None:
    reached = {
        fluency(Picker(first, second, third), "v6-3").text.rpartition(" ")[2]
        for first in range(5) for second in range(2) for third in range(2)
    }  # fmt: skip
    assert reached == set(allowed_scores(FORMS["v6-3"]))


def test_a_model_that_fails_gives_no_score() -> None:
    class Broken(Picker):
        async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
            return [Generation(failure="generation_timeout", usage=Usage(1, 10, 0, 0.0))]

    lines = asyncio.run(constrained_scores(model(Broken(0)), PROMPT, "x", METRICS, FORMS["v1"]))
    assert [(line.failure, line.usage.calls) for line in lines] == [("generation_timeout", 1)]


def test_scores_follow_the_answer_and_each_other() -> None:
    picker = Picker(0)
    lines = asyncio.run(constrained_scores(model(picker), PROMPT, "<think>no</think>It is fine.", METRICS, FORMS["v1"]))
    assert [line.text.partition(":")[0] for line in lines] == ["FINAL Fluency Score", "FINAL Coherence Score"]
    begun = TOKENIZER.decode(list(picker.requests[-1].prompt_ids or ()))
    follows = f"It is fine.\n{lines[0].text}\nFINAL Coherence Score:"
    assert "".join(begun.split()).endswith("".join(follows.split())), "this tokenizer adds spaces"
    assert "<think>" not in begun


def test_a_score_that_does_not_fit_is_left_out() -> None:
    [line] = asyncio.run(constrained_scores(model(Picker(0), context_length=5), PROMPT, "x", METRICS, FORMS["v1"]))
    assert line.finish_reason == CONTEXT_OVERFLOW


def test_a_local_model_without_scores_gets_them_by_option() -> None:
    """The tiny model writes words without meaning."""
    item = Item(item_id="i", cluster_id="c", instruction="", candidates=("One two. Three four.",), gold="A")
    request = JudgeRequest(item, (0,), 0, CustomPrompt(PROMPT, lambda answer: InvalidVerdict(reason="unused")))
    options = "scan=8,overlap=0,max_tokens=5,retries=0,final=false"
    [plain] = run_all(make_judge(f"memo:{options}@bundled:tiny", JudgeBuild("")), [request])
    assert isinstance(plain.verdict, InvalidVerdict)
    [found] = run_all(make_judge(f"memo:{options},constrain=true@bundled:tiny", JudgeBuild("")), [request])
    assert isinstance(found.verdict, ChecklistVerdict)
    assert found.trajectory.judgment is not None
    [memory] = found.trajectory.judgment.memory
    assert all(section.constrained == ("fluency", "coherence") for section in memory.sections)
    assert all(score in (1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5) for one in memory.sections for score in one.scores.values())
    assert found.usage is not None
    assert found.usage["constrained_scores"] == 2 * len(memory.sections)
    assert found.usage["missing_scores"] == 0


def test_endpoints_cannot_be_constrained() -> None:
    with pytest.raises(BadJudge, match="needs a local model"):
        make_judge("memo:constrain=true@http://127.0.0.1:9/v1#m", JudgeBuild(""))
