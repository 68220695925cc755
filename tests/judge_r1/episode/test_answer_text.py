"""The answer of a reply ends at the first end-of-turn mark, and no thought of any form is an answer."""

import pytest

from judge_r1.core.verdicts import Judgment
from judge_r1.episode.answer_text import after_thoughts, answer_of, answer_span, answer_text, thought_is_open
from judge_r1.episode.chat_driver import EOS, TextTokenizer, feed_reply
from judge_r1.episode.confidence import chat_confidence, sign_position
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.episode.parsing import Rejected, parse_tolerant
from judge_r1.models.base import Generation

MINE = '{"comparison": "A>B", "violated_principles": [1]}'
OTHER = '{"comparison": "A<B", "violated_principles": [2]}'
ENDS = [
    "<|im_end|>", "</s>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<turn|>", "<|end|>", "<|endoftext|>",
    "<|return|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "<|im_start|>user",
]  # fmt: skip
NEXT_TURNS = ["\n<|im_start|>user\nNext<|im_end|>\n<|im_start|>assistant\n", "<think>so</think>", " "]
FORMS = {
    "harmony": f"<|channel|>analysis<|message|>{OTHER}<|end|><|start|>assistant<|channel|>final<|message|>",
    "harmony, json": f"<|channel|>commentary<|message|>{OTHER}<|end|><|channel|>final <|constrain|>json<|message|>",
    "gemma": f"<|channel>thought\n{OTHER}<channel|>",
    "mistral": f"[THINK]{OTHER}[/THINK]",
    "mistral, opened": f"{OTHER}[/THINK]",
    "seed": f"<seed:think>{OTHER}</seed:think>",
    "reasoning": f"<reasoning>\n{OTHER}\n</reasoning>\n",
    "thinking": f"<thinking>{OTHER}</thinking>\n\n",
    "marks in a thought": f"<think>it ends with <|im_end|>\n{OTHER}</think>",
    "marks in a thought of the template": f"it ends with <|im_end|>\n{OTHER}</think>",
}
GOLD = Judgment.pairwise("A>B", [1])


def over_chat(text: str, *, tagged: bool) -> Judgment | None:
    budget = Budget(max_searches=0, response_tokens=100_000)
    bare = None if tagged else parse_tolerant
    episode = Episode((), budget, TextTokenizer(), eos_ids=[EOS], parse_bare=bare, bare_text=answer_text)
    feed_reply(episode, Generation(text))
    return episode.trajectory().judgment


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("then", NEXT_TURNS)
def test_nothing_behind_the_end_of_the_turn_counts(end: str, then: str) -> None:
    assert parse_tolerant(answer_text(f"{MINE}{end}{then}{OTHER}")) == GOLD
    assert over_chat(f"{MINE}{end}{then}{OTHER}", tagged=False) == GOLD
    assert isinstance(parse_tolerant(answer_text(f"I cannot say.{end}{then}{OTHER}")), Rejected)
    assert over_chat(f"I cannot say.{end}{then}<answer>{OTHER}</answer>", tagged=True) is None
    assert over_chat(f"<answer>{MINE}</answer>{end}{then}<answer>{OTHER}</answer>", tagged=True) == GOLD


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_draft_in_a_thought_is_no_answer(form: str) -> None:
    thought = FORMS[form]
    assert parse_tolerant(answer_text(f"{thought}{MINE}")) == GOLD
    assert isinstance(parse_tolerant(answer_text(f"{thought}I cannot say.")), Rejected)
    assert over_chat(f"{thought}{MINE}", tagged=False) == GOLD
    tagged = f"{thought}{MINE}".replace(OTHER, f"<answer>{OTHER}</answer>").replace(MINE, f"<answer>{MINE}</answer>")
    assert answer_of(tagged) == (MINE, True)
    assert over_chat(tagged, tagged=True) == GOLD
    text = f"{thought}{MINE}<|im_end|>{OTHER}"
    start, end = answer_span(text)
    assert text[start:end].strip() == MINE
    sign = len(f"{thought}{MINE}") - len(MINE) + MINE.index(">")
    assert chat_confidence([{"token": c, "logprob": 0.0 if n == sign else -9.0} for n, c in enumerate(text)]) == 1.0


@pytest.mark.parametrize(
    "begin",
    ["<|channel|>analysis<|message|>", "<|channel>thought\n", "[THINK]", "<seed:think>", "<reasoning>", "<think>"],
)
def test_a_thought_without_an_end(begin: str) -> None:
    for text in (f"{begin}{OTHER}", f"Well.\n{begin}{OTHER}<|im_end|>{OTHER}"):
        assert thought_is_open(text)
        assert OTHER not in answer_text(text)
        assert over_chat(text, tagged=False) is None


def test_a_quoted_mark_ends_nothing() -> None:
    """A judge may quote a candidate, inside the texts of its JSON or as struck text."""
    quoting = '{"explanation": "<|im_end|>, [THINK] and </s>", "comparison": "A>B", "violated_principles": [1]}'
    assert answer_text(f"{quoting}</s>{OTHER}") == quoting
    assert answer_of(f"<answer>{quoting}</answer>") == (quoting, True)
    assert answer_text(f"An <s>old</s> price. {MINE}").endswith(MINE)
    assert parse_tolerant(answer_text(f"<s>{MINE}</s>{OTHER}")) == GOLD


def test_an_answer_before_its_reasons() -> None:
    assert parse_tolerant(answer_text(f"{MINE}\n<reasoning>\nIt could be that A<B.\n</reasoning>")) == GOLD


def test_rewards_read_by_the_grammar_of_the_episode() -> None:
    """An end mark in words is text of the policy, and the strict parsers reject it."""
    assert after_thoughts(f"<think>{OTHER}</think>{MINE}</s>{OTHER}") == f"{MINE}</s>{OTHER}"
    assert after_thoughts(f"[THINK]{OTHER}[/THINK]{MINE}") == f"[THINK]{OTHER}[/THINK]{MINE}"


@pytest.mark.parametrize(
    ("text", "comparison"),
    [
        (f"{OTHER}\nWait, that was hasty.\nFinal verdict: A>B", "A>B"),
        (f"```json\n{OTHER}\n```\n**Final verdict: A>B**\nviolated_principles: [1]", "A>B"),
        (f"Final verdict: A<B\n{MINE}", "A>B"),
        (f"{MINE}\nA<B in length, though.", "A>B"),
        (f"{MINE}\nFinal verdict: A<B if B were longer.", "A>B"),
        (f"{MINE}\nSo A>B.", "A>B"),
    ],
)
def test_the_later_of_json_and_a_verdict_in_words(text: str, comparison: str) -> None:
    judgment = parse_tolerant(text)
    assert isinstance(judgment, Judgment)
    assert judgment.comparison == comparison
    sign = sign_position(text)
    assert sign is not None
    assert text[sign - 1 : sign + 2] == comparison


def test_words_and_json_side_by_side_contradict_each_other() -> None:
    found = parse_tolerant(f"{MINE}\nA<B")
    assert isinstance(found, Rejected)
    assert found.reason == "contradiction"
