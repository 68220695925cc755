"""Decides what the answer of a reply is, for local models, endpoints and every parser of evaluations.

Nothing behind the first end-of-turn mark is the answer, and no thought is, in any form (`marks`). The opening of a
thought may be missing, because a chat template can write it. Offsets are those of the reply.

Rewards read bare answers by the grammar of the episode alone (`after_thoughts`).
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from judge_r1.episode.readable_json import readable_objects
from judge_r1.episode.tags import escape_tags, segments

_OPENING, _CLOSING = "<think>", "</think>"


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


class _Reply(NamedTuple):
    """The answer is `text[start:end]`; the turn ends at `cut`. `thoughts` are the marks of thoughts before it, and
    `open` says that the last one is not closed."""

    start: int
    end: int
    cut: int
    thoughts: list[Mark]
    open: bool


def answer_span(text: str) -> tuple[int, int]:
    """Where the answer starts and ends."""
    reply = _read(text)
    return reply.start, reply.end


def answer_text(text: str) -> str:
    """The answer of a reply: without thoughts, also one that is not closed, and up to the end of the turn."""
    reply = _read(text)
    return text[reply.start : reply.end]


def first_turn(text: str) -> str:
    """The reply up to the mark that ends its turn."""
    return text[: _read(text).cut]


def thought_is_open(text: str) -> bool:
    """Whether the reply ends inside a thought."""
    return _read(text).open


def after_thoughts(text: str) -> str:
    """The bare answer of an episode as rewards read it: what follows the last `</think>`, up to a `<think>`."""
    return text[text.rfind(_CLOSING) + len(_CLOSING) if _CLOSING in text else 0 :].partition(_OPENING)[0]


def split_hidden_thought(text: str) -> tuple[str, str]:
    """Splits a reply with action tags into the thought that the chat template has opened and the rest, up to the end of
    the turn. Both are in the grammar of the episode: thoughts of other forms become `<think>…</think>`.

    The hidden thought ends at the last `</think>` that closes no `<think>`. Actions in it are drafts.
    """
    text = _in_grammar(text)
    end, is_open = 0, False
    for mark in marks(text):
        if mark.form == THINK:
            if mark.kind == "close" and not is_open:
                end = mark.end
            is_open = mark.kind == "open"
    return text[:end].removesuffix(_CLOSING), text[end:]


def answer_of(text: str) -> tuple[str, bool]:
    """The part of a turn that may be parsed, and whether it stands between answer tags: the content of the first
    complete answer, else the text without thoughts."""
    _, acting = split_hidden_thought(text)
    tagged = next((s.text for s in segments(acting) if s.kind == "answer" and s.closed), None)
    return (answer_text(text), False) if tagged is None else (tagged, True)


def _read(text: str) -> _Reply:
    found = marks(text)
    nexts: list[str | None] = [None] * len(found)  # the kind of the next mark of a thought
    for number in range(len(found) - 2, -1, -1):
        after = found[number + 1]
        nexts[number] = nexts[number + 1] if after.kind == "end" or after.header else after.kind
    thoughts, form, depth, start, begun, cut = list[Mark](), "", 0, 0, 0, len(text)
    before: tuple[int, int] | None = None  # the text before a thought in words, which may be an answer with its reasons
    for mark, following in zip(found, nexts, strict=True):
        closes = mark.kind == "close" or (mark.kind == "end" and form == mark.form == HARMONY)
        if closes and (not form or mark.form == form or mark.header):
            before = (start, begun) if form == mark.form and form in WORDS else None
            thoughts.append(mark)
            form, depth, start = "", max(0, depth - 1), mark.end
        elif mark.kind == "end":
            # A closing tag behind it says that a thought holds it: one that is open, or that a template has opened.
            if following != "close" or not (form or depth or not thoughts):
                cut = mark.start
                break
        elif mark.kind == "open" and (not form or form == mark.form):
            depth += 1
            if not form:
                form, begun = mark.form, mark.start
                thoughts.append(mark)
    end = begun if form else cut
    if before is not None and not form and not text[start:cut].strip():
        start, end = before
    return _Reply(start, end, cut, thoughts, bool(form))


def _in_grammar(text: str) -> str:
    reply = _read(text)
    parts, done, inside = list[str](), 0, False
    for mark in reply.thoughts:
        between = text[done : mark.start]
        if mark.form == THINK:
            parts += [between, text[mark.start : mark.end]]
        elif mark.kind == "open":
            parts += [between, _OPENING]
            inside = True
        else:
            # The header of an answer alone closes no thought.
            closes = inside or not mark.header or bool(between.strip())
            parts += [escape_tags(between) if inside else between, _CLOSING if closes else ""]
            inside = False
        done = mark.end
    rest = text[done : reply.cut]
    return "".join([*parts, escape_tags(rest) if inside else rest])
