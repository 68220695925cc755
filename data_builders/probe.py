"""What a reader can tell without the case: a context-free shortcut probe.

TF-IDF of words and word pairs, x = tfidf(A) - tfidf(B), logistic regression on `A is the better one`, folds by case. A
data set whose P2 and P4 flaws this probe finds is one where no search is needed. The intervals treat a case, not a
pair, as the unit: pairs of one case share their reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_r1.errors import JudgeError
from judge_r1.evaluation.statistics import clustered_mean_ci
from judge_r1.principles import PRINCIPLES
from judge_r1.records import ReasoningPair

if TYPE_CHECKING:
    from rich.console import Console

FOLDS = 5
TELLING = 10


class ProbeError(JudgeError):
    """Too few cases to probe."""


@dataclass(frozen=True)
class Row:
    """One group of pairs: accuracy of the held-out predictions, its 95 % interval over resampled cases, and the word
    n-grams whose weight is largest (a `+` marks words of the better reasoning, a `-` words of the flawed one)."""

    name: str
    pairs: int
    cases: int
    accuracy: float
    ci95: tuple[float, float]
    telling: tuple[str, ...]


def probe(pairs: Sequence[ReasoningPair], *, seed: int = 0) -> list[Row]:
    """A row for the single pairs of each principle, one for all single and one for all multi pairs.

    Groups of fewer than `2 * FOLDS` cases are left out; ProbeError where that leaves nothing.
    """
    groups = {p.code: [x for x in pairs if x.kind == "single" and x.violated == (p.number,)] for p in PRINCIPLES}
    groups["single"] = [x for x in pairs if x.kind == "single"]
    groups["multi"] = [x for x in pairs if x.kind == "multi"]
    rows = [_row(name, group, seed) for name, group in groups.items() if _cases(group) >= 2 * FOLDS]
    if not rows:
        raise ProbeError(f"the probe needs pairs of at least {2 * FOLDS} cases, here are {_cases(pairs)}: build more")
    return rows


def _cases(pairs: Sequence[ReasoningPair]) -> int:
    return len({pair.case_id for pair in pairs})


def _row(name: str, pairs: list[ReasoningPair], seed: int) -> Row:
    import numpy as np
    from scipy.sparse import vstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    labels = np.array([pair.preferred == "A" for pair in pairs])
    cases = np.array([pair.case_id for pair in pairs])
    right = np.zeros(len(pairs), dtype=bool)
    weights: dict[str, float] = {}
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=seed).split(labels, labels, cases):
        vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
        vectorizer.fit([text for i in train for text in (pairs[i].reasoning_a, pairs[i].reasoning_b)])
        x, unseen = (
            vectorizer.transform(pairs[i].reasoning_a for i in rows)
            - vectorizer.transform(pairs[i].reasoning_b for i in rows)
            for rows in (train, test)
        )
        # Both orders of every pair are shown in training, so no bias towards a side can be learnt.
        model = LogisticRegression(C=100.0, max_iter=1000, fit_intercept=False)
        model.fit(vstack([x, -x]), np.concatenate([labels[train], ~labels[train]]))
        right[test] = (model.decision_function(unseen) > 0) == labels[test]
        for word, weight in zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True):
            weights[word] = weights.get(word, 0.0) + float(weight) / FOLDS
    telling = sorted(weights, key=lambda word: (-abs(weights[word]), word))[:TELLING]
    return Row(
        name=name,
        pairs=len(pairs),
        cases=len(set(cases)),
        accuracy=float(right.mean()),
        ci95=clustered_mean_ci(right.astype(float).tolist(), cases.tolist(), seed),
        telling=tuple(f"{'+' if weights[word] > 0 else '-'}{word}" for word in telling),
    )


def print_probe(rows: Sequence[Row], console: "Console") -> None:
    """The rows as a table."""
    from rich.table import Table

    table = Table("", "pairs", "cases", "accuracy", "95 % interval", "most telling words", title="Without the case")
    for row in rows:
        low, high = row.ci95
        numbers = (str(row.pairs), str(row.cases), f"{row.accuracy:.3f}", f"{low:.3f} – {high:.3f}")
        table.add_row(row.name, *numbers, "  ".join(row.telling))
    console.print(table)
