"""Round trips, chat templates and tags. tests/promises/test_no_forgery.py tests untrusted text."""

from collections.abc import Callable, Iterator
from datetime import datetime
from types import SimpleNamespace

import pytest
import real_tokenizers
from factories import make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.errors import JudgeError
from judge_r1.episode.prompts import judge_prompt
from judge_r1.episode.tokenizer import SafeTokenizer

PROSE = st.text(st.characters(codec="utf-8", min_codepoint=32, max_codepoint=0xD7FF), max_size=20)
CASE = make_case()
PROMPT = judge_prompt(make_pair(CASE), CASE, context="full", searches=2)


@pytest.mark.parametrize("name", ["smollm2", "awkward", "spelled_out"])
def test_all_encodings_round_trip(name: str) -> None:
    tokenizer = real_tokenizers.load(name)

    @given(PROSE)
    def check(text: str) -> None:
        for ids in (
            tokenizer.encode_trusted(text),
            tokenizer.encode_untrusted(text),
            tokenizer.encode_policy_text(text),
        ):
            assert tokenizer.decode(ids) == text

    check()


def test_policy_text_trusts_only_its_tags() -> None:
    tokenizer = real_tokenizers.load("tiny")
    ids = tokenizer.encode_policy_text("<think>kara <|im_end|> paid</think><search>kara</search>")
    tags = [tokenizer.decode([i]) for i in ids if i in tokenizer.added]
    assert tags == ["<think>", "</think>", "<search>", "</search>"]


def test_the_prompt_equals_the_rendered_chat_template() -> None:
    for name in ("smollm2", "awkward"):
        tokenizer = real_tokenizers.load(name)
        rendered = tokenizer.hf.apply_chat_template(PROMPT.chat(), tokenize=False, add_generation_prompt=True)
        ids = tokenizer.prompt_ids(PROMPT)
        assert tokenizer.decode(ids) == rendered
        assert rendered.endswith("<|im_start|>assistant\n")
        assert ids.count(tokenizer.encode_trusted("<|im_start|>")[0]) == 3


@pytest.mark.parametrize("kind", ["prepend", "always", "first"])
def test_a_tokenizer_that_puts_a_space_before_a_text_puts_none_inside_it(kind: str) -> None:
    """Llama 2 and Mistral v0.1: a prompt had eight spaces more than its template, and an answer `<answer> {…}`."""
    tokenizer = SafeTokenizer(real_tokenizers.with_prefix_space(kind))
    rendered = tokenizer.hf.apply_chat_template(PROMPT.chat(), tokenize=False)
    whole = tokenizer.hf.encode(rendered, add_special_tokens=False)
    assert tokenizer.decode(tokenizer.prompt_ids(PROMPT)) == tokenizer.decode(whole)
    answer = '<think>It paid.</think><answer>{"comparison": "A>B"}</answer>'
    assert tokenizer.decode(tokenizer.encode_policy_text(answer)) == answer
    together = [
        *tokenizer.encode_trusted("Q:"),
        *tokenizer.encode_untrusted("no space"),
        *tokenizer.encode_trusted("."),
    ]
    assert tokenizer.decode(together) == "Q:no space."
    for first in (False, True):
        spans = tokenizer.trusted_spans(text := "a judge paid", first=first)
        assert len(spans) == len(tokenizer.encode_trusted(text, first=first))
        assert first or "".join(text[start:end] for start, end in spans) == text


def test_a_template_with_todays_date_gives_the_same_prompt_every_day(template: Callable[[str], SafeTokenizer]) -> None:
    body = "{% for m in messages %}{{ m.content }}{% endfor %}"
    dated = template("{{ strftime_now('%d %b %Y') }}" + body)  # Llama 3.2 and gpt-oss
    assert dated.rendered(PROMPT).startswith("26 Jul 2024")
    fingerprint = dated.fingerprint
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("judge_r1.episode.tokenizer.TODAY", datetime(2026, 1, 2))
        assert dated.rendered(PROMPT).startswith("02 Jan 2026")
        assert dated.fingerprint != fingerprint


@pytest.fixture
def template() -> Iterator[Callable[[str], SafeTokenizer]]:
    """Returns a tokenizer with another chat template."""
    tokenizer = real_tokenizers.awkward()
    before = tokenizer.chat_template

    def use(text: str) -> SafeTokenizer:
        tokenizer.chat_template = text
        return SafeTokenizer(tokenizer)

    yield use
    tokenizer.chat_template = before


def test_the_template_receives_enable_thinking(template: Callable[[str], SafeTokenizer]) -> None:
    tokenizer = template(
        "{% for m in messages %}{{ m.content }}{% endfor %}{% if not enable_thinking %}quiet{% endif %}"
    )
    quiet, thinking = (tokenizer.decode(tokenizer.prompt_ids(PROMPT, thinking=think)) for think in (False, True))
    assert quiet == thinking + "quiet"


@pytest.mark.parametrize("system_branch", ["{{ raise_exception('no system role') }}", ""])
def test_a_template_without_a_system_role(template: Callable[[str], SafeTokenizer], system_branch: str) -> None:
    tokenizer = template(
        f"{{% for m in messages %}}{{% if m.role == 'system' %}}{system_branch}{{% else %}}"
        "[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}[model]"
    )
    system, user = (message["content"] for message in PROMPT.chat())
    assert tokenizer.decode(tokenizer.prompt_ids(PROMPT)) == f"[user]{system}\n\n{user}[model]"


def test_a_template_that_fails_raises(template: Callable[[str], SafeTokenizer]) -> None:
    tokenizer = template("{{ raise_exception('roles must be pirates') }}")
    with pytest.raises(JudgeError, match=r"chat template cannot render.*roles must be pirates"):
        tokenizer.prompt_ids(PROMPT)
    with pytest.raises(JudgeError, match="drops or changes the text of a message"):
        template("[model]").prompt_ids(PROMPT)


def test_a_tokenizer_without_a_fast_version_raises() -> None:
    with pytest.raises(JudgeError, match="no fast version"):
        SafeTokenizer(SimpleNamespace(added_tokens_decoder={}))


@given(st.lists(st.integers(0, 10**6), max_size=6))
def test_ids_are_decoded_as_transformers_decodes_them(numbers: list[int]) -> None:
    tiny = real_tokenizers.tiny()
    tokenizer = SafeTokenizer(tiny)
    ids = [number % len(tiny) for number in numbers]
    for _ in range(2):  # the text of a single id is kept
        expected = tiny.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        assert tokenizer.decode(ids) == expected
