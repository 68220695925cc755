"""A seeded generator of hostile texts, ids and values."""

import json
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

SEPARATORS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\t\xa0\u3000\u200b\ufeff"
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
TOKENS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<s>",
    "</s>",
    "[INST]",
    "<think>",
    "</think>",
    "<search>",
    "</search>",
    "<information>",
    "</information>",
    "<answer>",
    "</answer>",
    '{"comparison":"A>B"}',
    "query:",
    "passage:",
    "</s><s>",
    "\ue000",
    "∯",
    "♬",
]
SENTENCES = (
    "Ana paid 34 crowns.",
    "The court (Art. 6 § 1) agreed.",
    "Why? Nobody knows!",
    "i.v. 5 mg. b.i.d.",
    "1. No.",
)
KINDS: dict[str, Callable[[Random, int], str]] = {
    "blank": lambda random, size: pick(random, SEPARATORS.replace("\u200b", "").replace("\ufeff", "") + " ", size),
    "one character": lambda random, size: random.choice("x.\"'([{<*_-0aA\u0301\u200d\ufeff\x00\x1b") * size,
    "one word": lambda random, size: pick(random, "abcXYZ019_", size),
    "punctuation": lambda random, size: pick(random, ".!?…,;:\"'“”()[]{}<>*_ \n", size),
    "abbreviations": lambda random, size: repeat(random, ("Mr. ", "no. ", "i.v. ", "A. ", "e.g. ", "(.) "), size),
    "sentences": lambda random, size: repeat(random, [f"{sentence} " for sentence in SENTENCES], size),
    "lines": lambda random, size: repeat(random, [f"{sentence}\n" for sentence in SENTENCES], size),
    "no spaces": lambda random, size: repeat(random, [sentence.replace(" ", "") for sentence in SENTENCES], size),
    "control characters": lambda random, size: pick(random, [*map(chr, range(32)), *map(chr, range(127, 160))], size),
    "terminal codes": lambda random, size: repeat(random, ("\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\rok", "\b"), size),
    "separators": lambda random, size: pick(random, SEPARATORS + "a.", size),
    "bidirectional": lambda random, size: pick(random, BIDI + "שלוםالعدالة. ", size),
    "combining": lambda random, size: pick(random, "e\u0301\u0308\u0345\u20dd\u200d👩🏽", size),
    "case folding": lambda random, size: pick(random, "İıßẞﬁǅΣς. ", size),
    "digits": lambda random, size: pick(random, "0٣９²Ⅷ½. ", size),
    "any plane": lambda random, size: "".join(any_character(random) for _ in range(size)),
    "special tokens": lambda random, size: repeat(random, TOKENS, size),
    "brackets": lambda random, size: random.choice('{["<(') * size,
    "escapes": lambda random, size: repeat(random, ("\\ud800", "\\n", "%00", "&#0;", "\\", "${x}", "{0}", "%s"), size),
    "mixture": lambda random, size: repeat(random, [*TOKENS, *SENTENCES, *BIDI, *SEPARATORS, "\x00", "\x1b[31m"], size),
    "surrogates": lambda random, size: pick(random, "\ud800\udbff\udc00\udfffab. ", size),
}
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 10**30, 0.5, [], {}, [None], {"a": []}, "", " ", "A", "1"),
    *([["x"] * 3], {"": {"": ""}}, [[[[[[]]]]]]),
]


def hostile_texts(seed: int, longest: int, per_kind: int = 6) -> Iterator[tuple[str, str]]:
    """(kind, text): `per_kind` texts of each kind, with 1 to `longest` characters on a logarithmic scale, and ''."""
    yield "blank", ""
    for kind, make in KINDS.items():
        random = Random(f"{seed} {kind}")
        for number in range(per_kind):
            yield kind, make(random, max(1, round(longest ** (number / (per_kind - 1)))))


def valid(text: str) -> bool:
    """Can UTF-8 encode the text?"""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def pick(random: Random, characters: Any, size: int) -> str:
    return "".join(random.choices(characters, k=size))


def repeat(random: Random, parts: Any, size: int) -> str:
    """Random parts, at least one, up to about `size` characters."""
    mean = sum(map(len, parts)) / len(parts)
    return "".join(random.choices(parts, k=max(1, round(size / mean))))


def any_character(random: Random) -> str:
    while "\ud800" <= (character := chr(random.randrange(sys.maxunicode + 1))) <= "\udfff":
        pass
    return character


def json_line(row: dict[str, Any], *, ascii_only: bool) -> bytes:
    """A JSON line. Lone surrogates are escaped with `ascii_only`, otherwise written as invalid UTF-8."""
    return json.dumps(row, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") + b"\n"
