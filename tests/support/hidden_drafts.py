"""Thoughts that contain valid answers in every format that a parser reads, for tests that none of them counts."""

from typing import NamedTuple

from hypothesis import strategies as st

DRAFTS = [
    '{"comparison": "A>B", "violated_principles": [1]}',
    '<answer>{"comparison": "A>B", "violated_principles": [1]}</answer>',
    "A>B\nviolated_principles: [1]",
    "Rating: 9",
    '{"response_a": {"score": 9}, "response_b": {"score": 1}, "preference": "A", "winner": "A", "score": 9}',
    "```json\n{}\n```",
    "Worse: B\nViolated Principles: [1]\nWhy: it says so",
    "Flawed Variant 1:\nViolated Principles: [1, 2]\n1. Ana paid nothing.",
    "<search>dose</search>",
    "<think>",
    "so",
    '"',
    "{",
]
UNDECIDED = "I cannot decide between them."


OTHER_FORMS = {
    "harmony": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "gemma": ("<|channel>thought\n", "<channel|>"),
    "mistral": ("[THINK]", "[/THINK]"),
    "seed": ("<seed:think>", "</seed:think>"),
    "reasoning": ("<reasoning>\n", "\n</reasoning>\n"),
    "thinking": ("<thinking>", "</thinking>\n"),
}
"""How thoughts of other forms than `<think>` begin and end."""


class Hidden(NamedTuple):
    """A reply to a template that may have opened a thought, and whether its thoughts are nested."""

    text: str
    opened: bool
    nested: bool


_THOUGHTS = st.lists(st.sampled_from(DRAFTS) | st.text(max_size=5), min_size=1, max_size=6).map("\n".join)


def _reply(thought: str, second: str, form: str, answer: str) -> Hidden:
    plain, inner = (text.replace("<think>", "") for text in (thought, second))
    # A tag in `inner` would open a second thought behind the first closing tag, where an answer counts.
    nested = f"<think>{thought}<think>{inner}</think>{inner}</think>{answer}"
    if form in OTHER_FORMS:
        begin, end = OTHER_FORMS[form]
        return Hidden(f"{begin}{plain}{end}{answer}", opened=False, nested=False)
    text = {"inline": f"<think>{plain}</think>{answer}", "opened": f"{plain}</think>{answer}", "nested": nested}[form]
    return Hidden(text, form == "opened", form == "nested")


def replies(
    answer: str = UNDECIDED, forms: tuple[str, ...] = ("inline", "opened", "nested", *OTHER_FORMS)
) -> st.SearchStrategy[Hidden]:
    """Replies that say `answer` after thoughts with drafts of other answers."""
    return st.builds(_reply, _THOUGHTS, _THOUGHTS, st.sampled_from(forms), st.just(answer))
