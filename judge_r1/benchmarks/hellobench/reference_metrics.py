"""Metrics that compare a text with a reference: BLEU, ROUGE-L and METEOR (HelloBench, appendix J.2).

They come from sacrebleu, rouge-score and NLTK. The references of HelloBench's summaries are in the original corpora,
not in its repository. METEOR needs NLTK's WordNet data; without it, its column is empty.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.benchmarks.checklist.items import ChecklistEntry
from judge_r1.benchmarks.hellobench.text_measures import words
from judge_r1.core.tabular import file_rows

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
