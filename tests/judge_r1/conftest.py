"""The toy model as a fixture."""

from pathlib import Path

import pytest
from toy_model import toy_model


@pytest.fixture(scope="session")
def model_folder() -> Path:
    return toy_model(1024)
