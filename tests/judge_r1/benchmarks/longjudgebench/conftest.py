from pathlib import Path

import pytest
from longjudgebench_factories import synthetic_checkout


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_checkout(tmp_path_factory.mktemp("checkout"))
