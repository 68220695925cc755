"""Promise 6: nothing in a thought can act. A thought may be inline, opened by the chat template, nested, unclosed, or
beside the text; it may hold valid answers in every format. Each path from a reply to a verdict ignores it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from factories import ByteTokenizer, make_case, make_pair
from hidden_drafts import UNDECIDED, Hidden, replies
from hypothesis import given

from data_builders.perturb.teacher.answer_parser import parse_answer
from data_builders.second_opinion import read_opinion
from data_builders.teachers import TeacherReply
from judge_r1.benchmarks.longjudgebench.answer_parsers import UnreadableAnswer, find_json, released_json
from judge_r1.benchmarks.pointwise import rating_question
from judge_r1.core.items import Item
from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import InvalidVerdict, Judgment, ScoresVerdict, Verdict
from judge_r1.episode.answer_text import answer_text
from judge_r1.episode.chat_driver import EOS, ChatDriver, SingleTurnEpisode, TextTokenizer, feed_reply
from judge_r1.episode.confidence import chat_confidence
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import Rejected, parse_table6, parse_tolerant
from judge_r1.episode.reward import with_reward
from judge_r1.episode.task import PairwiseTask
from judge_r1.evaluation.label_results import trajectory_labels
from judge_r1.evaluation.rescore import reparse
from judge_r1.judges.request import CustomPrompt, JudgeRequest
from judge_r1.models.base import Generation, Usage

BYTES = ByteTokenizer(b"<|eos|>")
END = BYTES.id_of(b"<|eos|>")
BUDGET = Budget(max_searches=0, response_tokens=4000)
JSON = '{"comparison": "A<B", "violated_principles": [2]}'
TABLE6 = "A<B\nviolated_principles: [2]"
BARE = {"json": (parse_tolerant, JSON), "table6": (parse_table6, TABLE6)}
GOLD = Judgment.pairwise("A<B", [2])


def sampled(reply: Hidden, kind: type[Episode] = Episode, **options: Any) -> Trajectory:
    """The episode of a local model that samples the reply and EOS."""
    prompt = BYTES.encode_trusted("judge them<think>\n" if reply.opened else "judge them")
    episode = kind(prompt, BUDGET, BYTES, eos_ids=[END], **options)
    ids = [*BYTES.encode_trusted(reply.text), END]
    episode.feed(ids, [0.0] * len(ids))
    return episode.trajectory()


def over_chat(generation: Generation, *, bare: Callable[[str], Judgment | Rejected] | None = None) -> Trajectory:
    budget = BUDGET.model_copy(update={"response_tokens": 100_000})
    episode = Episode((), budget, TextTokenizer(), eos_ids=[EOS], parse_bare=bare, bare_text=answer_text)
    feed_reply(episode, generation)
    return episode.trajectory()


@pytest.mark.parametrize("style", sorted(BARE))
def test_bare_answers_of_local_models(style: str) -> None:
    parse, answer = BARE[style]

    @given(replies(), replies(answer))
    def check(undecided: Hidden, decided: Hidden) -> None:
        assert sampled(undecided, parse_bare=parse, bare_text=answer_text).judgment is None
        assert sampled(decided, parse_bare=parse, bare_text=answer_text).judgment == GOLD

    check()


@pytest.mark.parametrize("style", sorted(BARE))
def test_bare_answers_over_chat(style: str) -> None:
    parse, answer = BARE[style]

    @given(replies(), replies(answer))
    def check(undecided: Hidden, decided: Hidden) -> None:
        assert over_chat(Generation(undecided.text), bare=parse).judgment is None
        assert over_chat(Generation(UNDECIDED, reasoning=undecided.text), bare=parse).judgment is None
        assert over_chat(Generation(decided.text), bare=parse).judgment == GOLD
        assert over_chat(Generation(answer, reasoning=undecided.text), bare=parse).judgment == GOLD

    check()


def test_tagged_answers() -> None:
    """A token model stops at the first action outside a thought, so nested thoughts end at the first closing tag."""
    tagged = f"<answer>{JSON}</answer>"

    @given(replies(), replies(tagged), replies(forms=("inline", "opened")), replies(tagged, ("inline", "opened")))
    def check(undecided: Hidden, decided: Hidden, plain: Hidden, plain_decided: Hidden) -> None:
        assert sampled(plain).judgment is None
        assert sampled(plain_decided).judgment == GOLD
        assert over_chat(Generation(undecided.text)).judgment is None
        assert over_chat(Generation(UNDECIDED, reasoning=undecided.text)).judgment is None
        assert over_chat(Generation(decided.text)).judgment == GOLD
        assert over_chat(Generation(tagged, reasoning=undecided.text)).judgment == GOLD

    check()


def read_by_ljb(find: Callable[[str], dict[str, Any]]) -> Callable[[str], Verdict]:
    def read(text: str) -> Verdict:
        try:
            return ScoresVerdict(scores=(float(find(text)["violated_principles"][0]),))
        except UnreadableAnswer as error:
            return InvalidVerdict(reason=str(error))

    return read


RATING = rating_question("ask", "answer")
CUSTOM = {
    "rating": (RATING, "Rating: 2"),
    "longjudgebench": (CustomPrompt(RATING.prompt, read_by_ljb(find_json)), JSON),
    "longjudgebench release": (CustomPrompt(RATING.prompt, read_by_ljb(released_json)), JSON),
}


@pytest.mark.parametrize("name", sorted(CUSTOM))
def test_prompts_of_benchmarks(name: str) -> None:
    """Ratings and LongJudgeBench, by a local model and over chat. The parsers themselves ignore thoughts, too."""
    task, answer = CUSTOM[name]
    item = Item(item_id="i", cluster_id="c", instruction="", candidates=("x",), gold=0)
    request = JudgeRequest(item, (0,), 0, task)

    class Reply:
        def __init__(self, generation: Generation) -> None:
            self.generation = generation

        async def generate(self, requests: Any) -> list[Generation]:
            return [self.generation for _ in requests]

    def chat(generation: Generation) -> Verdict:
        driver = ChatDriver(Reply(generation))
        return request.read(asyncio.run(driver.answer([], max_tokens=9, seed=0, usage=Usage())))

    @given(replies(), replies(answer))
    def check(undecided: Hidden, decided: Hidden) -> None:
        for verdict in (
            request.read(sampled(undecided, SingleTurnEpisode)),
            chat(Generation(undecided.text)),
            chat(Generation(UNDECIDED, reasoning=undecided.text)),
        ):
            assert isinstance(verdict, InvalidVerdict)
        for verdict in (
            request.read(sampled(decided, SingleTurnEpisode)),
            chat(Generation(decided.text)),
            chat(Generation(answer, reasoning=undecided.text)),
        ):
            assert verdict == ScoresVerdict(scores=(2.0,))

    check()


@pytest.mark.parametrize("draft", [JSON, TABLE6, f"<answer>{JSON}</answer>", "Rating: 2"])
def test_a_thought_without_an_end_is_no_answer(draft: str) -> None:
    endless = Hidden(f"<think>{draft}", opened=False, nested=False)
    opened = Hidden(draft, opened=True, nested=False)
    for reply in (endless, opened):
        assert sampled(reply).ended == "unclosed_think"
        assert sampled(reply, SingleTurnEpisode).ended == "unclosed_think"
        for parse, _ in BARE.values():
            assert sampled(reply, parse_bare=parse, bare_text=answer_text).ended == "unclosed_think"
    for parse, _ in BARE.values():
        assert over_chat(Generation(endless.text), bare=parse).ended == "unclosed_think"
    answered = asyncio.run(ChatDriver(_Fixed(endless.text)).answer([], max_tokens=9, seed=0, usage=Usage()))
    assert answered.ended == "unclosed_think"


class _Fixed:
    def __init__(self, text: str) -> None:
        self.text = text

    async def generate(self, requests: Any) -> list[Generation]:
        return [Generation(self.text) for _ in requests]


@given(replies(), replies(JSON), replies(TABLE6), replies(f"<answer>{JSON}</answer>"))
def test_stored_traces_scored_again(undecided: Hidden, bare: Hidden, two_lines: Hidden, tagged: Hidden) -> None:
    """`replay` and the valid rates of a summary, also for traces of an old release whose drafts counted."""
    pair = make_pair(make_case(), violated=[2])

    def stored(text: str) -> Trajectory:
        return with_reward(Trajectory.without_ids("answer", [Turn(text=text)], GOLD), pair)

    for parse in (parse_tolerant, parse_table6):
        again = reparse(stored(undecided.text), parse)
        assert (again.judgment, again.ended.partition("_")[0]) == (None, "rejected")
    labels = trajectory_labels("judge", pair, stored(undecided.text))
    assert (labels.valid_strict, labels.valid_tolerant) == (False, False)
    for reply, parse in ((bare, parse_tolerant), (two_lines, parse_table6), (tagged, parse_tolerant)):
        assert reparse(stored(reply.text), parse).judgment == GOLD
        assert trajectory_labels("judge", pair, stored(reply.text)).valid_strict


@given(replies(JSON))
def test_the_confidence_is_that_of_the_answer(reply: Hidden) -> None:
    head, _, tail = reply.text.rpartition("<")
    entries = [{"token": char, "logprob": -9.0} for char in head]
    assert chat_confidence([*entries, {"token": "<", "logprob": 0.0}, {"token": tail, "logprob": -9.0}]) == 1.0
    undecided = [{"token": char, "logprob": 0.0} for char in reply.text.removesuffix(JSON) + UNDECIDED]
    assert chat_confidence(undecided) is None


@given(
    replies(),
    replies("Flawed Variant 1:\nViolated Principles: [3, 4]\n2. Ben."),
    replies("Worse: A\nViolated Principles: [2]"),
)
def test_replies_of_teachers(undecided: Hidden, variant: Hidden, opinion: Hidden) -> None:
    def answer(text: str) -> str:
        return TeacherReply(text=text, input_tokens=1, output_tokens=1, finished=True, model="m").answer

    assert answer(undecided.text).strip() == UNDECIDED
    assert parse_answer(answer(undecided.text), [1], "multi")[0] == []
    assert [found.principles for found in parse_answer(answer(variant.text), [1], "multi")[0]] == [(3, 4)]
    assert read_opinion("p", "v", answer(undecided.text)).worse is None
    found = read_opinion("p", "v", answer(opinion.text))
    assert (found.worse, found.violated) == ("A", (2,))


def test_a_pairwise_request_reads_the_judgment_alone() -> None:
    task = PairwiseTask("general", "ask", "one", "two")
    item = Item(item_id="i", cluster_id="c", instruction="", candidates=("one", "two"), gold="A")
    draft = sampled(Hidden(f"<think>{JSON}</think>{UNDECIDED}", opened=False, nested=False), parse_bare=parse_tolerant)
    assert JudgeRequest(item, (0, 1), 0, task).read(draft) == InvalidVerdict(reason="rejected_no_json")
