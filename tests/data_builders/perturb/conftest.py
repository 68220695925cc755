"""Toy cases are not what the swap weights were fitted to: here every word of a class has the same weight."""

from collections.abc import Iterator

import pytest
import rules_brain

from data_builders.perturb import swap


@pytest.fixture(autouse=True)
def equal_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(swap, "WEIGHTS", {})
    rules_brain.variants_of.cache_clear()  # what other tests have made has other weights
    yield
    rules_brain.variants_of.cache_clear()
