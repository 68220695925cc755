"""The trained readers of the shortcut audit: features of the two texts of a pair, and a classifier over them.

The reader `length` sees the counts of `text_counts`. `words` sees TF-IDF of words and word pairs. `common words`
ignores features that differ in fewer than three training pairs: rare words of a small, balanced set mislead a
classifier and can hide a leak through common ones. `likelihood` sees the counts and what a language model says of both
texts.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from data_builders.text_units.text_counts import COUNTS, text_counts
from judge_r1.core.records import ReasoningPair

FOLDS = 5
REPEATS = 4
"""Cross-validation repeats for small groups: one more fold can change the accuracy on a hundred pairs by .05."""
MAX_SMALL = 2_000
"""Groups of at least this many pairs are cross-validated once."""
TOP_FEATURES = 10
Probe = Literal["length", "words", "common words", "likelihood"]
PROBES: tuple[Probe, ...] = ("length", "words", "common words")
"""The readers that need no language model."""
_MIN_PAIRS = {"common words": 3}
Differences = Mapping[str, Mapping[str, float]]
"""Pair id -> feature -> its value in A minus its value in B."""


def cross_validated(
    pairs: Sequence[ReasoningPair], probe: Probe, seed: int, differences: Differences | None = None
) -> tuple[list[float], tuple[str, ...]]:
    """The mean score of each pair under classifiers that were trained on the cases of the other folds, and the features
    with the largest weights.

    A prediction scores 1 if it is correct, 0 if it is wrong, and 1/2 without a known difference. A classifier is a
    logistic regression on x(A) - x(B). `differences` are the features of the reader `likelihood`.
    """
    import numpy as np
    from scipy.sparse import csr_matrix, diags, hstack, vstack
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    counted = probe in ("length", "likelihood")
    index = {t: i for i, t in enumerate(dict.fromkeys(t for p in pairs for t in (p.reasoning_a, p.reasoning_b)))}
    sides = np.array([(index[pair.reasoning_a], index[pair.reasoning_b]) for pair in pairs])
    labels, cases = np.array([pair.preferred == "A" for pair in pairs]), [pair.case_id for pair in pairs]
    names, texts = (_count_features if counted else _word_features)(list(index))
    x = texts[sides[:, 0]] - texts[sides[:, 1]]
    if differences and probe == "likelihood":
        rows = [differences[pair.pair_id] for pair in pairs]
        names += list(rows[0])
        x = hstack([x, csr_matrix([list(row.values()) for row in rows])], format="csr")
    scores: list[list[float]] = [[] for _ in pairs]
    weights: defaultdict[str, float] = defaultdict(float)
    for repeat in range(REPEATS if len(pairs) < MAX_SMALL else 1):
        folds = GroupKFold(FOLDS, shuffle=True, random_state=seed + repeat)
        for train, test in folds.split(cases, groups=cases):
            columns = np.flatnonzero(x[train].getnnz(axis=0) >= _MIN_PAIRS.get(probe, 1))
            decided = np.zeros(len(test))
            if len(columns):
                known = x[train][:, columns]
                if counted:  # one over the root mean square of each feature
                    scale = diags(1.0 / np.sqrt(np.asarray(known.multiply(known).mean(axis=0)).ravel()))
                else:  # the smoothed inverse document frequency among the training texts
                    scale = diags(TfidfTransformer().fit(texts[np.unique(sides[train])][:, columns]).idf_)
                # Training on both orders of every pair prevents a bias towards a side.
                model = LogisticRegression(max_iter=1000, fit_intercept=False)
                model.fit(vstack([known @ scale, -known @ scale]), np.concatenate([labels[train], ~labels[train]]))
                for column, weight in zip(columns, model.coef_[0], strict=True):
                    weights[names[column]] += float(weight)
                decided = np.sign(model.decision_function(x[test][:, columns] @ scale))
            for pair, score in zip(test, (1 + decided * np.where(labels[test], 1, -1)) / 2, strict=True):
                scores[pair].append(float(score))
    return [sum(found) / len(found) for found in scores], _top(weights)


def _top(weights: Mapping[str, float]) -> tuple[str, ...]:
    """The features with the largest weights; equal rounded weights are ordered alphabetically."""
    rounded = {name: round(weight, 6) for name, weight in weights.items()}
    best = sorted((name for name in rounded if rounded[name]), key=lambda name: (-abs(rounded[name]), name))
    return tuple(f"{'+' if rounded[name] > 0 else '-'}{name}" for name in best[:TOP_FEATURES])


def _count_features(texts: list[str]) -> tuple[list[str], Any]:
    from scipy.sparse import csr_matrix

    rows = [text_counts(text) for text in texts]
    return list(COUNTS), csr_matrix([[float(row[name]) for name in COUNTS] for row in rows])


def _word_features(texts: list[str]) -> tuple[list[str], Any]:
    """1 + ln(count) of each word and word pair of each text.

    Texts are not normalized: what both texts share cancels in the difference, so a row holds only what differs.
    """
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b")
    counts = vectorizer.fit_transform(texts).astype(float)
    counts.data = 1.0 + np.log(counts.data)
    return list(vectorizer.get_feature_names_out()), counts
