"""Fixtures for verl on the CPU: a model of 50,000 random weights, a model that answers, and a few pairs."""

import os
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from answering_model import train_to_answer

from data_builders.worlds.mini.source import EVENTS, FACT, read
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import PairSet
from judge_r1.training.recipe import DataConfig, Recipe
from judge_r1.training.stage_config import GrpoConfig

os.environ |= {  # verl reads them when it is imported
    "VERL_PLATFORM": "cpu",
    "VERL_USE_EXTERNAL_MODULES": "judge_r1.training.verl.cpu",
    "TOKENIZERS_PARALLELISM": "false",
    "RAY_memory_monitor_refresh_ms": "0",  # Ray would kill workers because other programs fill the memory
}


@pytest.fixture(scope="session", autouse=True)
def _verl() -> Iterator[None]:
    """Each composition reads the 27 files of verl's configuration: parsed once, they take half of its time."""
    pytest.importorskip("verl", reason="verl is not installed: pip install 'judge-r1[verl]'")
    from omegaconf import OmegaConf

    load, parsed = OmegaConf.load, dict[str, Any]()

    def load_once(file: Any) -> Any:
        if isinstance(file, str | Path):  # not by Hydra: a file of a test
            return load(file)
        if file.name not in parsed:
            parsed[file.name] = load(file)
        return deepcopy(parsed[file.name])

    with patch.object(OmegaConf, "load", load_once):
        yield


def flawed_pair(case: Case) -> ReasoningPair:
    """A pair of the case's reference and a copy with another value in its first claim (P2)."""
    claim = FACT.search(case.reference)
    assert claim is not None
    value = next(v for v in EVENTS[case.domain][claim["did"]] if v != claim["value"])
    flawed = case.reference[: claim.start("value")] + value + case.reference[claim.end("value") :]
    start = case.context.index(claim[0] + ".")
    flaw = Flaw(
        principle=2,
        operator="other_value",
        span=Span(start=claim.start("value"), end=claim.start("value") + len(value)),
        context_spans=(Span(start=start, end=start + len(claim[0])),),
    )
    return ReasoningPair.of(case, flawed, variant=1, origin=Origin(teacher="test", seed=0, flaws=(flaw,)), seed=0)


@pytest.fixture(scope="session")
def pairs() -> PairSet:
    cases = list(read(None, 6, 0, Counter()))
    return PairSet.of(cases, [flawed_pair(case) for case in cases])


@pytest.fixture(scope="session")
def data_folder(pairs: PairSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    write_jsonl(folder / "cases.jsonl", pairs.cases.values())
    write_jsonl(folder / "pairs.jsonl", pairs.pairs)
    return folder


@pytest.fixture(scope="session")
def recipe(model_folder: Path, data_folder: Path) -> Recipe:
    return Recipe(
        name="two-steps",
        stage="grpo",
        model=str(model_folder),
        data=DataConfig(train=data_folder),
        episode=EpisodeConfig(
            context="none",
            prompt="compact",
            retriever="bm25",
            prompt_tokens=512,
            budget=Budget(max_searches=2, top_k=1, passage_words=4, response_tokens=32, observation_tokens=40),
        ),
        grpo=GrpoConfig(
            steps=2, group_size=4, pairs_per_step=2, micro_batch_size=8, updates_per_step=1, learning_rate=1e-3
        ),
        save_every=2,
    )


@pytest.fixture(scope="session")
def answering_model(recipe: Recipe, pairs: PairSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that searches once and then guesses. Its answers are valid, so rewards differ within a group."""
    return train_to_answer(recipe.model, recipe.episode, pairs, tmp_path_factory.mktemp("answering_model"))
