"""Measures what a reader finds about P4 without the case who knows which statements are common in a corpus.

Every P4 pair that exchanges statements has a true one and an invented one. Four rules guess which is true:

* mentioned: the rest of the text mentions its matter,
* common: more of the other cases support it, of those that do not leave its matter out,
* repeated: it stands in more references of other cases,
* similar cases: as *common*, but cases count by the similarity of their words to the text (cosine of TF-IDF, cubed).

Other cases are those of other articles or papers; *common* leaves out those with the same text.

    judge-r1 build builtin --kinds single --limit 60 --reader none --out runs/builtin
    python -m scripts.probe_statements runs/builtin
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from data_builders.perturb.pair_checks import replaced_texts
from data_builders.perturb.rules.statement_rates import CaseStatements, StatementRates
from data_builders.perturb.rules.statements import find_statements, is_mentioned, statement_key
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.statistics.intervals import clustered_mean_ci


@dataclass(frozen=True)
class Exchange:
    """The statements of a pair, by key, and the text that both reasonings share."""

    case: Case
    true: str
    invented: str
    rest: str


Rule = Callable[[Exchange, str], float]
"""How much speaks for a statement."""


class Corpus:
    """What the rules know: the cases of a build."""

    def __init__(self, data: PairSet) -> None:
        self.cases = list(data.cases.values())
        self.rates = StatementRates(lambda: self.cases)
        self.places = {
            case.case_id: {
                statement_key(case.domain, case.reference[start:end])
                for start, end, _ in find_statements(case.reference, case.domain)
            }
            for case in self.cases
        }

    def mentioned(self, found: Exchange, key: str) -> float:
        return is_mentioned(found.case.domain, key.rsplit(" ", 1)[0], found.rest)

    def common(self, found: Exchange, key: str) -> float:
        return self.rates.log_odds(self._statements[found.case.case_id], key)

    def repeated(self, found: Exchange, key: str) -> float:
        return sum(key in self.places[other.case_id] for other in self._others(found))

    def similar_cases(self, found: Exchange, key: str) -> float:
        weights = dict(zip(self.places, self._similarity(found.rest), strict=True))
        true = unknown = 1e-3
        for other in self._others(found):
            statements, weight = self._statements[other.case_id], weights[other.case_id]
            true += weight * (key in statements.supported)
            unknown += weight * (key in statements.unmentioned)
        return math.log(true / unknown)

    def _others(self, found: Exchange) -> list[Case]:
        return [c for c in self.cases if c.domain == found.case.domain and c.group != found.case.group]

    @cached_property
    def _statements(self) -> dict[str, CaseStatements]:
        return {case.case_id: CaseStatements.of(case) for case in self.cases}

    @cached_property
    def _similarity(self) -> Callable[[str], NDArray[np.float64]]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        contexts = [case.context for case in self.cases]
        vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit(contexts)
        matrix = vectorizer.transform(contexts)

        def weights(text: str) -> NDArray[np.float64]:
            found: NDArray[np.float64] = np.asarray((matrix @ vectorizer.transform([text]).T).todense()).ravel() ** 3
            return found

        return weights


def exchanges(data: PairSet) -> list[tuple[ReasoningPair, Exchange]]:
    """The P4 pairs that exchange one statement for another."""
    found = []
    for pair in data.pairs:
        if pair.violated == (4,):
            span, [removed] = pair.origin.flaws[0].span, replaced_texts(pair) or [""]
            old = statement_key(pair.domain, removed)
            new = statement_key(pair.domain, pair.flawed[span.start : span.end])
            if old and new:
                rest = f"{pair.flawed[: span.start]} {pair.flawed[span.end :]}"
                found.append((pair, Exchange(data.cases[pair.case_id], old, new, rest)))
    return found


def scores(found: Sequence[tuple[ReasoningPair, Exchange]], rule: Rule) -> list[float]:
    """1 where a rule prefers the true statement, 0 where it prefers the invented one, and 1/2 where it does not say."""
    margins = [rule(exchange, exchange.true) - rule(exchange, exchange.invented) for _, exchange in found]
    return [0.5 + 0.5 * ((margin > 0) - (margin < 0)) for margin in margins]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder with cases.jsonl and pairs.jsonl")
    data = load_pairs(parser.parse_args().folder)
    found, corpus = exchanges(data), Corpus(data)
    if not found:
        parser.error("the folder has no P4 pair that exchanges statements")
    rules: Mapping[str, Rule] = {
        "mentioned": corpus.mentioned,
        "common": corpus.common,
        "repeated": corpus.repeated,
        "similar cases": corpus.similar_cases,
    }
    domains = Counter(pair.domain for pair, _ in found)
    for domain in ("all", *(domains if len(domains) > 1 else ())):
        some = [one for one in found if domain in ("all", one[0].domain)]
        clusters = [exchange.case.group for _, exchange in some]
        for name, rule in rules.items():
            values = scores(some, rule)
            low, high = clustered_mean_ci(values, clusters)
            decided = sum(value != 0.5 for value in values)
            print(f"{domain}, {name}: {np.mean(values):.3f} [{low:.3f}, {high:.3f}], {decided} of {len(some)} decided")


if __name__ == "__main__":
    main()
