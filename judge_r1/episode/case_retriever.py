"""The retriever of a configuration, and the store of passage vectors that it reads: its place in a data folder, and how
it is built before a run. All queries of episodes go to a retriever here, each in the one case of its episode."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from weakref import WeakValueDictionary

from rich.console import Console

from judge_r1.core.errors import JudgeError, write_error
from judge_r1.core.progress import Done, watch_progress
from judge_r1.core.ray_blocks import RayWorkers, run_blocks
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.config import AUTO, EpisodeConfig, is_server
from judge_r1.episode.driver import CaseSearch, SearchFunction, ServerSearch
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.pair_set import CASES_FILE, CaseTexts, StoredCases, open_cases
from retrieval.weights_cache import cache_dir

if TYPE_CHECKING:
    from retrieval.client import RemoteRetriever
    from retrieval.embedders import Embedder
    from retrieval.retriever import Retriever
    from retrieval.store import ShardCases, ShardRunner, StoreKey, StoreReport

BM25 = "bm25"
TOKEN = "RETRIEVAL_TOKEN"
"""Environment variable with the token of a retrieval server."""
INDEX_FOLDER = "index"
STORED_INDEXES, BUILT_INDEXES = 256, 4096
"""Indexes that a retriever caches. A stored one is mapped from disk again in milliseconds."""

_embedders: "WeakValueDictionary[tuple[str, str | None], Embedder]" = WeakValueDictionary()
_embedders_lock = threading.Lock()


def shared_embedder(name: str, device: str | None) -> "Embedder":
    """The embedder of a process, loaded once as long as a retriever uses it. `device` None or "auto" takes a GPU if
    there is one, except for `bundled:e5-small`, which OpenVINO runs on the processor."""
    from retrieval.embedders import load_embedder

    key = name, None if device == AUTO else device
    with _embedders_lock:
        if (embedder := _embedders.get(key)) is None:
            embedder = _embedders[key] = load_embedder(*key)
        return embedder


def _embeds_on_gpu(config: EpisodeConfig) -> bool:
    """Whether the embedder takes a GPU if there is one."""
    from retrieval.embedders import by_openvino

    device = None if config.retriever_device == AUTO else config.retriever_device
    return device != "cpu" and not by_openvino(config.retriever, device)


CaseRetriever: TypeAlias = "Retriever | RemoteRetriever"


def new_retriever(texts: Mapping[str, str], config: EpisodeConfig, *, device: str | None = None) -> CaseRetriever:
    """The retriever of a configuration: a client if it names a server (`http://…`), else one of this process. It reads
    vectors from the store of the texts' folder, if they have one. Without searches it is BM25, which needs no embedder.

    `device` is for the embedder where the configuration leaves it open.
    """
    from retrieval.retriever import Retriever
    from retrieval.store import StoreKey

    words = config.budget.passage_words
    if config.effective_budget.max_searches > 0 and is_server(config.retriever):
        try:
            from retrieval.client import RemoteRetriever
        except ImportError as error:
            raise JudgeError(f"a retrieval server needs httpx ({error}): pip install 'judge-r1[endpoints]'") from error
        return RemoteRetriever(config.retriever, token=os.environ.get(TOKEN) or None, passage_words=words)
    if not searches_vectors(config) or not texts:
        return Retriever(texts, method=BM25, passage_words=words, max_cases=BUILT_INDEXES)
    embedder = shared_embedder(config.retriever, config.retriever_device or device)
    key = StoreKey.of(embedder, words)
    store = index_folder(texts.folder, key) if isinstance(texts, CaseTexts) and texts.folder else None
    retriever = Retriever(texts, method=embedder, passage_words=words, max_cases=BUILT_INDEXES, store=store)
    if retriever.store:  # without stored vectors an evicted index would be embedded again
        retriever.max_cases = STORED_INDEXES
    return retriever


def searches_vectors(config: EpisodeConfig) -> bool:
    """Whether episodes search with an embedder of their own process."""
    return config.effective_budget.max_searches > 0 and config.retriever != BM25 and not is_server(config.retriever)


def index_folder(data: Path, key: "StoreKey | None" = None) -> Path:
    """Where the vector stores of a data folder are: in it, or in the cache if it cannot be written to. With `key`, a
    folder of stores that cannot be written to counts only if it holds the one of this key."""
    own = data / INDEX_FOLDER
    if os.access(own if own.exists() else data, os.W_OK):
        return own
    if own.exists() and (key is None or key.folder(own).exists()):
        return own
    return cache_dir() / INDEX_FOLDER / content_hash("index", str(data.resolve()))


def fill_index(
    retriever: CaseRetriever,
    texts: Mapping[str, str],
    case_ids: Sequence[str] | None = None,
    *,
    verify: bool = False,
    run: "ShardRunner | None" = None,
) -> "StoreReport | None":
    """Embeds the cases (by default all) that the retriever's store lacks, and shows the progress. Does nothing for a
    retriever without a store. One process builds, or `run` in several; others wait for it and then read.

    Raises:
        JudgeError: The store cannot be written to.
    """
    if (store := retriever.store) is None:
        return None
    from retrieval.store import StoreReport, fill_store, missing_cases

    ids = list(texts) if case_ids is None else list(dict.fromkeys(case_ids))
    # Without the lock, so that the many workers of a run do not queue for a store that is complete.
    if not verify and not store.damage and not missing_cases(store, texts, ids):
        return StoreReport(len(ids), 0)
    with lock_folder(store.folder, wait_s=float("inf")):
        store.refresh()  # another process may have built it meanwhile
        embedded = Done(0, 0)

        def note(count: int, total: int) -> None:
            nonlocal embedded
            embedded = Done(count, total)

        with watch_progress("embedding cases", lambda: embedded):
            try:
                report = fill_store(store, texts, ids, verify=verify, progress=note, run=run)
            except OSError as error:
                raise write_error(store.folder, error, "complete parts of the index are kept") from error
    for damage in report.repaired:
        Console(stderr=True).print(f"rebuilt a part of the index: {damage}", markup=False, highlight=False)
    return report


def build_index(
    data: Path, config: EpisodeConfig, *, gpus: bool = False, verify: bool = False, workers: RayWorkers | None = None
) -> "StoreReport | None":
    """Embeds all cases of a data folder before a run, on a Ray cluster if `workers` are given. Returns None if episodes
    need no vectors.

    Pass `gpus` on a machine with GPUs: another process then does it if the embedder takes one, because a process keeps
    a part of a GPU's memory until it ends.

    Raises:
        JudgeError: A case is not valid, or the store cannot be written to.
    """
    if not searches_vectors(config):
        return None
    if workers or not gpus or not _embeds_on_gpu(config):
        return _build(data, config, verify, workers)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Spawned, because CUDA does not work in a fork of a process that has used it.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_build, data, config, verify).result()


def checked_texts(data: Path) -> CaseTexts:
    """The texts of the cases in a data folder, which stay on disk. Raises JudgeError if one is not valid, or there are
    none."""
    texts = CaseTexts(open_cases(data))
    if not texts:
        raise JudgeError(f"{data / CASES_FILE} holds no cases")
    return texts


def _build(data: Path, config: EpisodeConfig, verify: bool, workers: RayWorkers | None = None) -> "StoreReport | None":
    texts = checked_texts(data)
    # with workers, the vectors that this process itself embeds are those of a probe
    retriever = new_retriever(texts, config, device="cpu" if workers else AUTO)
    return fill_index(retriever, texts, verify=verify, run=_on_ray(retriever, texts, config, workers))


def _on_ray(
    retriever: CaseRetriever, texts: CaseTexts, config: EpisodeConfig, workers: RayWorkers | None
) -> "ShardRunner | None":
    if workers is None or retriever.store is None or not isinstance(texts.cases, StoredCases):
        return None
    store, cases = retriever.store, texts.cases
    device = config.retriever_device or AUTO
    workers = replace(workers, gpus=_embeds_on_gpu(config))
    make = partial(_ShardWriter, config.retriever, device, store.folder.absolute(), store.key, cases.path.absolute())

    def run(shards: "Sequence[ShardCases]") -> Iterator[int]:
        blocks = [(shard, [(case_id, cases.offsets[case_id]) for _, case_id in shard]) for shard in shards]
        return run_blocks(blocks, make, workers)

    return run


class _ShardWriter:
    """Writes shards of a store in a worker. A block is the cases of a shard with the places of their lines."""

    def __init__(self, embedder: str, device: str, folder: Path, key: "StoreKey", cases: Path) -> None:
        self._embedder = shared_embedder(embedder, device)
        self._folder, self._key, self._cases = folder, key, cases

    def __call__(self, block: "tuple[ShardCases, Sequence[tuple[str, int]]]") -> int:
        from retrieval.store import write_shard

        shard, places = block
        texts = CaseTexts(StoredCases(self._cases, places))
        return sum(write_shard(self._folder, self._key, self._embedder, texts, shard))


class CaseSearcher:
    """Searches `texts` with the retriever of a configuration (see `new_retriever`). A subclass names in `settings` how
    it differs."""

    settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, texts: Mapping[str, str], config: EpisodeConfig, *, device: str | None = None) -> None:
        self.texts, self.top_k = texts, config.budget.top_k
        self.retriever = new_retriever(texts, config, device=device)
        self._on_server = is_server(config.retriever)

    def prepare(self, case_ids: Sequence[str]) -> None:
        """Embeds the cases that the store lacks."""
        fill_index(self.retriever, self.texts, case_ids)

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Evidence]]:
        """The best `k` passages for each (case id, query), in order."""
        found = self.retriever.search(requests, k)
        # Each passage gets the id that was asked for, not one from the retriever, so evidence shows what was searched.
        return [
            [
                Evidence(case_id=case_id, start=h.passage.start, end=h.passage.end, text=h.passage.text, score=h.score)
                for h in hits
            ]
            for (case_id, _), hits in zip(requests, found, strict=True)
        ]

    def of_case(self, case_id: str) -> CaseSearch:
        """The search function of one episode."""

        def search(query: str) -> list[Evidence]:
            return self.search([(case_id, query)], self.top_k)[0]

        return ServerSearch(search) if self._on_server else search

    def of_cases(self, case_ids: Sequence[str]) -> SearchFunction:
        """The search function of a batch of episodes: episode i searches the case `case_ids[i]` and no other."""
        return lambda queries: self.search([(case_ids[index], query) for index, query in queries], self.top_k)
