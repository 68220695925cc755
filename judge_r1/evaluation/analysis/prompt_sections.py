"""Assigns each token of an episode to a section of the prompt, by rebuilding the ids from the same parts."""

from collections import Counter
from collections.abc import Sequence

from judge_r1.core.records import Trajectory
from judge_r1.episode.prompts import Prompt, principles
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError

FIRST = "first token"
TEMPLATE, INSTRUCTIONS, PRINCIPLES = "chat template", "instructions", "principles"
CONTEXT, DECISION, A, B = "context", "decision", "reasoning A", "reasoning B"
WRITTEN, SHOWN = "written", "passages"
SECTIONS = (FIRST, TEMPLATE, INSTRUCTIONS, PRINCIPLES, CONTEXT, DECISION, A, B, WRITTEN, SHOWN)
"""Every token is in one section. `first token` is a section of its own because models attend to it regardless of its
content (attention sink). `written` holds the tokens of the policy, `passages` those of search results."""
_INSERTED = {"case_id": CONTEXT, "context": CONTEXT, "decision": DECISION, "reasoning_a": A, "reasoning_b": B}


def prompt_sections(
    prompt: Prompt, tokenizer: SafeTokenizer, style: str, *, thinking: bool = False
) -> tuple[list[int], list[str]]:
    """The ids of a prompt (`SafeTokenizer.prompt_ids`) and the section of each.

    Inserted texts are encoded separately, so no token crosses their boundaries. A token of the template belongs to the
    section of most of its characters, and to the first one in a tie.
    """
    if len(prompt.names) != len(prompt.inserted):
        raise AnalysisError(
            "the prompt does not name its inserted texts: only comparisons of two candidates have sections"
        )
    rendered = tokenizer.rendered(prompt, thinking=thinking)
    labels = _labels(prompt, rendered, style)
    ids: list[int] = []
    sections: list[str] = []
    for start, text, number in prompt.numbered_pieces(rendered):
        if number is not None:
            new = tokenizer.encode_untrusted(text)
            sections += [_INSERTED[prompt.names[number]]] * len(new)
        else:
            new = tokenizer.encode_trusted(text, first=not ids)
            spans = tokenizer.trusted_spans(text, first=not ids)
            if len(spans) != len(new):
                raise AnalysisError(
                    "the tokenizer returns different numbers of offsets and ids: tokens cannot be located"
                )
            sections += [_most(labels[start + low : start + max(high, low + 1)]) for low, high in spans]
        ids += new
    if ids:
        sections[0] = FIRST
    return ids, sections


def episode_sections(prompt: Sequence[str], trajectory: Trajectory) -> list[str]:
    """The section of each token of the prompt and the episode."""
    return [*prompt, *(WRITTEN if sampled else SHOWN for sampled in trajectory.loss_mask)]


def _labels(prompt: Prompt, rendered: str, style: str) -> list[str]:
    """The section of each character of the rendered template, including the marks of inserted texts."""
    labels = [TEMPLATE] * len(rendered)
    at = 0
    for message in prompt.turns:
        text = message.marked.strip()
        at = rendered.index(text, at)
        labels[at : at + len(text)] = [INSTRUCTIONS] * len(text)
        at += len(text)
    with_case, without = principles(style), principles(style, has_case=False)
    text = with_case if with_case in rendered else without
    if rendered.count(text) != 1:
        raise AnalysisError(f"prompt style {style!r} contains the principles {rendered.count(text)} times, not once")
    at = rendered.index(text)
    labels[at : at + len(text)] = [PRINCIPLES] * len(text)
    return labels


def _most(labels: Sequence[str]) -> str:
    return Counter(labels).most_common(1)[0][0]
