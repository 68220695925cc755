from hypothesis import given
from hypothesis import strategies as st

from judge_r1.episode.answer_text import answer_of, answer_text, split_hidden_thought
from judge_r1.episode.tags import Segment, TagScanner, segments

PARTS = ["<think>", "</think>", "<search>", "</search>", "<answer>", "</answer>", "<information>", "a", " ", "<", "\n"]


def test_blocks_and_the_text_between_them() -> None:
    assert segments("hm <think>a <search>b</search></think>\n<answer>{}</answer> bye") == [
        Segment("text", "hm "),
        Segment("think", "a <search>b</search>"),
        Segment("answer", "{}"),
        Segment("text", " bye"),
    ]
    assert segments("<think>on and on") == [Segment("think", "on and on", closed=False)]
    assert segments("") == []


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_the_first_action_is_that_of_the_scanner(text: str) -> None:
    action = TagScanner().push(text)
    first = next(((s.kind, s.text) for s in segments(text) if s.closed and s.kind in ("search", "answer")), None)
    assert first == action
    if action and action[0] == "answer":  # a turn ends with its action
        turn = next(text[:end] for end in range(len(text) + 1) if TagScanner().push(text[:end]))
        if "<answer>" not in split_hidden_thought(turn)[1]:  # `</think>` in the answer ends a hidden thought
            assert answer_of(turn) == (answer_text(turn), False)
        elif "</think>" not in action[1]:
            assert answer_of(turn) == (action[1], True)
