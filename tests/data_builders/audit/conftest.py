"""A data set that several tests of this folder read."""

from pathlib import Path

import pytest
from factories import mini_pairs

from data_builders.build import write_pairs


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    write_pairs(mini_pairs(300), folder)
    return folder
