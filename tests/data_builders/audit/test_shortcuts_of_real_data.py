"""Regression: counting distinct words does not reveal P2 and P4 flaws in the real corpora."""

from collections import Counter
from pathlib import Path

import pytest

from data_builders.perturb.rules.engine import perturb
from data_builders.perturb.rules.text_match import words
from data_builders.sources import SOURCES
from judge_r1.core.records import ReasoningPair

FOLDERS = {"medrbench": "medical_medrbench", "echr": "legal_echr_argmining", "f1000rd": "academic_f1000rd"}
CASES = 25


@pytest.mark.real_data
def test_real_swaps_keep_the_number_of_distinct_words(real_data: Path) -> None:
    found: list[ReasoningPair] = []
    for source, folder in FOLDERS.items():
        cases = SOURCES.get(source).read(real_data / folder, CASES, 0, Counter())
        pairs = [p for case in cases for p in perturb(case, kinds=["single"], abstained=Counter())]
        found += [pair for pair in pairs if pair.violated in ((2,), (4,))]
    assert len(found) > CASES
    assert all(len(set(words(p.reference))) == len(set(words(p.flawed))) for p in found)
