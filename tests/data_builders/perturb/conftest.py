"""Toy cases are not what the swap weights were fitted to: here every word of a class has the same weight."""

import pytest

from data_builders.perturb import swap


@pytest.fixture(autouse=True)
def equal_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swap, "WEIGHTS", {})
