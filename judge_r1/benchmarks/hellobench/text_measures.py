"""Measures of a text without a model: words, repetition, refusals and length errors (HelloBench, appendices J and K).

Tokens are those of NLTK's word tokenizer. The paper splits sentences with NLTK's punkt, whose data has to be
downloaded. Here a sentence ends at white space after a full stop, a question mark or an exclamation mark, so counts
differ from the paper's by some tenths of a percent.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from judge_r1.core.errors import JudgeError

_SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*\s+")
_LONG_TOKENS, _SHOWN_TOKENS = 15_000, 16_000
REPEATS = 3
"""A text with a sentence that occurs this often is repetitive (appendix K)."""


@cache
def _tokenizer() -> Any:
    try:
        from nltk.tokenize import NLTKWordTokenizer
    except ImportError:
        raise JudgeError("word counts need NLTK: pip install 'judge-r1[text]'") from None
    return NLTKWordTokenizer()


def words(text: str) -> list[str]:
    """The tokens of a text, sentence by sentence."""
    tokenizer = _tokenizer()
    return [token for sentence in sentences(text) for token in tokenizer.tokenize(sentence)]


def joined(text: str) -> str:
    """The text as the release shows it to its judge: tokens joined by single spaces, so without its layout, and beyond
    15,000 tokens only the first 16,000 (llm_judge.py)."""
    tokens = words(text)
    return " ".join(tokens[:_SHOWN_TOKENS] if len(tokens) > _LONG_TOKENS else tokens)


def sentences(text: str) -> list[str]:
    """The sentences of a text without surrounding white space."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    parts = [text[start:end].strip() for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def repetition_4(tokens: Sequence[str]) -> float:
    """Rep-4: the percentage of distinct 4-grams that occur more than once; 0 without 4-grams (Table 23)."""
    grams = _four_grams(tokens)
    return 100 * sum(count > 1 for count in grams.values()) / len(grams) if grams else 0.0


def distinct_4(tokens: Sequence[str]) -> float:
    """Dist-4: distinct 4-grams per token, which reproduces Table 23; 0 for an empty text."""
    return len(_four_grams(tokens)) / len(tokens) if tokens else 0.0


def _four_grams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[start : start + 4]) for start in range(len(tokens) - 3))


def is_repetitive(text: str) -> bool:
    """Whether a sentence occurs at least `REPEATS` times."""
    return max(Counter(sentences(text)).values(), default=0) >= REPEATS


def is_refusal(text: str, phrases: Sequence[str]) -> bool:
    """Whether the text starts with one of `phrases`, whatever the case of its letters."""
    start = text.lstrip().casefold()
    return any(start.startswith(phrase.casefold()) for phrase in phrases)


def length_error(words_written: int, words_required: int) -> int:
    """|words written - words required| (appendix K)."""
    return abs(words_written - words_required)
