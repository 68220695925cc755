"""Likelihoods of a build: those of the model, read once."""

from pathlib import Path

import pytest

from data_builders.perturb.balance.cached_likelihoods import CachedLikelihoods
from data_builders.text_units.likelihood import TAIL, LikelihoodReader, likelihood_features

REFERENCE = "1. Ana paid 34 euros in May. 2. So Ben owes her nothing."
FLAWED = ["1. Ana paid 35 euros in May. 2. So Ben owes her nothing.", "1. Ana paid 34 euros in May. 2. So Ben left."]


def test_a_stopped_build_reads_no_text_twice(tmp_path: Path) -> None:
    first, again = (CachedLikelihoods("bundled:tiny", tmp_path / "likelihoods.sqlite") for _ in range(2))
    read = first.features(REFERENCE, FLAWED)
    reference, *others = LikelihoodReader("bundled:tiny", fast=True).read([REFERENCE, *FLAWED], tail=TAIL)
    for found, other in zip(read, others, strict=True):
        assert found == pytest.approx(likelihood_features(other, reference), abs=5e-4)
    assert again.features(REFERENCE, FLAWED) == read
    assert "_reader" not in vars(again), "the second build loads no model"
    assert CachedLikelihoods("bundled:tiny", None).features(REFERENCE, FLAWED) == read
    assert first.features(REFERENCE, []) == []
