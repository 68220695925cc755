"""Decoding id by id over real tokenizers, and the scanner against the grammar of whole texts."""

from functools import cache
from itertools import chain, cycle

import pytest
import real_tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from judge_r1.episode.answer_text import answer_of, answer_text, split_hidden_thought
from judge_r1.episode.tags import Segment, StreamDecoder, TagScanner, segments
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import load_tokenizer

BYTEWISE = ["tiny", "haystack", "awkward", "spelled_out"]
OTHERS = ["smollm2", "word_piece"]
"""SmolLM2's file, converted from GGUF, fuses all tokens before it decodes bytes."""
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(
    ["naïve “😀” 日本", "don't . ! ? n't", "<search>a b</search>", "�", "e\u0301 👩‍👩‍👧", "  \n\n\t x", "<|im_end|>"]
)
PARTS = ["<think>", "</think>", "<search>", "</search>", "<answer>", "</answer>", "<answ", "er>", "<", ">", "a", "😀"]


@cache
def tokenizer(name: str) -> SafeTokenizer:
    if name == "word_piece":
        words = Tokenizer(models.WordPiece({"a": 0, "##b": 1, "?": 2}, unk_token="?"))
        words.decoder = decoders.WordPiece()
        return SafeTokenizer(PreTrainedTokenizerFast(tokenizer_object=words))
    return SafeTokenizer(load_tokenizer("bundled:haystack")) if name == "haystack" else real_tokenizers.load(name)


@pytest.mark.parametrize("name", [*BYTEWISE, *OTHERS])
def test_only_a_byte_level_decoder_is_bytewise(name: str) -> None:
    assert tokenizer(name).bytewise == (name in BYTEWISE)


@pytest.mark.parametrize("clean_up", [False, True])
@pytest.mark.parametrize("name", BYTEWISE)
def test_the_stream_gives_the_text_of_the_library(name: str, clean_up: bool) -> None:
    """For any ids: texts cut inside a character, random ids, added and special tokens, an id without a token."""
    of = tokenizer(name)
    random_ids = st.lists(st.integers(0, len(of.hf) - 1), max_size=4)
    control_ids = st.lists(st.sampled_from([*sorted(of.added), len(of.hf) + 7]), max_size=2)
    cut = st.tuples(TEXTS, st.integers(0, 3)).map(lambda drawn: of.encode_trusted(drawn[0])[drawn[1] :])

    @given(st.lists(cut | random_ids | control_ids, max_size=8).map(lambda parts: list(chain(*parts))))
    def check(ids: list[int]) -> None:
        stream, seen, whole = StreamDecoder(of.decode, bytewise=True), "", ""
        for end, token in enumerate(ids, 1):
            seen += stream.push(token)
            whole = of.hf.decode(ids[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False)
            assert seen == whole.rstrip("�")
        assert seen + stream.flush() == whole

    before = of.hf.clean_up_tokenization_spaces
    of.hf.clean_up_tokenization_spaces = clean_up
    try:
        check()
    finally:
        of.hf.clean_up_tokenization_spaces = before


@given(st.lists(st.sampled_from(PARTS)).map("".join), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_pieces_of_any_size_give_the_first_action_and_the_open_block(text: str, sizes: list[int]) -> None:
    scanner, found, at = TagScanner(), None, 0
    for size in cycle(sizes):
        if found or at >= len(text):
            break
        found, at = scanner.push(text[at : at + size]), at + size
    blocks = segments(text)
    assert found == next(((b.kind, b.text) for b in blocks if b.closed and b.kind in ("search", "answer")), None)
    assert scanner.text == text[:at]
    assert found or scanner.open == next((b.kind for b in blocks if not b.closed), None)


BLOCKS = ["<think>", "</think>", "<search>", "</search>", "<answer>", "</answer>", "<information>", "a", " ", "<", "\n"]


def test_blocks_and_the_text_between_them() -> None:
    assert segments("hm <think>a <search>b</search></think>\n<answer>{}</answer> bye") == [
        Segment("text", "hm "),
        Segment("think", "a <search>b</search>"),
        Segment("answer", "{}"),
        Segment("text", " bye"),
    ]
    assert segments("<think>on and on") == [Segment("think", "on and on", closed=False)]
    assert segments("") == []


@given(st.lists(st.sampled_from(BLOCKS)).map("".join))
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
