"""The pairs of the episodes that other trainers run."""

import pytest
from factories import mini_pairs

from judge_r1.files.pair_set import PairSet


@pytest.fixture(scope="session")
def data() -> PairSet:
    return mini_pairs(6)
