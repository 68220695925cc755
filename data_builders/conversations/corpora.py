"""The contexts of RankJudge's three corpora from their rows: RPC-Bench, PubMedQA and 10-K filings of the S&P 500.

A row is recognised by its columns. The layout is that of the paper's published preprocessing, tested on rows of the
same columns; the corpora themselves were not read.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from judge_r1.files.tabular import Row

MOST_QUESTIONS = 10
LEAST_FILING = 2_000
"""Characters of the three sections of a filing; a shorter filing is left out."""
_SECTIONS: Final = (
    ("item_1", "Business Description", 3_000),
    ("item_1A", "Risk Factors", 3_000),
    ("item_7", "Management Discussion & Analysis", 6_000),
)
_UNEXPLAINED: Final = frozenset({"true", "false", "yes", "no"})


class CorpusContext(NamedTuple):
    """A context with its id in the corpus. `too_short` is why it is left out, if it is."""

    number: str
    domain: str
    context: str
    license: str
    too_short: str = ""


def corpus_context(row: Row) -> CorpusContext | None:
    """The context of a row of one of the corpora, or None of another table. Raises: BadTable."""
    if "qa_pairs" in row.values:
        return _paper(row)
    if {"pubid", "long_answer"} <= row.values.keys():
        return _abstract(row)
    return _filing(row) if "item_7" in row.values else None


def _paper(row: Row) -> CorpusContext:
    """RPC-Bench: title, venue, keywords, abstract, and at most ten questions whose answer is a sentence."""
    pairs = row.value("qa_pairs")
    if not isinstance(pairs, list) or not all(isinstance(one, Mapping) and _has_texts(one) for one in pairs):
        raise row.wrong_type("qa_pairs", "a list of {question, answer}")
    explained = [one for one in pairs if one["answer"].strip().lower() not in _UNEXPLAINED][:MOST_QUESTIONS]
    parts = [f"Title: {row.text('title')}"]
    parts += [f"{name.capitalize()}: {row.values[name]}" for name in ("venue", "keywords") if row.values.get(name)]
    parts.append(f"\nAbstract:\n{row.text('abstract')}")
    if explained:
        parts.append("\nReference QA Pairs:")
        parts += [
            f"Q{number}: {one['question']}\nA{number}: {one['answer']}" for number, one in enumerate(explained, 1)
        ]
    return CorpusContext(row.label("id"), "ml", "\n".join(parts), "none stated (RPC-Bench, open access)")


def _has_texts(pair: Mapping[str, Any]) -> bool:
    return isinstance(pair.get("question"), str) and isinstance(pair.get("answer"), str)


def _abstract(row: Row) -> CorpusContext:
    """PubMedQA, `pqa_labeled`: the question as the title, the parts of the abstract, and the conclusion as answer."""
    context = row.value("context")
    texts = context.get("contexts") if isinstance(context, Mapping) else None
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise row.wrong_type("context", "{contexts: a list of texts}")
    text = f"Title: {row.text('question')}\n\nContext:\n" + "\n".join(texts)
    return CorpusContext(
        row.label("pubid"), "med", f"{text}\n\nReference Answer:\n{row.text('long_answer')}", "MIT (PubMedQA)"
    )


def _filing(row: Row) -> CorpusContext:
    """A 10-K filing: company, date, industry, and the beginnings of three of its items."""
    texts = {item: str(row.values.get(item) or "").strip() for item, _, _ in _SECTIONS}
    date = str(row.value("date"))[:10]
    parts = [f"Company: {row.text('company')}", f"Filing Date: {date}", f"Industry (SIC): {row.label('sic')}"]
    for column, name in (("mkt_cap", "Market Cap"), ("ret", "Annual Return")):
        value = row.values.get(column)
        if value is not None and value == value:  # NaN where the table has none
            parts.append(f"{name}: {value}")
    parts += [f"\n{name}:\n{_cut(texts[item], most)}" for item, name, most in _SECTIONS if texts[item]]
    short = sum(map(len, texts.values())) < LEAST_FILING
    reason = f"a filing of fewer than {LEAST_FILING:,} characters" if short else ""
    return CorpusContext(f"{row.label('cik')}_{date}", "fin", "\n".join(parts), "MIT (S&P 500 EDGAR 10-K)", reason)


def _cut(text: str, most: int) -> str:
    """At most `most` characters, up to a full stop if one lies in the second half."""
    cut = text[:most]
    stop = cut.rfind(".")
    return cut[: stop + 1] if len(text) > most and stop > most // 2 else cut
