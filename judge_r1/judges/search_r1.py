"""A baseline in the manner of Search-R1 (paper, section 4.2): an agent whose searches run on one index over all cases.

Every other judge searches the case of its pair alone. This one can show passages of other cases, so it runs in
evaluations of a data folder only, its settings say `index: global`, and each passage names its case.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_retriever import BM25, CaseSearcher, fill_index, shared_embedder
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.prompts import SEARCH_R1
from judge_r1.files.pair_set import CaseTexts
from judge_r1.judges.agentic import AgenticJudge, episode_config
from judge_r1.judges.backend_spec import judge_of_backend, with_defaults
from judge_r1.judges.base import JUDGES, BadJudge, Judge, JudgeBuild, JudgeKind
from retrieval.case_index import CaseIndex
from retrieval.passages import split_passages

if TYPE_CHECKING:
    from retrieval.embedders import Embedder
    from retrieval.store import VectorStore


class Corpus:
    """The passages of cases and, for dense retrieval, their vectors, so that an index over some cases is built fast.
    `store` may hold the vectors already."""

    def __init__(
        self,
        texts: Mapping[str, str],
        method: "str | Embedder",
        passage_words: int,
        store: "VectorStore | None" = None,
    ) -> None:
        from retrieval.embedders import load_embedder

        self.embedder = None if method == BM25 else load_embedder(method) if isinstance(method, str) else method
        self.passages = {case_id: split_passages(text, passage_words) for case_id, text in texts.items()}
        if self.embedder is not None:
            self._vectors = {}
            for case_id, found in self.passages.items():
                if found:
                    stored = None if store is None else store.get(found)
                    self._vectors[case_id] = (
                        self.embedder.encode_passages([p.text for p in found]) if stored is None else stored
                    )

    def index(self, case_ids: Sequence[str]) -> "GlobalIndex":
        """One index over all passages of the given cases."""
        import numpy as np

        from retrieval.bm25 import BM25Index
        from retrieval.dense import DenseIndex

        owners = [case_id for case_id in case_ids for _ in self.passages[case_id]]
        pooled = [passage for case_id in case_ids for passage in self.passages[case_id]]
        numbered = [replace(passage, index=number) for number, passage in enumerate(pooled)]
        if self.embedder is None:
            return GlobalIndex(owners, BM25Index(numbered))
        vectors = np.concatenate([self._vectors[case_id] for case_id in case_ids if case_id in self._vectors])
        return GlobalIndex(owners, DenseIndex(numbered, vectors, self.embedder))


class GlobalIndex:
    """An index over the passages of several cases; `owners` holds the case of each passage."""

    def __init__(self, owners: Sequence[str], index: CaseIndex) -> None:
        self._owners, self._index = owners, index

    def search(self, queries: Sequence[str], k: int) -> list[list[Evidence]]:
        """The best `k` passages of each query, each with its own case."""
        return [
            [
                Evidence(
                    case_id=self._owners[hit.passage.index],
                    start=hit.passage.start,
                    end=hit.passage.end,
                    text=hit.passage.text,
                    score=hit.score,
                )
                for hit in hits
            ]
            for hits in self._index.search(queries, k)
        ]


class GlobalSearcher(CaseSearcher):
    """Searches all `texts` at once, whatever the case of a request."""

    settings: ClassVar[Mapping[str, Any]] = {"index": "global"}

    def __init__(self, texts: Mapping[str, str], config: EpisodeConfig) -> None:
        super().__init__(texts, config)
        self._config, self._lock = config, threading.Lock()
        self._index: GlobalIndex | None = None

    def prepare(self, case_ids: Sequence[str]) -> None:
        fill_index(self.retriever, self.texts)

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Evidence]]:
        with self._lock:
            if self._index is None:
                name, words = self._config.retriever, self._config.budget.passage_words
                method = BM25 if name == BM25 else shared_embedder(name, self._config.retriever_device)
                self._index = Corpus(self.texts, method, words, self.retriever.store).index(sorted(self.texts))
            return self._index.search([query for _, query in requests], k)


def search_r1_config(build: JudgeBuild) -> EpisodeConfig:
    """The agentic judge's configuration with `prompt=search-r1` and `search=true`, unless options set them. Raises:
    BadJudge without searches."""
    config = episode_config(with_defaults(build, f"prompt={SEARCH_R1}", "search=true"))
    if not config.effective_budget.max_searches:
        raise BadJudge("search-r1 searches: search is true, and budget.max_searches is at least 1")
    return config


def _make(build: JudgeBuild) -> Judge:
    if not isinstance(build.texts, CaseTexts):
        raise BadJudge(
            "search-r1 searches all cases of a data folder at once: it is a baseline for `judge-r1 eval` with the "
            "benchmark lrbench; use agentic, which searches the case of each pair alone"
        )
    global_build = replace(build, searcher=GlobalSearcher)
    return judge_of_backend(global_build, "search-r1", search_r1_config, AgenticJudge, prompted=False)


JUDGES.register("search-r1")(
    JudgeKind("a baseline: an agent that searches one index over all cases; a model as for agentic", _make)
)
