"""Measures whether the violated principle of a pair can be told from its two texts alone.

A judge that names the principle without the case has learnt the words and shapes of the flaws. The reader sees what
differs between the two texts, but not which one is flawed: words and word pairs, and the shape of the change.
"""

from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from data_builders.audit.features import FOLDS, MAX_SMALL, REPEATS
from data_builders.audit.shortcut_probe import MIN_CASES, ProbeResult, case_count, groups_of
from data_builders.perturb.pair_checks import content_tokens
from data_builders.text_units.text_match import changed
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import ReasoningPair
from judge_r1.statistics.intervals import clustered_mean_ci

GROUP, READER = "which principle", "changed words"
_LONG = 3
"""Words from which on a change counts as long."""


def told_principles(pairs: Sequence[ReasoningPair]) -> dict[str, list[ReasoningPair]]:
    """The single pairs of each principle with enough cases to be probed."""
    groups = groups_of(pairs)
    return {p.code: groups[p.code] for p in PRINCIPLES if case_count(groups[p.code]) >= MIN_CASES}


def probe_principle(groups: dict[str, list[ReasoningPair]], *, seed: int = 0) -> ProbeResult:
    """The mean over the principles of the share of their pairs that the reader names right.

    Logistic regression, trained on the cases of the other folds; guessing gives one over the number of principles.
    `top_features` names the feature with the largest weight for each principle.
    """
    import numpy as np
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold

    pairs = [pair for group in groups.values() for pair in group]
    labels = np.array([name for name, group in groups.items() for _ in group])
    cases = [pair.case_id for pair in pairs]
    features = [_features(pair) for pair in pairs]
    right, repeats = np.zeros(len(pairs)), REPEATS if len(pairs) < MAX_SMALL else 1
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for repeat in range(repeats):
        for train, test in GroupKFold(FOLDS, shuffle=True, random_state=seed + repeat).split(cases, groups=cases):
            vectorizer = DictVectorizer()
            x = vectorizer.fit_transform([features[i] for i in train])
            model = LogisticRegression(max_iter=1000, class_weight="balanced").fit(x, labels[train])
            right[test] += model.predict(vectorizer.transform([features[i] for i in test])) == labels[test]
            for name, row in zip(model.classes_, _rows(model), strict=True):
                for feature, weight in zip(vectorizer.get_feature_names_out(), row, strict=True):
                    weights[name, feature] += float(weight)
    # Each principle counts the same: its pairs weigh one over its size.
    weight_of = {name: len(pairs) / (len(groups) * len(group)) for name, group in groups.items()}
    scores = [float(share) * weight_of[name] for share, name in zip(right / repeats, labels.tolist(), strict=True)]
    low, high = clustered_mean_ci(scores, cases, seed, (0.0, max(weight_of.values())))
    accuracy, top = sum(scores) / len(scores), tuple(f"{name}: {_heaviest(weights, name)}" for name in groups)
    return ProbeResult(GROUP, READER, len(pairs), case_count(pairs), accuracy, (low, min(1.0, high)), top)


def _rows(model: Any) -> Sequence[Sequence[float]]:
    """The weights of each class; of two classes the model has one row."""
    rows: Sequence[Sequence[float]] = model.coef_
    return [[-weight for weight in rows[0]], rows[0]] if len(rows) == 1 else rows


def _heaviest(weights: dict[tuple[str, str], float], principle: str) -> str:
    own = {feature: round(weight, 6) for (name, feature), weight in weights.items() if name == principle}
    return min(own, key=lambda feature: (-own[feature], feature))


def _features(pair: ReasoningPair) -> dict[str, float]:
    """Words and word pairs that one text has in place of the other's, and the shape of the change."""
    start, end_a, end_b = changed(pair.reasoning_a, pair.reasoning_b)
    one, other = (content_tokens(text) for text in (pair.reasoning_a[start:end_a], pair.reasoning_b[start:end_b]))
    found: dict[str, float] = {}
    for tag, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for words in (one[i:j], other[k:m]) if tag != "equal" else ():
            found |= dict.fromkeys(words, 1.0) | {" ".join(two): 1.0 for two in pairwise(words)}
    shorter, longer = sorted((len(one), len(other)))
    shape = {
        "(nothing in its place)": shorter == 0,
        "(one word)": longer == 1,
        "(a long change)": longer > _LONG,
        "(as many words)": shorter == longer,
        "(many more words)": longer - shorter > _LONG,
        "(numbers only)": bool(found) and all(word[0].isdigit() for word in found),
    }
    return found | {name: 1.0 for name, holds in shape.items() if holds} | {"(any)": 1.0}
