"""Regression: counts do not reveal the P2 and P4 flaws that builds choose from the real corpora."""

from collections import Counter
from pathlib import Path

import pytest

from data_builders.audit.text_counts import RULES, rule_scores
from data_builders.generators.base import CITATIONS
from data_builders.perturb.rules.balanced import perturb_balanced
from data_builders.perturb.rules.citations import cite_facts
from data_builders.perturb.rules.selection import START, STRICT_LIMIT, Selection
from data_builders.sources import SOURCES

FOLDERS = {"medrbench": "medical_medrbench", "echr": "legal_echr_argmining", "f1000rd": "academic_f1000rd"}
CASES = 8


@pytest.mark.real_data
@pytest.mark.parametrize("source", FOLDERS)
def test_one_line_rules_lean_no_further_than_the_limit(source: str, real_data: Path) -> None:
    plain = SOURCES.get(source).read(real_data / FOLDERS[source], CASES, 0, Counter())
    cases, selection = [cite_facts(case, CITATIONS) for case in plain], Selection()
    pairs = [
        pair
        for case in cases
        for pair in perturb_balanced(case, selection=selection, kinds=["single"], abstained=Counter())
    ]
    for number in (2, 4):
        own = [pair for pair in pairs if pair.violated == (number,)]
        assert len(own) >= CASES / 2
        for count in RULES:
            lean = sum(2 * score - 1 for score in rule_scores(own, count))
            assert abs(lean) <= START + STRICT_LIMIT * len(own) ** 0.5
