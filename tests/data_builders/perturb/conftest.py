"""The shipped swap weights do not fit the small cases of these tests: here all words of a class have equal weight."""

from collections.abc import Iterator

import fake_teacher
import pytest

from data_builders.perturb.rules import balanced_swap


@pytest.fixture(autouse=True)
def equal_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(balanced_swap, "WEIGHTS", {})
    fake_teacher.variants_of.cache_clear()  # other tests used other weights
    yield
    fake_teacher.variants_of.cache_clear()
