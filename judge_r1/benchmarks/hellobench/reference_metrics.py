"""Metrics that need more than the text: BLEU, ROUGE-L and METEOR with a reference, perplexity with a model.

They are those of HelloBench, appendix J.2. sacrebleu, rouge-score and NLTK compute the former. The references of the
benchmark's summaries are in the original corpora, not in its repository. METEOR needs NLTK's WordNet data; without it,
its column is empty. The paper's model of perplexity is GPT-2 Large.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.checklist.items import ChecklistEntry
from judge_r1.benchmarks.hellobench.text_measures import words
from judge_r1.core.tabular import file_rows
from judge_r1.models.hub import load_model, load_tokenizer

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
