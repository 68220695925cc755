"""Chooses among candidate flaws so that readers without the case find little in the whole set.

A linear reader learns nothing from features whose mean difference between the better and the flawed reasoning is zero.
The selection keeps running sums of these differences by group (principle and domain) and takes the candidate that
brings them nearest to zero: herding (Welling, 2009), in units of the covariance of the chosen flaws, so that linear
combinations of features are balanced too. A candidate that moves a sum past its limit is left out. The features are
counts (`flaw_features`), log-likelihoods under a language model, the words that a flaw adds and removes, and how common
the statements are that P4 exchanges.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from data_builders.perturb.rules.flaw_features import changed_words, count_features
from data_builders.perturb.rules.likelihood_guess import LikelihoodGuess, Likelihoods
from data_builders.perturb.rules.statement_rates import CaseStatements, StatementRates
from data_builders.perturb.rules.statements import statement_key
from judge_r1.core.records import Case, ReasoningPair, Span

Vector = NDArray[np.float64]
SCALES = {
    "characters": 8.0,
    "words": 1.5,
    "different words": 1.5,
    "unexpected words": 1.5,
    "shared words": 0.01,
    "shared words of the change": 0.1,
    "numbers": 1.0,
    "mean word length": 0.03,
    "log-likelihood": 6.0,
    "mean log-likelihood": 0.03,
    "mean log-likelihood of the change": 1.0,
    "least likely token of the change": 2.0,
    "commonness": 1.0,
}
"""The difference of each feature that counts about as much as its sign."""
PRIOR = 10
"""How many chosen flaws the scales count for in the estimate of the spread."""
WORD_WEIGHT, REPEAT_WEIGHT = 0.5, 2.0
START, LIMIT, STRICT_LIMIT = 4, 0.1, 0.5
"""How far the signs of a feature may lean among `n` chosen flaws: START + LIMIT * n. For P2 and P4, which only the case
reveals, START + STRICT_LIMIT * sqrt(n), less than the standard deviation of fair coins."""
REPEATING_LIMIT = 0.2
"""LIMIT in generated cases, where few candidates are drawn and no language model reads them."""
WORD_START = 2
WORD_LIMIT: Mapping[tuple[int, ...], float] = {(2,): 0.7, (4,): 1.2}
"""How far the signs of a word may lean that `n` flaws of P2 or P4 add or remove: WORD_START + WORD_LIMIT * sqrt(n). P4
exchanges whole sentences, so few candidates would be left with the limit of P2."""
READ, READ_STRICT = 12, 30
"""Candidates per principle that the language model reads, and those of P2 and P4. It reads none with several flaws."""
STRICT = tuple(WORD_LIMIT)
"""What only the case reveals: P2 and P4."""
SENTENCE_START, SENTENCE_LIMIT = 1, 0.4
"""The same for the sentences that they bring or remove: a reader who remembers sentences learns nothing from one that
is as often in the better reasoning."""
ENDING = 30
"""How many last characters identify the sentence that a flaw uses. P2 changes shorter parts of sentences."""
STATEMENT = 12
"""The least characters of a statement, which P4 exchanges as a whole."""
_NUMBERS_AND_NAMES = re.compile(r"(?:\b[A-Z][\w’'.-]*|\d+)(?: (?:[A-Z][\w’'.-]*|\d+))*")


@dataclass(eq=False)
class Candidate:
    """A flawed reasoning that may be chosen. Of candidates with one `place`, one at most is chosen in a case.

    `features` and `words` are the differences to the reference that `Selection.measure` finds.
    """

    pair: ReasoningPair
    place: int | tuple[int, ...]
    operators: tuple[str, ...]
    features: dict[str, float] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def changed_texts(self) -> tuple[str, str]:
        """What the first flaw removes, and what it brings."""
        flaw, longer = self.pair.origin.flaws[0].span, len(self.pair.flawed) - len(self.pair.reference)
        return self.pair.reference[flaw.start : flaw.end - longer], self.pair.flawed[flaw.start : flaw.end]

    @property
    def changed_endings(self) -> dict[str, int]:
        """The ends of the sentence that a flaw brings (1) and of the old one (-1), without numbers and names."""
        least = STATEMENT if self.pair.violated == (4,) else ENDING
        old, new = (_ending(text, least) for text in self.changed_texts)
        return {ending: sign for ending, sign in ((old, -1), (new, 1)) if ending and new != old}

    def change(self, reference: str) -> tuple[str, str, str, Span]:
        """What `LikelihoodGuess` looks at."""
        return self.operators[0], reference, self.pair.flawed, self.pair.origin.flaws[0].span


@dataclass
class _Group:
    """The sums over the chosen flaws of one group."""

    chosen: int = 0
    sum: Vector = field(default_factory=lambda: np.zeros(len(SCALES)))
    squares: Vector = field(default_factory=lambda: PRIOR * np.eye(len(SCALES)))
    inverse: Vector = field(default_factory=lambda: np.eye(len(SCALES)))
    signs: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    words: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    sentences: Counter[str] = field(default_factory=Counter)
    sentence_changes: Counter[str] = field(default_factory=Counter)


class Selection:
    """The state of one build. Choices depend on the order of the cases, which a build fixes.

    `likelihoods` may be None: then the language model's features are not balanced. `rates` are of the statements that
    P4 exchanges; without them, their commonness is not balanced. `repeating` is for generated cases, which
    share sentences: a flaw may bring a sentence again, and sentences are balanced like words.
    """

    def __init__(
        self, likelihoods: Likelihoods | None = None, *, repeating: bool = False, rates: StatementRates | None = None
    ) -> None:
        self._likelihoods, self._guess, self.repeating = likelihoods, LikelihoodGuess(), repeating
        self._groups: defaultdict[tuple[str, str], _Group] = defaultdict(_Group)
        self._rates = rates

    def statements_of(self, case: Case) -> CaseStatements | None:
        """What `compare_statements` needs of a case, or None if commonness is not balanced."""
        return CaseStatements.of(case) if self._rates else None

    def compare_statements(self, found: CaseStatements | None, drawn: Mapping[str, Sequence[Candidate]]) -> None:
        """Measure whether a P4 flaw brings a statement that is more common in the corpus than the one that it removes.
        A reader who knows what is common in such cases finds no flaws if that is so in half of them."""
        if self._rates is None or found is None:
            return
        for candidate in drawn.get("P4", ()):
            old, new = (statement_key(found.domain, text) for text in candidate.changed_texts)
            if old and new:
                candidate.features["commonness"] = self._rates.log_odds(found, new) - self._rates.log_odds(found, old)

    def measure(self, reference: str, drawn: Mapping[str, list[Candidate]]) -> None:
        """Measure the candidates of one case, by principle. Those that the language model does not read are removed."""
        for candidates in drawn.values():
            for candidate in candidates:
                candidate.features.update(count_features(reference, candidate.pair.flawed))
                candidate.words = changed_words(reference, candidate.pair.flawed)
                if self.repeating:
                    candidate.words = {**candidate.words, **candidate.changed_endings}
        if self._likelihoods is None:
            return
        tokens, read = self._likelihoods.tokens(reference), list[Candidate]()
        for candidates in drawn.values():
            if not candidates or candidates[0].pair.kind != "single":
                continue
            for candidate in candidates:
                candidate.features |= self._guess.features(*candidate.change(reference), tokens)
            read_strictly = candidates[0].pair.violated in STRICT
            candidates[:] = self._ranked(candidates)[: READ_STRICT if read_strictly else READ]
            read += candidates
        found = self._likelihoods.features(reference, [candidate.pair.flawed for candidate in read])
        for candidate, features in zip(read, found, strict=True):
            self._guess.learn(*candidate.change(reference), tokens, features)
            candidate.features |= features

    def choose(self, candidates: Sequence[Candidate], used: Mapping[str, int]) -> Candidate | None:
        """The candidate that balances its group best, or None if each moves a sum past its limit.

        `used` counts the operators of the case's flaws so far. The choice is added to the sums.
        """
        allowed = [candidate for candidate in candidates if self._within_limits(candidate)]
        if not allowed:
            return None
        chosen = min(allowed, key=lambda c: self._cost(c) + REPEAT_WEIGHT * sum(used.get(o, 0) for o in c.operators))
        group = self._group(chosen)
        group.chosen += 1
        scaled = _scaled(chosen)
        group.sum += scaled
        group.squares += np.outer(scaled, scaled)
        group.inverse = np.linalg.inv(group.squares / (PRIOR + group.chosen)).astype(np.float64)
        for name, value in chosen.features.items():
            group.signs[name] += _sign(value)
        group.words.update(chosen.words)
        group.changes.update(chosen.words.keys())
        if chosen.pair.violated in STRICT and not self.repeating:
            group.sentences.update(chosen.changed_endings)
            group.sentence_changes.update(chosen.changed_endings.keys())
        return chosen

    def _ranked(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates by their costs so far, spread over places."""
        ranks: Counter[int | tuple[int, ...]] = Counter()
        order: list[tuple[int, float, int]] = []
        costs = [self._cost(candidate) for candidate in candidates]
        for i in sorted(range(len(candidates)), key=lambda i: (not self._within_limits(candidates[i]), costs[i], i)):
            order.append((ranks[candidates[i].place], costs[i], i))
            ranks[candidates[i].place] += 1
        return [candidates[i] for _, _, i in sorted(order)]

    def _group(self, candidate: Candidate) -> _Group:
        pair = candidate.pair
        return self._groups[f"P{pair.violated[0]}" if pair.kind == "single" else "multi", pair.domain]

    def _within_limits(self, candidate: Candidate) -> bool:
        """Whether no sign becomes more frequent than its limit, unless the flaw makes it rarer."""
        group, principles = self._group(candidate), candidate.pair.violated
        strict = principles in STRICT
        share = REPEATING_LIMIT if self.repeating else LIMIT
        limit = START + (STRICT_LIMIT * group.chosen**0.5 if strict else share * group.chosen)
        signs = [(group.signs[name], _sign(value), limit) for name, value in candidate.features.items()]
        if strict:
            signs += [
                (group.words[word], change, WORD_START + WORD_LIMIT[principles] * group.changes[word] ** 0.5)
                for word, change in candidate.words.items()
            ]
            signs += [
                (
                    group.sentences[ending],
                    change,
                    SENTENCE_START + SENTENCE_LIMIT * group.sentence_changes[ending] ** 0.5,
                )
                for ending, change in candidate.changed_endings.items()
            ]
        return all(abs(before + change) <= max(most, abs(before)) for before, change, most in signs)

    def _cost(self, candidate: Candidate) -> float:
        """How much the squared sums of the group grow, each feature and each direction in units of its own spread."""
        group, scaled = self._group(candidate), _scaled(candidate)
        cost = float(scaled @ group.inverse @ (2 * group.sum + scaled))
        for name, value in candidate.features.items():
            cost += _sign(value) * (2 * group.signs[name] + _sign(value))
        words = sum(change * (2 * group.words[word] + change) for word, change in candidate.words.items())
        return cost + WORD_WEIGHT * words


def _ending(text: str, least: int) -> str:
    """The last characters of a text, which identify its sentence; "" of one with fewer than `least`."""
    bare = text.rstrip('.” "')
    return _NUMBERS_AND_NAMES.sub("0", bare)[-ENDING:] if len(bare) >= least else ""


def _scaled(candidate: Candidate) -> Vector:
    return np.array([candidate.features.get(name, 0.0) / scale for name, scale in SCALES.items()])


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
