"""A small split of `mini`."""

import os
from pathlib import Path

import pytest
from split_factories import mini_folder

from data_builders.splits.policy import by_sizes
from data_builders.splits.split import split

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def split_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train_42, train_84 and test."""
    home = tmp_path_factory.mktemp("split")
    split([mini_folder(home / "in", 24)], home / "out", by_sizes([2, 4], 3, 0))
    return home / "out"
