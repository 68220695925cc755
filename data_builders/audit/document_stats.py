"""The table and the charts of a corpus of long documents (thesis, Table 3.1 and Fig. 3.1)."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from data_builders.manipulations.tagger import Tagger
from data_builders.manipulations.units import paragraphs
from judge_r1.core.documents import FULL, Document
from judge_r1.core.errors import JudgeError
from judge_r1.evaluation.report.charts import Figure, bar_chart, colors_of
from judge_r1.evaluation.report.tables import NONE, Grid

OTHER, MOST_GENRES = "Other", 6


def document_stats(documents: Sequence[Document], count: Callable[[str], int], tagger: Tagger | None) -> dict[str, Any]:
    """Means over the full documents, and the counts of decades and genres. Sentences need a tagger.

    Raises:
        JudgeError: There is no full document.
    """
    full = [one for one in documents if one.length == FULL]
    if not full:
        raise JudgeError("there is no full document: build the data again with options.lengths=full")
    years = [one.meta["year"] for one in full if "year" in one.meta]
    genres = Counter(one.meta["genre"] for one in full if "genre" in one.meta)
    shown = dict(genres.most_common(MOST_GENRES))
    if rest := genres.total() - sum(shown.values()):
        shown[OTHER] = rest
    return {
        "documents": len(full),
        "years": [min(years), max(years)] if years else None,
        "genres": shown,
        "decades": {f"{decade}s": n for decade, n in sorted(Counter(year // 10 * 10 for year in years).items())},
        "characters": fmean(len(one.text) for one in full),
        "whitespace_tokens": fmean(len(one.text.split()) for one in full),
        "tokens": fmean(count(one.text) for one in full),
        "sentences": None if tagger is None else fmean(len(tagger.sentences(one.text)) for one in full),
        "paragraphs": fmean(len(paragraphs(one.text)) for one in full),
    }


def stats_grid(found: dict[str, Any], tokenizer: str) -> Grid:
    """Table 3.1. In the thesis the numbers of paragraphs and sentences are exchanged."""
    means = (
        ("characters", "characters"), ("whitespace_tokens", "tokens by white space"),
        ("tokens", f"tokens of {tokenizer}"), ("sentences", "sentences, by spaCy"), ("paragraphs", "paragraphs"),
    )  # fmt: skip
    rows = (
        ("documents", str(found["documents"])),
        ("years", "–".join(map(str, found["years"])) if found["years"] else NONE),
        ("genres", ", ".join(found["genres"]) or NONE),
        *((said, NONE if found[key] is None else f"{found[key]:.2f}") for key, said in means),
    )
    note = "Means over the full documents. Years and genres are those of metadata.csv."
    return Grid("The documents (Table 3.1)", note, ("", "value"), rows)


def stats_figures(found: dict[str, Any]) -> list[Figure]:
    """Fig. 3.1: documents by decade and by genre, where the metadata has them."""
    figures = []
    for title, key in (("Documents by decade", "decades"), ("Documents by genre", "genres")):
        if counts := found[key]:
            series = {"documents": [float(n) for n in counts.values()]}
            figures.append(Figure(title, bar_chart(title, list(counts), series, colors_of(["documents"])), {}))
    return figures
