"""Real corpora through build, split, export and reload."""

import json
from pathlib import Path
from typing import Any

import pytest

from data_builders.build import build
from data_builders.export import export
from data_builders.exports import Options
from data_builders.splits.policy import by_sizes
from data_builders.splits.split import split
from judge_r1.core.pair_set import load_pairs
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import judge_prompt

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def real_split(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split of twelve MedRBench articles and nine ECHR judgments."""
    home = tmp_path_factory.mktemp("real")
    build("medrbench", home / "medical", path=real_data / "medical_medrbench", variants=2, limit=24)
    build("echr", home / "legal", path=real_data / "legal_echr_argmining", variants=2, limit=9)
    split([home / "medical", home / "legal"], home / "split", by_sizes([3, 6], 4, 0))
    return home / "split"


def shown(name: str, row: Any) -> tuple[str, str]:
    """The system and the user message of a row."""
    if name == "sft":
        return row["instruction"], row["input"]
    if name == "dpo":
        return row["conversations"][0]["value"], row["conversations"][1]["value"]
    messages = row["prompt"]
    return messages[0]["content"], messages[1]["content"]


def training_sets(folder: Path) -> list[str]:
    """The names of the training sets, the smaller one first. Rules make no pair of some sets: `short` counts them."""
    return sorted((path.name for path in folder.glob("train_*")), key=lambda name: int(name.removeprefix("train_")))


@pytest.mark.parametrize("name", ["sft", "dpo", "trl", "verl"])
def test_exported_real_pairs_equal_the_judge_prompts(name: str, real_split: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    config = EpisodeConfig()
    export(real_split, tmp_path / "out", name, Options(config=config))
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    searches, style = (config.effective_budget.max_searches, "standard") if name == "verl" else (0, "answer")
    assert sorted(loaded) == sorted(["test", *training_sets(real_split)])
    for part in loaded:
        data = load_pairs(real_split / part)
        assert len(loaded[part]) == len(data.pairs)
        for row, pair in zip(loaded[part], data.pairs, strict=True):
            case = data.case_of(pair)
            system, user = judge_prompt(pair, case, context="full", searches=searches, style=style).chat()
            assert shown(name, row) == (system["content"], user["content"])
            assert case.context in user["content"]
            assert pair.gold.comparison in json.dumps(row)


def test_real_split_matches_its_report(real_split: Path) -> None:
    names = training_sets(real_split)
    test, small, large = (load_pairs(real_split / name) for name in ("test", *names))
    assert len(test.cases) == len(test.pairs) == 8
    assert {p.pair_id for p in small.pairs} < {p.pair_id for p in large.pairs}

    groups = [{case.meta["group"] for case in part.cases.values()} for part in (test, large)]
    assert not groups[0] & groups[1]
    report = json.loads((real_split / "split.json").read_text())
    for name, part, wanted in zip(names, (small, large), (42, 84), strict=True):
        short = report["parts"][name]["short"]
        assert len(part.pairs) + sum(n for sets in short.values() for n in sets.values()) == wanted
