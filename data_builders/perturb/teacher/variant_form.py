"""The form of a teacher's variants, for local models: the reference with one sentence rewritten for each flaw.

The model chooses the principles (multi variants only) and the sentences, and rewrites these. We copy all other text, so
lines and numbering are right, and the model writes a few dozen tokens for a variant instead of the whole reasoning.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import permutations

from data_builders.perturb.teacher.answer_parser import unrequested_variants
from data_builders.text_units.edits import Edit, apply_edits
from data_builders.text_units.steps import MARKER, Step, body_sentences, sentences
from judge_r1.core.principles import NUMBERS
from judge_r1.episode.answer_form import ModelWriter

_BYTES_PER_TOKEN, _SPARE_TOKENS, _MAX_PRINCIPLES = 2.5, 24, 3
_THINK_TAG = re.compile("</?think>")
_WORD = re.compile(r"[^\W_]")
_HEADING_END = re.compile(r":[*_]*$")
_END = re.compile(r"[.!?:;][\"'”’»)\]*]*$")


@dataclass(frozen=True)
class _Sentence:
    start: int
    end: int
    step: int


class VariantForm:
    """Writes the variants numbered `wanted`; those of a `principle` have one flaw each, other variants several.

    `used` are the steps, or without a principle the sorted combinations of principles, of variants accepted before.
    """

    def __init__(
        self,
        reference: str,
        steps: Sequence[Step],
        wanted: Sequence[int],
        principle: int | None,
        used: Collection[int | tuple[int, ...]] = (),
    ) -> None:
        self._reference, self._wanted, self._principle, self._used = reference, wanted, principle, frozenset(used)
        self._sentences = [
            _Sentence(step.start + start, step.start + end, step.index)
            for step in steps
            for start, end in body_sentences(step)
            if not _HEADING_END.search(step.text[:end]) and "\n" not in step.text[start:end]
        ]

    async def __call__(self, writer: ModelWriter) -> str:
        """The answer in the form of the prompt. A variant whose sentence cannot be used is empty; variants for which no
        step or combination is left are missing."""
        used, parts = set(self._used), []
        for number in self._wanted:
            writer.add(f"Flawed Variant {number}:\n")
            lines = [f"Flawed Variant {number}:"]
            if self._principle:
                principles, options = [self._principle], [s for s in self._sentences if s.step not in used]
            else:
                principles, options = await self._choose_principles(writer, used), self._sentences
                used.add(tuple(sorted(principles)))
                lines.append(f"Violated Principles: {principles}")
            if not principles or not options:
                break
            edits, chosen = await self._rewrite(writer, principles, options)
            if self._principle:
                used.update(chosen)
            lines.append(apply_edits(self._reference, edits)[0] if len(edits) == len(principles) else "")
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    async def _choose_principles(self, writer: ModelWriter, used: set[int | tuple[int, ...]]) -> list[int]:
        """Principles in the order of their flaws; empty if there are too few steps or all combinations are used."""
        most = min(_MAX_PRINCIPLES, len({sentence.step for sentence in self._sentences}))
        orders = [order for size in range(2, most + 1) for order in permutations(NUMBERS, size)]
        texts = {f"{', '.join(map(str, order))}]": list(order) for order in orders if tuple(sorted(order)) not in used}
        if not texts:
            return []
        writer.add("Violated Principles: [")
        return texts[await writer.choose(list(texts))]

    async def _rewrite(
        self, writer: ModelWriter, principles: Sequence[int], options: Sequence[_Sentence]
    ) -> tuple[list[Edit], list[int]]:
        """The edits, one for each principle in text order, without those that cannot be used; and the changed steps."""
        edits: list[Edit] = []
        chosen: list[int] = []
        for index, principle in enumerate(principles):
            steps = sorted({sentence.step for sentence in options if not chosen or sentence.step > chosen[-1]})
            steps = steps[: len(steps) - (len(principles) - 1 - index)]  # later flaws need steps of their own
            texts = {self._text(sentence): sentence for sentence in reversed(options) if sentence.step in steps}
            writer.add('Original: "' if self._principle else f'Original, to break principle {principle}: "')
            sentence = texts[await writer.choose(list(reversed(texts)), end='"\n')]
            writer.add('Rewritten: "')
            old = self._text(sentence)
            length = math.ceil(len(old.encode()) / _BYTES_PER_TOKEN) + _SPARE_TOKENS
            text, finished = await writer.write(length, end="\n" if '"' in old else '"')
            new = _one_sentence(text, old, finished=finished)
            writer.add(f'{new or old}"\n')
            chosen.append(sentence.step)
            if new:
                edits.append(Edit(sentence.start, sentence.end, new))
        return edits, chosen

    def _text(self, sentence: _Sentence) -> str:
        return " ".join(self._reference[sentence.start : sentence.end].split())


def _one_sentence(text: str, old: str, *, finished: bool) -> str | None:
    """The first sentence of a text, ended like `old`. None if it is not complete or would change how the answer is
    read."""
    line, line_end, _ = text.partition("\n")
    text, finished = " ".join(line.split()), finished or bool(line_end)
    intervals = sentences(text)
    if not intervals or (len(intervals) == 1 and not finished):
        return None
    new = text[slice(*intervals[0])]
    if new[-1] == '"' and new.count('"') % 2:  # it closes the quotation that we opened
        new = new[:-1].rstrip()
    if (end := _END.search(old)) and not _END.search(new):
        new += end[0]
    misread = MARKER.match(f"{new} x") or _THINK_TAG.search(new) or unrequested_variants(new, ())
    return None if misread or not _WORD.search(new) else new
