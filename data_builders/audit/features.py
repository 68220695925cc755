"""The readers of the shortcut audit: what each sees of a text, and how it learns which of two texts is the flawed one.

`length` counts characters, words, different words and numbers; `words` is TF-IDF of words and word pairs; `common
words` is the same without what differs in fewer than three of the pairs it learns from. (Where swaps are balanced in a
small set, a rare word that came in here goes out there: a reader that learns such words errs on the others, and may
hide what the common ones tell.)
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from judge_r1.core.records import ReasoningPair

FOLDS = 5
REPEATS = 4
"""How often a small group is folded anew: one fold more or less moves the accuracy of a hundred pairs by .05."""
SMALL = 2_000
"""Pairs; a group from here on is folded once."""
TELLING = 10
Reader = Literal["length", "words", "common words"]
READERS: tuple[Reader, ...] = ("length", "words", "common words")
_LEAST = {"length": 1, "words": 1, "common words": 3}
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Texts:
    """The pairs of a group as one sparse matrix: a row x(A) - x(B) a pair, a column a feature."""

    def __init__(self, pairs: Sequence[ReasoningPair], reader: Reader) -> None:
        import numpy as np

        self.cases = [pair.case_id for pair in pairs]
        self._least = _LEAST[reader]
        self._a_is_better = np.array([pair.preferred == "A" for pair in pairs])
        number = {t: i for i, t in enumerate(dict.fromkeys(t for p in pairs for t in (p.reasoning_a, p.reasoning_b)))}
        self._sides = np.array([(number[pair.reasoning_a], number[pair.reasoning_b]) for pair in pairs])
        self._names, self._shown = (_lengths if reader == "length" else _words)(list(number))
        self._weigh = _spread if reader == "length" else _rarity
        self._x = self._shown[self._sides[:, 0]] - self._shown[self._sides[:, 1]]

    def folds(self, seed: int) -> list[tuple[Any, Any]]:
        """Indices of the pairs to train on and to test on; no case is in both."""
        from sklearn.model_selection import GroupKFold

        repeats = REPEATS if len(self.cases) < SMALL else 1
        splits = (GroupKFold(FOLDS, shuffle=True, random_state=seed + i) for i in range(repeats))
        return [fold for split in splits for fold in split.split(self.cases, groups=self.cases)]

    def judge(self, train: Sequence[int], test: Sequence[int], weights: "Weights") -> list[float]:
        """1 for each pair of `test` that a reader trained on `train` tells right, 1/2 where it sees no difference that
        it knows, 0 where it errs; its weights are noted."""
        import numpy as np
        from scipy.sparse import diags, vstack
        from sklearn.linear_model import LogisticRegression

        rows, unseen = np.asarray(train, dtype=int), np.asarray(test, dtype=int)
        kept = np.flatnonzero(self._x[rows].getnnz(axis=0) >= self._least)
        if not len(kept):
            return [0.5] * len(unseen)
        texts = np.unique(self._sides[rows])
        scale = diags(self._weigh(self._shown[texts][:, kept], self._x[rows][:, kept]))
        x, labels = self._x[rows][:, kept] @ scale, self._a_is_better[rows]
        # Both orders of every pair are shown in training, so no bias towards a side can be learnt.
        model = LogisticRegression(max_iter=1000, fit_intercept=False)
        model.fit(vstack([x, -x]), np.concatenate([labels, ~labels]))
        weights.add((self._names[i] for i in kept), model.coef_[0])
        if not len(unseen):
            return []
        for_a = np.sign(model.decision_function(self._x[unseen][:, kept] @ scale))
        return [float(mark) for mark in (1 + for_a * np.where(self._a_is_better[unseen], 1, -1)) / 2]


class Weights:
    """The weight of each feature, summed over the folds."""

    def __init__(self) -> None:
        self._sum: dict[str, float] = {}

    def add(self, names: Iterable[str], weights: Iterable[float]) -> None:
        for name, weight in zip(names, weights, strict=True):
            self._sum[name] = self._sum.get(name, 0.0) + float(weight)

    def telling(self) -> tuple[str, ...]:
        """The features of the largest weight. Weights are rounded, so that equal ones stand in alphabetical order."""
        weights = {name: round(weight, 6) for name, weight in self._sum.items()}
        best = sorted((name for name in weights if weights[name]), key=lambda name: (-abs(weights[name]), name))
        return tuple(f"{'+' if weights[name] > 0 else '-'}{name}" for name in best[:TELLING])


def _lengths(texts: list[str]) -> tuple[list[str], Any]:
    """Characters, words, different words and numbers of each text."""
    import numpy as np
    from scipy.sparse import csr_matrix

    words = [_WORD.findall(text.lower()) for text in texts]
    counts = [(len(t), len(w), len(set(w)), len(_NUMBER.findall(t))) for t, w in zip(texts, words, strict=True)]
    return ["characters", "words", "different words", "numbers"], csr_matrix(np.array(counts, dtype=float))


def _words(texts: list[str]) -> tuple[list[str], Any]:
    """1 + ln(count) of each word and word pair of each text. Texts are not brought to one norm: what both share
    cancels in the difference, so a row holds what differs and no trace of the rest."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b")
    shown = vectorizer.fit_transform(texts).astype(float)
    shown.data = 1.0 + np.log(shown.data)
    return list(vectorizer.get_feature_names_out()), shown


def _spread(_: Any, differences: Any) -> Any:
    """One over the root mean square of each difference trained on."""
    import numpy as np

    return 1.0 / np.sqrt(np.asarray(differences.multiply(differences).mean(axis=0)).ravel())


def _rarity(texts: Any, _: Any) -> Any:
    """The smoothed inverse document frequency of each feature among the texts trained on."""
    import numpy as np

    return np.log((1 + texts.shape[0]) / (1 + texts.getnnz(axis=0))) + 1.0
