"""The kinds of labels, and how a word of a file becomes a label of its kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import BAD, GOOD, SIDES

Kind = Literal["binary", "nominal", "ordinal", "numeric", "pairwise"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*/\s*\d+)?")
MOST_WORDS = 20


class BadLabels(JudgeError):
    """A file of labels that cannot be used as it is. `word` is the label in the way, where one is."""

    def __init__(self, message: str, word: str | None = None) -> None:
        super().__init__(message)
        self.word = word


@dataclass(frozen=True)
class Scheme:
    """The kind of the labels and the answers that it allows.

    `answers` are in the order of tables: the good word first for `binary`, ascending for `ordinal`, A, B and perhaps
    tie for `pairwise`. For `numeric` there are none: any number is an answer.
    """

    kind: Kind
    answers: tuple[str, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The values of an ordinal scale."""
        return tuple(map(float, self.answers))

    @property
    def measured(self) -> bool:
        """Whether labels are numbers with distances."""
        return self.kind in ("ordinal", "numeric")

    def read(self, text: str) -> str | None:
        """The label that a word stands for; None if it is none of this scheme."""
        word = plain(text)
        if self.kind == "pairwise":
            side = next((side for side, words in SIDES.items() if word in words), None)
            return side if side in self.answers else None
        if self.measured:
            found = _NUMBER.fullmatch(word)
            number = f"{float(found[1]):.16g}" if found else None
            return number if self.kind == "numeric" or number in self.answers else None
        if word in self.answers:
            return word
        if self.kind == "binary":  # true for pass: another word of the same meaning
            for words in (GOOD, BAD):
                same = [answer for answer in self.answers if answer in words]
                if word in words and len(same) == 1:
                    return same[0]
        return None


def plain(text: str) -> str:
    """A word without the differences in writing that mean nothing: case, white space around it, a trailing .0."""
    word = " ".join(text.split()).casefold()
    return word[:-2] if re.fullmatch(r"-?\d+\.0", word) else word


def find_scheme(
    words: Sequence[str],
    *,
    pairs: bool = False,
    kind: Kind | None = None,
    positive: str | None = None,
    scale: tuple[int, int] | None = None,
) -> Scheme:
    """The scheme of the labels in a file, and of its verdicts where it has any.

    Raises:
        BadLabels: The labels fit no kind, or not the given one; the message says which word is in the way.
    """
    found = sorted({plain(word) for word in words})
    kind = kind or ("pairwise" if pairs else _kind_of(found, scaled=scale is not None))
    if scale is not None and kind != "ordinal":
        raise BadLabels(
            f"--scale is for whole numbers, and these labels are {kind}, such as {found[0]!r}: leave out --scale"
        )
    if kind == "pairwise":
        known = {word for side in SIDES.values() for word in side}
        if odd := [word for word in found if word not in known]:
            raise BadLabels(f"label {odd[0]!r} names no side of a pair: use A, B or tie", odd[0])
        ties = any(word in SIDES["tie"] for word in found)
        return Scheme(kind, ("A", "B", "tie") if ties else ("A", "B"))
    if kind in ("ordinal", "numeric"):
        if odd := [word for word in found if not _NUMBER.fullmatch(word)]:
            raise BadLabels(f"label {odd[0]!r} is no number: correct it, or give --kind nominal", odd[0])
        return Scheme(kind, () if kind == "numeric" else _levels(found, scale))
    if len(found) > MOST_WORDS:
        raise BadLabels(
            f"there are {len(found)} different labels, such as {', '.join(found[:3])}: at most {MOST_WORDS} words are "
            "labels; is this the right column (--columns label=NAME)?"
        )
    if kind == "nominal":
        return Scheme(kind, tuple(found))
    return Scheme(kind, _good_first(found, None if positive is None else plain(positive)))


def _kind_of(words: Sequence[str], *, scaled: bool) -> Kind:
    numbers = all(_NUMBER.fullmatch(word) for word in words)
    if odd := next((word for word in words if re.fullmatch(r"-?\d+,\d+", word)), None):
        whole, rest = odd.split(",")
        raise BadLabels(
            f"label {odd!r} may be the number {whole}.{rest} or the labels {whole} and {rest}: write a point, or give "
            "--kind nominal",
            odd,
        )
    if not scaled and (len(words) <= 2 and (not numbers or set(words) <= {"0", "1"})):
        return "binary"
    if len(words) > 2 and all(word in GOOD or word in BAD for word in words) and not numbers:
        raise BadLabels(f"the labels {', '.join(words)} are more than two words for good and bad: use one of each")
    if any(_NUMBER.fullmatch(word) for word in words) and not numbers:
        odd = next(word for word in words if not _NUMBER.fullmatch(word))
        raise BadLabels(f"label {odd!r} is no number, and others are: correct it, or give --kind nominal", odd)
    if numbers:
        return "ordinal" if all(re.fullmatch(r"-?\d+(\s*/\s*\d+)?", word) for word in words) else "numeric"
    return "nominal"


def _good_first(words: Sequence[str], positive: str | None) -> tuple[str, ...]:
    if len(words) > 2:
        raise BadLabels(f"binary labels have two words, and the file has {', '.join(words)}: correct them")
    if positive is not None:
        if positive not in words:
            raise BadLabels(f"--positive {positive!r} is no label of the file: it has {', '.join(words)}")
        return (positive, *(word for word in words if word != positive), *(("other",) if len(words) == 1 else ()))
    good, bad = ([word for word in words if word in known] for known in (GOOD, BAD))
    if len(good) > 1 or len(bad) > 1:
        raise BadLabels(f"the labels {' and '.join(good if len(good) > 1 else bad)} mean the same: use one of them")
    if len(words) == 2 and (len(good) == 1 or len(bad) == 1):
        rest = [word for word in words if word not in (*good, *bad)]
        return (good or rest)[0], (bad or rest)[0]
    if len(words) == 1 and (good or bad):  # the other class has no label yet: its usual word
        at = (GOOD if good else BAD).index(words[0])
        return GOOD[at], BAD[at]
    raise BadLabels(f"which label is the good one, {' or '.join(words)}? Give --positive WORD")


def _levels(words: Sequence[str], scale: tuple[int, int] | None) -> tuple[str, ...]:
    numbers = [int(float(_NUMBER.fullmatch(word)[1])) for word in words]  # type: ignore[index]
    low, high = scale or (min(numbers), max(numbers))
    if odd := [number for number in numbers if not low <= number <= high]:
        raise BadLabels(f"label {odd[0]} is outside the scale {low}-{high}", str(odd[0]))
    if high == low:
        high += 1
    if high - low > 100:
        raise BadLabels(f"labels from {low} to {high} are no scale of levels: give --kind numeric")
    return tuple(str(level) for level in range(low, high + 1))
