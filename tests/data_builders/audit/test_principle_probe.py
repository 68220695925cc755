"""Whether the principle can be told without the case: by its words, by the shape of its flaws, or not at all."""

from random import Random

import pytest
from factories import make_case, make_pair

from data_builders.audit.shortcut_probe import GROUP, probe_principle, told_principles
from data_builders.audit.shortcuts import audit_shortcuts, principle_bound
from judge_r1.core.records import ReasoningPair

WORDS = [f"word{number}" for number in range(400)]


def pairs_by(flaws: dict[int, list[str]], cases: int = 40) -> list[ReasoningPair]:
    """One pair of each principle for each case: a word of its own is replaced by one of the principle's texts."""
    rng, pairs = Random(0), []
    for number in range(cases):
        old = rng.choice(WORDS)
        case = make_case(f"case {number}", reference=f"1. In case {number} they saw {old} there.")
        for principle, texts in flaws.items():
            new = rng.choice(texts)
            flawed = case.reference.replace(f" {old}", f" {new}" if new else "")
            pairs.append(make_pair(case, flawed, [principle], seed=number))
    return pairs


@pytest.mark.parametrize(
    ("flaws", "low", "high"),
    [
        ({2: WORDS, 4: WORDS}, 0.3, 0.7),  # the same words
        ({2: ["red"], 4: ["blue"], 5: ["green"]}, 0.99, 1.0),  # other words
        ({2: WORDS, 4: [f"{word} of the old town" for word in WORDS]}, 0.99, 1.0),  # another shape
    ],
    ids=["same", "words", "shape"],
)
def test_the_reader_tells_what_the_texts_tell(flaws: dict[int, list[str]], low: float, high: float) -> None:
    result = probe_principle(told_principles(pairs_by(flaws)))
    assert low <= result.accuracy <= high
    assert result.ci95[0] <= result.accuracy <= result.ci95[1] <= 1
    assert len(result.top_features) == len(flaws)


def test_every_principle_counts_the_same() -> None:
    """A reader that names the most frequent principle is no better than a guess."""
    many, few = pairs_by({2: WORDS}, 90), pairs_by({4: WORDS}, 12)
    assert probe_principle(told_principles([*many, *few])).accuracy < 0.75


def test_the_audit_flags_principles_that_are_told_and_names_what_is_not_probed() -> None:
    audit = audit_shortcuts(pairs_by({2: ["red"], 4: ["blue"]}))
    [finding] = [found for found in audit.findings if found.result.group == GROUP]
    assert (finding.verdict, finding.reason, finding.bound) == ("FLAGGED", "leaks", 0.6)
    assert any(line.startswith(f"FLAGGED: {GROUP}, changed words") for line in audit.flag_lines())
    assert GROUP in audit_shortcuts(pairs_by({2: ["red"]})).not_probed


@pytest.mark.parametrize(
    ("groups", "bound"),
    [(["P2", "P4"], 0.6), (["P1", "P2", "P4"], (1 + 1.2) / 3), (["P1", "P2"], 1.0), (["P1", "P3", "P5", "P6"], 1.0)],
)
def test_visible_principles_may_be_told_and_others_as_often_as_their_side(groups: list[str], bound: float) -> None:
    assert principle_bound(groups) == pytest.approx(bound)
