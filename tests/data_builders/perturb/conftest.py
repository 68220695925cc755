"""Toy cases are not what the swap weights were fitted to: here every word of a class has the same weight."""

from collections.abc import Iterator

import fake_teacher
import pytest

from data_builders.perturb.rules import balanced_swap


@pytest.fixture(autouse=True)
def equal_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(balanced_swap, "WEIGHTS", {})
    fake_teacher.variants_of.cache_clear()  # what other tests have made has other weights
    yield
    fake_teacher.variants_of.cache_clear()
