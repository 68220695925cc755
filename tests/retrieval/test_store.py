"""The store of vectors: contents, repairs, and what a damaged one can do."""

import gc
import hashlib
import logging
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from retrieval import store as store_module
from retrieval.embedders import Vectors
from retrieval.passages import split_passages
from retrieval.retriever import Retriever
from retrieval.store import (
    MANIFEST,
    SUFFIX,
    VectorStore,
    fill_store,
    missing_cases,
    passages_digest,
    text_digest,
)

WORDS = 5
CASES = {f"case-{n}": " . ".join(f"kara paid {100 * n + i}" for i in range(n % 7 + 1)) + " ." for n in range(40)}
WORD = st.sampled_from(["kara", "olga", "paid", "signed", "34", "deed", ".", "\n"])
TEXT = st.lists(WORD, max_size=30).map(" ".join)


def filled(folder: Path, cases: dict[str, str] = CASES, embedder: HashEmbedder | None = None) -> VectorStore:
    store = VectorStore(folder, embedder or HashEmbedder(), WORDS)
    fill_store(store, cases, list(cases))
    return store


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def shards(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"*{SUFFIX}"))


@given(cases=st.dictionaries(st.text(max_size=3), TEXT, max_size=40), split=st.integers(0, 40))
def test_a_store_holds_the_vectors_of_every_case(
    cases: dict[str, str], split: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also if it is filled in two parts. A case without text has none."""
    folder, embedder = tmp_path_factory.mktemp("store"), HashEmbedder()
    store = VectorStore(folder, embedder, WORDS)
    ids = list(cases)
    embedded = sum(fill_store(store, cases, part).embedded for part in (ids[:split], ids))
    assert embedded == len({text for text in cases.values() if text.strip()})
    for store_ in (store, VectorStore(folder, embedder, WORDS)):
        for text in cases.values():
            passages = split_passages(text, WORDS)
            found = store_.get(passages)
            if not passages:
                assert found is None
            else:
                assert found is not None
                assert (found == embedder.encode_passages([p.text for p in passages])).all()


def test_a_store_is_mapped_and_read_only(tmp_path: Path) -> None:
    store = filled(tmp_path)
    vectors = store.get(split_passages(CASES["case-6"], WORDS))
    assert vectors is not None
    assert not vectors.flags.writeable
    base = vectors
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_filling_again_embeds_nothing_and_changes_no_byte(tmp_path: Path) -> None:
    filled(tmp_path)
    before, embedder = files(tmp_path), HashEmbedder()
    store = VectorStore(tmp_path, embedder, WORDS)
    report = fill_store(store, CASES, list(CASES))
    assert (report.cases, report.embedded, list(report.repaired)) == (40, 0, [])
    assert {text for call in embedder.passage_calls for text in call} == {store_module._PROBE}
    assert files(tmp_path) == before


def test_other_embedders_prefixes_and_sizes_have_other_stores(tmp_path: Path) -> None:
    class Prefixed(HashEmbedder):
        passage_prefix = "passage: "

    class Renamed(HashEmbedder):
        name = "hash2"

    filled(tmp_path)
    for embedder, words in ((Prefixed(), WORDS), (Renamed(), WORDS), (HashEmbedder(8), WORDS), (HashEmbedder(), 6)):
        assert len(VectorStore(tmp_path, embedder, words)) == 0
    assert len(VectorStore(tmp_path, HashEmbedder(), WORDS)) == 40


def test_other_weights_under_the_same_name_are_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Retrained(HashEmbedder):
        def _encode(self, texts: list[str]) -> Vectors:  # type: ignore[override]
            return np.roll(super()._encode(texts), 1, axis=1)

    filled(tmp_path)
    with caplog.at_level(logging.WARNING):
        store = VectorStore(tmp_path, Retrained(), WORDS)
    assert len(store) == 0
    assert "made with other weights" in caplog.text
    report = fill_store(store, CASES, list(CASES))
    assert report.embedded == 40
    assert "made with other weights" in report.repaired[0]


@given(data=st.data())
def test_any_damage_loses_vectors_but_never_confuses_them(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Bytes are changed, cut off, added, or swapped between shards, and headers are exchanged."""
    folder = tmp_path_factory.mktemp("store")
    filled(folder)
    whole = files(folder)
    path = data.draw(st.sampled_from([*shards(folder), next(folder.rglob(MANIFEST))]))
    content, kind = path.read_bytes(), data.draw(st.sampled_from(["byte", "cut", "more", "other", "empty", "header"]))
    at = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(st.sampled_from(shards(folder))).read_bytes()
    damaged = {
        "byte": content[:at] + bytes([content[at] ^ data.draw(st.integers(1, 255))]) + content[at + 1 :],
        "cut": content[:at],
        "more": content + b"\0" * 64,
        "other": other,
        "empty": b"",
        "header": content[:16] + b"[" * 5000 + content[16:],
    }[kind]
    path.write_bytes(damaged)
    embedder = HashEmbedder()
    store = VectorStore(folder, embedder, WORDS)
    for text in CASES.values():
        passages = split_passages(text, WORDS)
        found = store.get(passages)
        assert found is None or (found == embedder.encode_passages([p.text for p in passages])).all()
    retriever = Retriever(CASES, method=embedder, passage_words=WORDS, store=folder)
    assert retriever.search([("case-6", "paid 604")], 2) == Retriever(
        CASES, method=embedder, passage_words=WORDS
    ).search([("case-6", "paid 604")], 2)
    fill_store(VectorStore(folder, embedder, WORDS), CASES, list(CASES))
    # A manifest may be damaged in what its reader does not need, such as a space. Under a damaged digest of its text, a
    # case is not found: it is embedded again into a shard of its own.
    in_header = kind == "byte" and at < 16 + int.from_bytes(content[8:16], "little")
    if path.name != MANIFEST and not in_header:
        assert files(folder) == whole
    assert len(VectorStore(folder, embedder, WORDS)) == 40


def test_vectors_that_another_case_claims_are_not_returned(tmp_path: Path) -> None:
    """The header of a shard names other passages for each vector; sizes and checksums stay those of the vectors."""
    cases = {"a": "kara paid 34 .", "b": "olga signed deed ."}
    filled(tmp_path, cases)
    [path] = shards(tmp_path)
    content = path.read_bytes()
    first, second = (passages_digest(split_passages(text, WORDS)).encode() for text in cases.values())
    swapped = content.replace(first, b"\0" * 64).replace(second, first).replace(b"\0" * 64, second)
    assert swapped != content
    path.write_bytes(swapped)
    embedder = HashEmbedder()
    store = VectorStore(tmp_path, embedder, WORDS)
    assert len(store) == 2
    assert [store.get(split_passages(text, WORDS)) for text in cases.values()] == [None, None]
    hits = Retriever(cases, method=embedder, passage_words=WORDS, store=tmp_path).search([("a", "kara")], 3)[0]
    assert [hit.passage.text for hit in hits] == ["kara paid 34 ."]
    assert hits == Retriever(cases, method=embedder, passage_words=WORDS).search([("a", "kara")], 3)[0]


def test_a_number_of_rows_without_bounds_is_damage(tmp_path: Path) -> None:
    filled(tmp_path, {"a": "kara paid 34 ."})
    [path] = shards(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"rows": 1, ', b'"rows":1e999,'))
    assert path.read_bytes() != content
    store = VectorStore(tmp_path, HashEmbedder(), WORDS)
    assert len(store) == 0
    assert len(store.damage) == 1


def test_cases_whose_shortened_digests_are_equal_keep_their_own_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    monkeypatch.setattr(store_module, "_short", lambda digest: 7)
    embedder = HashEmbedder()
    store = VectorStore(tmp_path, embedder, WORDS)
    for text in CASES.values():
        passages = split_passages(text, WORDS)
        found = store.get(passages)
        assert found is not None
        assert (found == embedder.encode_passages([p.text for p in passages])).all()
    assert store.get(split_passages("olga signed deed .", WORDS)) is None


def test_a_reader_keeps_few_bytes_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    cases = {str(number): f"kara paid {number} ." for number in range(2_000)}
    filled(tmp_path, cases)
    tracemalloc.start()
    store = VectorStore(tmp_path, HashEmbedder(), WORDS)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(store) == len(cases)
    assert held < 32 * len(cases)


def test_a_builder_survives_another_one_that_takes_its_file_for_a_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On NFS, folders cannot be locked, so two processes may fill a store at once."""
    sync = os.fsync
    removed: list[Path] = []

    def remove_once(descriptor: int) -> None:
        sync(descriptor)
        partials = set(tmp_path.rglob(".*.partial"))
        if len(removed) < 2:
            removed.extend(partials)
            for path in partials:
                path.unlink()

    monkeypatch.setattr(os, "fsync", remove_once)
    filled(tmp_path / "a")
    monkeypatch.undo()
    assert len(removed) == 2
    filled(tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_only_texts_that_other_scripts_concern_are_embedded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that was filled without these rules names all texts by their plain digests."""
    texts = {"english": "Kara paid 34. Olga left — née Ray.", "chinese": "患者发热。血氧下降。"}
    with monkeypatch.context() as before:
        before.setattr(store_module, "text_digest", lambda text: hashlib.sha256(text.encode()).hexdigest())
        filled(tmp_path, texts)
    embedder = HashEmbedder()
    store = VectorStore(tmp_path, embedder, WORDS)
    embedder.passage_calls.clear()
    assert missing_cases(store, texts, list(texts)) == {text_digest(texts["chinese"]): "chinese"}
    assert fill_store(store, texts, list(texts)).embedded == 1
    assert missing_cases(store, texts, list(texts)) == {}
