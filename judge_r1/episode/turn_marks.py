"""The marks in a reply that end a turn, or that open and close a thought, in the forms that models write."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from judge_r1.episode.readable_json import readable_objects

THINK = "think"
HARMONY = "harmony"
_FORMS = {
    THINK: (r"<think>", r"</think>"),
    HARMONY: (
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^<\n]{0,80}(?:<\|message\|>)?",
        r"(?:<\|start\|>assistant)?<\|channel\|>final[^<\n]{0,80}(?:<\|constrain\|>[^<\n]{0,80})?<\|message\|>",
    ),
    "gemma": (r"<\|channel>", r"<channel\|>"),
    "mistral": (r"\[THINK\]", r"\[/THINK\]"),
    "seed": (r"<seed:think>", r"</seed:think>"),
    "kimi": ("◁think▷", "◁/think▷"),
    "cohere": (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    "openthinker": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
}
WORDS = ("reasoning", "thinking", "thought")
"""Thoughts in tags that a text may also quote: they count at the start or the end of a line."""
_FORMS |= {word: (rf"^[ \t]*<{word}>", rf"^[ \t]*</{word}>|</{word}>(?=[ \t]*(?:$|<answer>|\{{))") for word in WORDS}
_ENDS = (
    r"<\|(?:im_end|eot_id|eom_id|end|endoftext|return|call|end_of_text|end_of_turn|END_OF_TURN_TOKEN|endofprompt)\|>",
    r"</s>|<end_of_turn>|<turn\|>|<eos>|<eot>|<｜end▁of▁sentence｜>|<\|?｜(?:User|Assistant)｜>|<\[end_of_turn\]>",
    r"<\|im_start\|>(?:user|system|tool)|<start_of_turn>user|<\|start_header_id\|>user|<\|turn>user|<\|user\|>",
)
TURN_END = f"(?:{'|'.join(_ENDS[:2])}|<\\|END_OF_TURN_TOKEN\\|>)"
"""A mark that ends a turn, without those that begin the next one."""
_CLOSES_HARMONY = ("<|end|>", "<|call|>")
_MARK = re.compile(
    "|".join(
        [rf"(?P<{form}_open>{opening})|(?P<{form}_close>{closing})" for form, (opening, closing) in _FORMS.items()]
        + [rf"(?P<end>{'|'.join(_ENDS)})", "(?P<strike><s>)"]
    ),
    re.MULTILINE,
)
_FIRST = re.compile(r"[<\[◁]")


class Mark(NamedTuple):
    """`text[start:end]`. `kind` is open, close or end; `form` is the form of the thought, "" for the end of a turn."""

    kind: str
    form: str
    start: int
    end: int

    @property
    def header(self) -> bool:
        """Whether it opens the answer, and so closes whatever thought is before it."""
        return self.kind == "close" and self.form == HARMONY


def marks(text: str) -> list[Mark]:
    """All marks of a text, in order. Those inside a JSON object belong to its texts, `<think>` aside: a judge may quote
    a candidate."""
    found = list(_all_marks(text)) if _FIRST.search(text) else []
    if "{" not in text or all(mark.form == THINK for mark in found):
        return found
    spans, kept = iter(_whole_objects(text)), list[Mark]()
    start, stop = next(spans, (len(text), len(text)))
    for mark in found:
        while mark.start >= stop and stop < len(text):
            start, stop = next(spans, (len(text), len(text)))
        if mark.form == THINK or not start <= mark.start < stop:
            kept.append(mark)
    return kept


def _all_marks(text: str) -> Iterator[Mark]:
    struck = False
    for match in _MARK.finditer(text):
        name, start, end = match.lastgroup or "", match.start(), match.end()
        if name == "strike":
            struck = start > 0  # at the start it is a mark of the beginning, elsewhere it opens struck text
        elif name != "end":
            form, _, kind = name.rpartition("_")
            yield Mark(kind, form, start, end)
        elif match[0] == "</s>" and struck:
            struck = False
        else:
            yield Mark("end", HARMONY if match[0] in _CLOSES_HARMONY else "", start, end)


def _whole_objects(text: str) -> Iterator[tuple[int, int]]:
    for found in readable_objects(text):
        try:
            json.loads(text[found.start : found.end])
        except (ValueError, RecursionError):
            continue
        yield found.start, found.end
