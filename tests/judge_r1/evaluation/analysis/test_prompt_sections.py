"""Every token of a prompt is in one section, and the sections are correct."""

from collections.abc import Callable
from itertools import groupby

import pytest
import real_tokenizers
from factories import make_case, make_pair
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_r1.episode.prompts import Message, Prompt, judge_prompt, principles
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.evaluation.analysis import prompt_sections as parts
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError
from judge_r1.evaluation.analysis.prompt_sections import SECTIONS, prompt_sections

NAMES = ["tiny", "smollm2", "awkward", "spelled_out"]
CASE = make_case("Ana paid 34. Ben left Rome.", decision="grant it")
PROSE = st.text(st.characters(codec="utf-8", min_codepoint=32, max_codepoint=0xD7FF), min_size=1, max_size=30)


def said(tokenizer: SafeTokenizer, ids: list[int], sections: list[str]) -> dict[str, str]:
    """What the tokens of each section decode to, run by run."""
    runs = groupby(zip(ids, sections, strict=True), key=lambda pair: pair[1])
    found: dict[str, str] = {}
    for section, run in runs:
        found[section] = found.get(section, "") + tokenizer.decode([token for token, _ in run])
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("style", "searches"), [("standard", 3), ("direct", 0), ("compact", 6), ("table6", 0)])
def test_ids_equal_the_prompt_and_each_has_one_section(name: str, style: str, searches: int) -> None:
    tokenizer = real_tokenizers.load(name)
    prompt = judge_prompt(make_pair(CASE), CASE, context="full", searches=searches, style=style)
    ids, sections = prompt_sections(prompt, tokenizer, style)
    assert ids == tokenizer.prompt_ids(prompt)
    assert len(sections) == len(ids)
    assert set(sections) <= set(SECTIONS)
    assert sections[0] == parts.FIRST
    assert sections.count(parts.FIRST) == 1


@pytest.mark.parametrize("name", ["smollm2", "awkward", "spelled_out"])
def test_sections_of_inserted_text_equal_that_text(name: str) -> None:
    tokenizer = real_tokenizers.load(name)

    @settings(max_examples=25, deadline=None)
    @given(PROSE, PROSE, PROSE)
    def check(context: str, decision: str, reference: str) -> None:
        if not (context.strip() and decision.strip() and reference.strip()):
            return
        case = make_case(context, decision=decision, reference=reference)
        pair = make_pair(case, flawed=reference + "!", violated=(1,))
        prompt = judge_prompt(pair, case, context="full", searches=0, style="direct")
        found = said(tokenizer, *prompt_sections(prompt, tokenizer, "direct"))
        by_name = dict(zip(prompt.names, prompt.inserted, strict=True))
        assert found[parts.CONTEXT] == by_name["context"]
        assert found[parts.DECISION] == by_name["decision"]
        assert found[parts.A] == by_name["reasoning_a"]
        assert found[parts.B] == by_name["reasoning_b"]

    check()


@pytest.mark.parametrize("name", ["smollm2", "awkward"])
@pytest.mark.parametrize("style", ["standard", "direct", "compact"])
def test_principles_section_equals_its_text(name: str, style: str) -> None:
    tokenizer = real_tokenizers.load(name)
    prompt = judge_prompt(make_pair(CASE), CASE, context="full", searches=0, style=style)
    found = said(tokenizer, *prompt_sections(prompt, tokenizer, style))
    assert found[parts.PRINCIPLES].strip(" \n") == principles(style)
    assert "P" not in found[parts.TEMPLATE]
    assert found[parts.TEMPLATE].count("<|im_end|>") == 2
    first = tokenizer.decode(tokenizer.prompt_ids(prompt)[:1])
    assert first + found[parts.TEMPLATE] == (
        "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n"
    )
    assert "Reasoning A" in found[parts.INSTRUCTIONS] or style == "compact"


@pytest.fixture
def template() -> Callable[[str], SafeTokenizer]:
    def use(text: str) -> SafeTokenizer:
        tokenizer = real_tokenizers.awkward.__wrapped__()
        tokenizer.chat_template = text
        return SafeTokenizer(tokenizer)

    return use


def test_template_without_system_role_has_the_same_sections(template: Callable[[str], SafeTokenizer]) -> None:
    tokenizer = template(
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('none') }}{% else %}"
        "[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}[model]"
    )
    prompt = judge_prompt(make_pair(CASE), CASE, context="full", searches=0, style="direct")
    found = said(tokenizer, *prompt_sections(prompt, tokenizer, "direct"))
    assert found[parts.FIRST] + found[parts.TEMPLATE] == "[user]\n\n[model]"
    assert found[parts.PRINCIPLES].strip() == principles("direct")
    assert found[parts.CONTEXT] == CASE.context


def test_template_that_repeats_the_principles_is_rejected(template: Callable[[str], SafeTokenizer]) -> None:
    tokenizer = template(
        "1 logic 2 facts 3 fairness 4 grounds 5 help 6 harm {% for m in messages %}{{ m.content }}{% endfor %}"
    )
    prompt = judge_prompt(make_pair(CASE), CASE, context="none", searches=2, style="compact")
    with pytest.raises(AnalysisError, match="contains the principles 2 times"):
        prompt_sections(prompt, tokenizer, "compact")


def test_a_custom_prompt_has_no_sections() -> None:
    prompt = Prompt(messages=(Message("user", "is \ue0000\ue001 good?"),), inserted=("it",))
    with pytest.raises(AnalysisError, match="does not name its inserted texts"):
        prompt_sections(prompt, real_tokenizers.load("tiny"), "direct")
