"""The cache of prompt lengths."""

import json
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs

from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.rollout import task_prompt
from judge_r1.episode.task import pairwise_task
from judge_r1.episode.tokenizer import SafeTokenizer, stored_lengths
from judge_r1.files.pair_set import PairSet
from judge_r1.models.hub import load_tokenizer

CONFIG = EpisodeConfig(retriever="bm25")


def prompts_of(data: PairSet, config: EpisodeConfig = CONFIG) -> list[Prompt]:
    return [task_prompt(pairwise_task(pair, data.case_of(pair)), config) for pair in data.pairs]


@pytest.fixture
def tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SafeTokenizer:
    monkeypatch.setenv("JUDGE_R1_CACHE", str(tmp_path))
    return SafeTokenizer(load_tokenizer("bundled:tiny"))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> set[Prompt]:
    """The prompts that are tokenized, in any order."""
    found: set[Prompt] = set()
    encode = SafeTokenizer.prompt_ids

    def counted(self: SafeTokenizer, prompt: Prompt, **options: Any) -> list[int]:
        found.add(prompt)
        return encode(self, prompt, **options)

    monkeypatch.setattr(SafeTokenizer, "prompt_ids", counted)
    return found


def cache_file(tmp_path: Path) -> Path:
    [path] = (tmp_path / "prompt_lengths").iterdir()
    return path


def test_a_prompt_is_measured_once(tokenizer: SafeTokenizer, measured: set[Prompt]) -> None:
    """Another attempt measures nothing, and one with more pairs only the new ones, in any order."""
    prompts = prompts_of(mini_pairs(60))
    expected = [len(tokenizer.prompt_ids(prompt)) for prompt in prompts]
    measured.clear()
    assert stored_lengths(prompts[:40], tokenizer, thinking=False) == expected[:40]
    assert measured == set(prompts[:40])
    measured.clear()
    assert stored_lengths(prompts[39::-1], tokenizer, thinking=False) == expected[39::-1]
    assert not measured
    assert stored_lengths(prompts, tokenizer, thinking=False) == expected
    assert measured == set(prompts[40:])


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"a": "b"}', '{"a": -1}', "{", "\0"])
def test_an_invalid_file_counts_as_empty(
    content: str, tokenizer: SafeTokenizer, measured: set[Prompt], tmp_path: Path
) -> None:
    prompts = prompts_of(mini_pairs(3))
    expected = stored_lengths(prompts, tokenizer, thinking=False)
    cache_file(tmp_path).write_text(content)
    measured.clear()
    assert stored_lengths(prompts, tokenizer, thinking=False) == expected
    assert len(measured) == 3
    assert sorted(json.loads(cache_file(tmp_path).read_text()).values()) == sorted(expected)


def test_what_two_processes_measure_is_kept(tokenizer: SafeTokenizer, measured: set[Prompt], tmp_path: Path) -> None:
    prompts = prompts_of(mini_pairs(6))

    def while_another_writes() -> Any:
        yield prompts[0]
        stored_lengths(prompts[3:], tokenizer, thinking=False)
        yield prompts[1]

    stored_lengths(while_another_writes(), tokenizer, thinking=False)
    measured.clear()
    stored_lengths([*prompts[:2], *prompts[3:]], tokenizer, thinking=False)
    assert not measured


def test_an_interrupted_measurement_keeps_what_it_has(tokenizer: SafeTokenizer, measured: set[Prompt]) -> None:
    prompts = prompts_of(mini_pairs(90))[:70]

    def interrupted() -> Any:
        yield from prompts[:65]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stored_lengths(interrupted(), tokenizer, thinking=False)
    measured.clear()
    stored_lengths(prompts, tokenizer, thinking=False)
    assert measured == set(prompts[64:])  # two chunks of 32 were complete
