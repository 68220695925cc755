"""Measures what classifiers learn from the two reasonings of a pair alone, without the case.

Folds are by case, and intervals treat the case as the unit, because the pairs of a case share their reference; see
`with_groups_as_cases` for cases of one paper.

Another probe tells the violated principle. A judge that names it without the case has learnt the words and shapes of
the flaws. The reader sees what differs between the two texts, but not which one is flawed: words and word pairs, and
the shape of the change.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from data_builders.audit.features import FOLDS, MAX_SMALL, REPEATS, Differences, Probe, cross_validated
from data_builders.perturb.pair_checks import content_tokens
from data_builders.text_units.likelihood import ZERO_SHOT
from data_builders.text_units.text_counts import RULES, rule_scores, sign_scores
from data_builders.text_units.text_match import changed
from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.records import ReasoningPair
from judge_r1.files.pair_set import PairSet
from judge_r1.statistics.intervals import clustered_mean_ci

if TYPE_CHECKING:
    from rich.console import Console

MIN_CASES = 2 * FOLDS
"""Groups with fewer cases are not probed."""


class ProbeError(JudgeError):
    """The set has too few cases to probe."""


@dataclass(frozen=True)
class ProbeResult:
    """One reader on one group of pairs.

    `accuracy` is that of the held-out predictions, where a pair without a known difference counts one half; `ci95` is
    its 95 % interval over resampled cases. `top_features` have the largest weights: the better reasoning has more of
    those marked `+`, the flawed one of those marked `-`.
    """

    group: str
    probe: str
    pairs: int
    cases: int
    accuracy: float
    ci95: tuple[float, float]
    top_features: tuple[str, ...]


def groups_of(pairs: Sequence[ReasoningPair]) -> dict[str, list[ReasoningPair]]:
    """Return the single pairs of each principle, all single pairs and all multi pairs. Groups can be empty."""
    groups = {p.code: [x for x in pairs if x.kind == "single" and x.violated == (p.number,)] for p in PRINCIPLES}
    groups["single"] = [x for x in pairs if x.kind == "single"]
    groups["multi"] = [x for x in pairs if x.kind == "multi"]
    return groups


def with_groups_as_cases(data: PairSet) -> list[ReasoningPair]:
    """The pairs, with the group of their case in `case_id`, so that the cases of one article or paper count as one.

    Two reviews of a paper quote the same sentences, so a probe that is trained on one of them knows the other.
    """
    return [pair.model_copy(update={"case_id": data.case_of(pair).group}) for pair in data.pairs]


def case_count(pairs: Sequence[ReasoningPair]) -> int:
    return len({pair.case_id for pair in pairs})


def probe(pairs: Sequence[ReasoningPair], *, seed: int = 0) -> list[ProbeResult]:
    """Run the `words` probe on each group of at least `MIN_CASES` cases.

    Raises:
        ProbeError: no group has enough cases.
    """
    results = [
        cross_validate(name, group, "words", seed=seed)
        for name, group in groups_of(pairs).items()
        if case_count(group) >= MIN_CASES
    ]
    if not results:
        raise too_few_cases("probe", pairs)
    return results


def too_few_cases(what: str, pairs: Sequence[ReasoningPair]) -> ProbeError:
    return ProbeError(
        f"the {what} needs pairs of at least {MIN_CASES} cases, but the set has {case_count(pairs)} "
        "(those of one article or paper count as one): add cases"
    )


def cross_validate(
    group: str, pairs: Sequence[ReasoningPair], probe: Probe, *, seed: int = 0, differences: Differences | None = None
) -> ProbeResult:
    """The result of a trained reader. `likelihood` needs `differences` (see `likelihood.pair_likelihoods`)."""
    scores, top = cross_validated(pairs, probe, seed, differences)
    return probe_result(group, probe, pairs, scores, seed, top)


def one_line_rules(group: str, pairs: Sequence[ReasoningPair], *, seed: int = 0) -> list[ProbeResult]:
    """Score each pair by each rule of `RULES`."""
    return [_rule_result(group, names, pairs, rule_scores(pairs, count), seed) for count, names in RULES.items()]


def zero_shot_likelihood(
    group: str, pairs: Sequence[ReasoningPair], differences: Differences, *, seed: int = 0
) -> list[ProbeResult]:
    """Score each pair by each rule of `ZERO_SHOT`: a language model that was not trained for this chooses."""
    signs = [1 if pair.preferred == "A" else -1 for pair in pairs]
    results = []
    for feature, names in ZERO_SHOT.items():
        margins = [sign * differences[p.pair_id][feature] for sign, p in zip(signs, pairs, strict=True)]
        results.append(_rule_result(group, names, pairs, sign_scores(margins), seed))
    return results


def _rule_result(
    group: str, names: tuple[str, str], pairs: Sequence[ReasoningPair], scores: Sequence[float], seed: int
) -> ProbeResult:
    """The result of the first rule of two opposite ones, or of the second one if that is right more often: a
    person with the set can use either."""
    turned = sum(scores) < len(scores) / 2
    return probe_result(group, names[turned], pairs, [1 - score for score in scores] if turned else scores, seed)


def probe_result(
    group: str,
    reader: str,
    pairs: Sequence[ReasoningPair],
    scores: Sequence[float],
    seed: int,
    top: tuple[str, ...] = (),
) -> ProbeResult:
    """The result of a reader with these scores of the pairs."""
    interval = clustered_mean_ci(scores, [pair.case_id for pair in pairs], seed)
    return ProbeResult(group, reader, len(scores), case_count(pairs), sum(scores) / len(scores), interval, top)


def print_probe(results: Sequence[ProbeResult], console: "Console") -> None:
    """Print the results as a table."""
    from rich.table import Table

    table = Table("", "pairs", "cases", "accuracy", "95 % interval", "top words", title="Accuracy without the case")
    for result in results:
        low, high = result.ci95
        numbers = (str(result.pairs), str(result.cases), f"{result.accuracy:.3f}", f"{low:.3f} – {high:.3f}")
        table.add_row(result.group, *numbers, "  ".join(result.top_features))
    console.print(table)


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
