"""Where the vectors of a data folder are stored."""

import os
from pathlib import Path

import pytest
from factories import make_case
from hash_embedder import HashEmbedder

from judge_r1.episode import case_retriever
from judge_r1.episode.case_retriever import INDEX_FOLDER, fill_index, index_folder, new_retriever
from judge_r1.episode.config import EpisodeConfig
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import CaseTexts, open_cases
from retrieval import embedders


@pytest.mark.parametrize(
    ("retriever", "device", "openvino", "gpu"),
    [
        ("bundled:e5-small", None, True, False), ("bundled:e5-small", "auto", True, False),
        ("bundled:e5-small", "cuda", True, True), ("bundled:e5-small", None, False, True),
        ("intfloat/e5-base-v2", None, True, True), ("intfloat/e5-base-v2", "cpu", True, False),
    ],
)  # fmt: skip
def test_openvino_takes_no_gpu(
    retriever: str, device: str | None, openvino: bool, gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedders, "find_spec", lambda name: object() if openvino else None)
    config = EpisodeConfig(retriever=retriever, retriever_device=device)
    assert case_retriever._embeds_on_gpu(config) == gpu


def test_data_that_cannot_be_written_to_are_indexed_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also beside the index that their owner made with another embedder, whose own index is still read."""
    data = tmp_path / "data"
    write_jsonl(data / "cases.jsonl", [make_case("ana paid 5.")])
    embedders = {"theirs": HashEmbedder(), "mine": HashEmbedder(8)}
    monkeypatch.setattr(case_retriever, "shared_embedder", lambda name, device: embedders[name])
    monkeypatch.setattr(case_retriever, "cache_dir", lambda: tmp_path / "cache")

    def fill(name: str) -> Path:
        texts = CaseTexts(open_cases(data))
        retriever = new_retriever(texts, EpisodeConfig(retriever=name))
        assert retriever.store is not None
        assert fill_index(retriever, texts) is not None
        assert len(retriever.store) == 1
        return retriever.store.folder.parent

    assert fill("theirs") == index_folder(data) == data / INDEX_FOLDER
    calls = len(embedders["theirs"].passage_calls)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: data not in (path, *Path(path).parents) and access(path, mode))
    assert fill("theirs") == data / INDEX_FOLDER
    assert len(embedders["theirs"].passage_calls) == calls + 1  # the probe of the weights: no case is embedded again
    assert fill("mine").parent == tmp_path / "cache" / INDEX_FOLDER
