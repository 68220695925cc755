"""Which part of an episode each of its tokens belongs to: exact, since the ids are built again from the same pieces."""

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
"""Every token is in one of them. `first token` is the very first one whatever it says: models park attention there.
`written` is what the policy wrote, `passages` what a search put in."""
_INSERTED = {"context": CONTEXT, "decision": DECISION, "reasoning_a": A, "reasoning_b": B}


def prompt_sections(
    prompt: Prompt, tokenizer: SafeTokenizer, style: str, *, thinking: bool = False
) -> tuple[list[int], list[str]]:
    """The ids of a prompt (`SafeTokenizer.prompt_ids`) and the section of each, in parallel.

    Inserted texts are encoded apart from ours, so their ids are theirs alone. In our text a token belongs to the
    section that most of its characters stand in, the first of them where two hold as many.
    """
    if len(prompt.names) != len(prompt.inserted):
        raise AnalysisError("the prompt does not name what it shows: only comparisons of two candidates have sections")
    rendered = tokenizer.rendered(prompt, thinking=thinking)
    labels = _labels(prompt, rendered, style)
    ids: list[int] = []
    sections: list[str] = []
    for start, text, number in prompt.numbered_pieces(rendered):
        if number is not None:
            new = tokenizer.encode_untrusted(text)
            sections += [_INSERTED[prompt.names[number]]] * len(new)
        else:
            new = tokenizer.encode_trusted(text)
            spans = tokenizer.trusted_spans(text)
            if len(spans) != len(new):
                raise AnalysisError("the tokenizer gives other offsets than ids, so its tokens have no certain place")
            sections += [_most(labels[start + low : start + max(high, low + 1)]) for low, high in spans]
        ids += new
    if ids:
        sections[0] = FIRST
    return ids, sections


def episode_sections(prompt: Sequence[str], trajectory: Trajectory) -> list[str]:
    """The sections of prompt and episode, one a token."""
    return [*prompt, *(WRITTEN if sampled else SHOWN for sampled in trajectory.loss_mask)]


def _labels(prompt: Prompt, rendered: str, style: str) -> list[str]:
    """The section of each character of our text (marks included, which nobody asks for)."""
    labels = [TEMPLATE] * len(rendered)
    at = 0
    for message in prompt.messages:
        text = message.marked.strip()
        at = rendered.index(text, at)
        labels[at : at + len(text)] = [INSTRUCTIONS] * len(text)
        at += len(text)
    said = principles(style)
    if rendered.count(said) != 1:
        raise AnalysisError(f"prompt style {style!r} says the principles {rendered.count(said)} times, not once")
    at = rendered.index(said)
    labels[at : at + len(said)] = [PRINCIPLES] * len(said)
    return labels


def _most(labels: Sequence[str]) -> str:
    return Counter(labels).most_common(1)[0][0]
