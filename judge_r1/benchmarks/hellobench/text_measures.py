"""Measures of a text: words, repetition, refusals and length errors, and the metrics of references (appendices J, K).

Tokens are those of NLTK's word tokenizer. The paper splits sentences with NLTK's punkt, whose data has to be
downloaded. Here a sentence ends at white space after a full stop, a question mark or an exclamation mark, so counts
differ from the paper's by some tenths of a percent.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.checklist.items import ChecklistEntry
from judge_r1.core.errors import JudgeError
from judge_r1.files.tabular import file_rows
from judge_r1.models.hub import load_model, load_tokenizer

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


Compare = Callable[[str, str], float]


def reference_metrics(path: Path, entries: Sequence[ChecklistEntry]) -> dict[str, Callable[[str], float] | None]:
    """Each metric as a function of the item id, in percent; None for METEOR without WordNet.

    Raises:
        BadBenchmark: A text has no reference, or a library is missing.
    """
    references = {row.name("id"): row.text("reference") for row in file_rows(path)}
    if missing := [entry.cluster_id for entry in entries if entry.cluster_id not in references]:
        raise BadBenchmark(f"{path} has no reference for {missing[0]} ({len(missing)} are missing): choose its task")
    texts = {entry.item_id: (entry.response, references[entry.cluster_id]) for entry in entries}

    def measure(compare: Compare, item_id: str) -> float:
        return compare(*texts[item_id])

    return {name: cache(partial(measure, compare)) if compare else None for name, compare in _metrics().items()}


def _metrics() -> dict[str, Compare | None]:
    try:
        from nltk.corpus import wordnet
        from nltk.translate.meteor_score import meteor_score
        from rouge_score.rouge_scorer import RougeScorer
        from sacrebleu import sentence_bleu
    except ImportError as error:
        raise BadBenchmark(f"references need {error.name}: pip install 'judge-r1[text]'") from None
    rouge = RougeScorer(["rougeL"])
    found: dict[str, Compare | None] = {
        "BLEU": lambda text, reference: float(sentence_bleu(text, [reference]).score),
        "ROUGE-L": lambda text, reference: 100 * float(rouge.score(reference, text)["rougeL"].fmeasure),
    }
    try:
        wordnet.ensure_loaded()
    except LookupError:
        return {**found, "METEOR": None}
    return {**found, "METEOR": lambda text, reference: 100 * float(meteor_score([words(reference)], words(text)))}


SEGMENT = 512
"""Tokens of a segment in the paper."""


def perplexity_metric(name: str, texts: Mapping[str, str]) -> Callable[[str], float | None]:
    """The perplexity of the text of an item id: the mean over segments of exp(mean negative log-likelihood). A last
    segment of one token has no likelihood and is left out, so a text of one token has no perplexity. `name` is a
    folder, a hub name or `bundled:NAME`.

    Raises:
        ModelUnavailable: The model cannot be loaded.
    """
    tokenizer, model = load_tokenizer(name), load_model(name).eval()

    @cache
    def measure(item_id: str) -> float | None:
        ids = tokenizer(texts[item_id], add_special_tokens=False)["input_ids"]
        parts = [ids[start : start + SEGMENT] for start in range(0, len(ids), SEGMENT)]
        found = [math.exp(_loss(model, part)) for part in parts if len(part) > 1]
        return fmean(found) if found else None

    return measure


def _loss(model: Any, ids: list[int]) -> float:
    """The mean negative log-likelihood of the ids after the first one."""
    import torch

    with torch.no_grad():
        shown = torch.tensor([ids], device=model.device)
        return float(model(shown, labels=shown).loss)
