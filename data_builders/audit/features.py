"""The trained readers of the shortcut audit: features of the two texts of a pair, and a classifier over them.

The reader `length` sees the counts of `text_counts`. `words` sees TF-IDF of words and word pairs. `common words`
ignores features that differ in fewer than three training pairs: rare words of a small, balanced set mislead a
classifier and can hide a leak through common ones. `likelihood` sees the counts and what a language model says of both
texts.
"""

from collections.abc import Iterable, Mapping, Sequence
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


class PairFeatures:
    """The pairs of a group as a sparse matrix: the row of a pair is x(A) - x(B), one column per feature.

    `differences` are the features of the reader `likelihood`.
    """

    def __init__(self, pairs: Sequence[ReasoningPair], probe: Probe, differences: Differences | None = None) -> None:
        import numpy as np

        self.cases = [pair.case_id for pair in pairs]
        self._min_pairs = _MIN_PAIRS.get(probe, 1)
        self._a_is_better = np.array([pair.preferred == "A" for pair in pairs])
        index = {t: i for i, t in enumerate(dict.fromkeys(t for p in pairs for t in (p.reasoning_a, p.reasoning_b)))}
        self._sides = np.array([(index[pair.reasoning_a], index[pair.reasoning_b]) for pair in pairs])
        counted = probe in ("length", "likelihood")
        self._names, self._texts = (_length_features if counted else _word_features)(list(index))
        self._column_weights = _inverse_rms if counted else _inverse_document_frequency
        self._x = self._texts[self._sides[:, 0]] - self._texts[self._sides[:, 1]]
        if probe == "likelihood":
            self._append([(differences or {})[pair.pair_id] for pair in pairs])

    def _append(self, rows: Sequence[Mapping[str, float]]) -> None:
        from scipy.sparse import csr_matrix, hstack

        names = list(rows[0])
        self._names = [*self._names, *names]
        more = csr_matrix([[row[name] for name in names] for row in rows])
        # The texts' own columns only choose among features, so the pairs' features are zero in them.
        self._texts = hstack([self._texts, csr_matrix((self._texts.shape[0], len(names)))], format="csr")
        self._x = hstack([self._x, more], format="csr")

    def folds(self, seed: int) -> list[tuple[Any, Any]]:
        """Return (train, test) indices of pairs. No case is in both."""
        from sklearn.model_selection import GroupKFold

        repeats = REPEATS if len(self.cases) < MAX_SMALL else 1
        splits = (GroupKFold(FOLDS, shuffle=True, random_state=seed + i) for i in range(repeats))
        return [fold for split in splits for fold in split.split(self.cases, groups=self.cases)]

    def score(self, train: Sequence[int], test: Sequence[int], weights: "FeatureWeights") -> list[float]:
        """Train a logistic regression and score its predictions: 1 correct, 0 wrong, 1/2 without a known difference.

        The weights of the model are added to `weights`.
        """
        import numpy as np
        from scipy.sparse import diags, vstack
        from sklearn.linear_model import LogisticRegression

        train_rows, test_rows = np.asarray(train, dtype=int), np.asarray(test, dtype=int)
        columns = np.flatnonzero(self._x[train_rows].getnnz(axis=0) >= self._min_pairs)
        if not len(columns):
            return [0.5] * len(test_rows)
        texts = np.unique(self._sides[train_rows])
        scale = diags(self._column_weights(self._texts[texts][:, columns], self._x[train_rows][:, columns]))
        x, labels = self._x[train_rows][:, columns] @ scale, self._a_is_better[train_rows]
        # Training on both orders of every pair prevents a bias towards a side.
        model = LogisticRegression(max_iter=1000, fit_intercept=False)
        model.fit(vstack([x, -x]), np.concatenate([labels, ~labels]))
        weights.add((self._names[i] for i in columns), model.coef_[0])
        sign = np.sign(model.decision_function(self._x[test_rows][:, columns] @ scale))
        return [float(score) for score in (1 + sign * np.where(self._a_is_better[test_rows], 1, -1)) / 2]


class FeatureWeights:
    """The weight of each feature, summed over folds."""

    def __init__(self) -> None:
        self._sum: dict[str, float] = {}

    def add(self, names: Iterable[str], weights: Iterable[float]) -> None:
        for name, weight in zip(names, weights, strict=True):
            self._sum[name] = self._sum.get(name, 0.0) + float(weight)

    def top(self) -> tuple[str, ...]:
        """Return the features with the largest weights; equal rounded weights are ordered alphabetically."""
        weights = {name: round(weight, 6) for name, weight in self._sum.items()}
        best = sorted((name for name in weights if weights[name]), key=lambda name: (-abs(weights[name]), name))
        return tuple(f"{'+' if weights[name] > 0 else '-'}{name}" for name in best[:TOP_FEATURES])


def _length_features(texts: list[str]) -> tuple[list[str], Any]:
    from scipy.sparse import csr_matrix

    rows = [text_counts(text) for text in texts]
    return list(COUNTS), csr_matrix([[float(row[name]) for name in COUNTS] for row in rows])


def _word_features(texts: list[str]) -> tuple[list[str], Any]:
    """Return 1 + ln(count) of each word and word pair of each text.

    Texts are not normalized: what both texts share cancels in the difference, so a row holds only what differs.
    """
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b")
    counts = vectorizer.fit_transform(texts).astype(float)
    counts.data = 1.0 + np.log(counts.data)
    return list(vectorizer.get_feature_names_out()), counts


def _inverse_rms(_: Any, differences: Any) -> Any:
    """Return one over the root mean square of each feature's differences in training."""
    import numpy as np

    return 1.0 / np.sqrt(np.asarray(differences.multiply(differences).mean(axis=0)).ravel())


def _inverse_document_frequency(texts: Any, _: Any) -> Any:
    """Return the smoothed inverse document frequency of each feature among the training texts."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit(texts).idf_
